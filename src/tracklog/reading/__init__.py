"""From files to sessions: which files form a session, reading one, proving and surveying the reading.

Public: `session_files`, `session_reader`, `family`, `neighbours`, `verify`, `survey`, `tool_outputs`.
May import `archive` and `liveness`.
"""
