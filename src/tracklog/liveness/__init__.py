"""Whether a session still runs: signs from processes, hooks, logs and permission requests.

Public: `sessions`, `hook_signs`, `log_signs`, `permission_requests`. Imports no other feature.
"""
