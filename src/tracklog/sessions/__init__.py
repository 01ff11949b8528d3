"""Lists of sessions and calls in the index.

Public: `rows`, `tables_lists`, `tables_calls`, `tables_session`, `call_inputs`; `tables_write` is for `index`. The pages of the
browser ask `tables_choose` and `tables_choose_calls`, which filter, count and sort what `tables_listed` wrote (`listed`).
May import `archive`, `liveness`, `reading` and `ledger`.
"""
