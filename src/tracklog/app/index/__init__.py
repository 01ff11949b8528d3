"""The index for a question: open it, bring it up to date, in the background if that takes long.

All of these do so by `tracklog.index.refresh`: `open` for sessions, `open_ledger` for money, `update` for the command, `background`
with its child `refresh_process` for the server.
"""
