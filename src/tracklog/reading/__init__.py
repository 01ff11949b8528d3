"""Read files into sessions: which files form a session, reading one, verifying and surveying.

Public: `session_files`, `session_reader`, `family`, `neighbours`, `verify`, `survey`, `tool_outputs`.
May import `archive` and `liveness`.
"""
