"""What is running now: the journal of live events, notifications, the register of runs.

`watch/` follows sessions, `board/` makes the rows of the board. Public: `journal`, `notify`, `run_register`, `turn_end`,
`watch/watcher`, `board/board`. May import `liveness`, `reading`, `ledger` and `index`.
"""
