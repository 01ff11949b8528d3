"""Tokens and money: one entry per request, whatever the number of copies.

`scan` reads usage from logs, `ledger` merges it, `owners` decides whose a request is, `pricing` prices it, `report` sums it
up. `prices/` is the price list, `stored/` the same in the index. Public: `scan`, `ledger`, `report`, `pricing`,
`context_cost`, `context_window`, `prices/`, `stored/`. May import `reading`.
"""
