"""The JSON documents that `--json` and the HTTP API share (docs/cli.md).

A row of `sessions` has all fields of `SessionSummary` (`app.sessions`); other documents choose theirs here.
"""
