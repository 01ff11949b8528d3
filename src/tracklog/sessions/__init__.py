"""Lists of sessions and calls in the index.

Public: `rows`, `tables_lists`, `tables_calls`, `tables_session`, `call_inputs`; `tables_write` is for `index`.
May import `archive`, `liveness`, `reading` and `ledger`.
"""
