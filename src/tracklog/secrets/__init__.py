"""Find and remove secrets and private data.

Public: `scan` (logs and files), `redact` (streams), `find` (one text), `rules`, `allowlist`, `identity`.
May import `archive`.
"""
