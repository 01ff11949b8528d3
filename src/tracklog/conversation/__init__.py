"""The rows of a session, made once, for `show`, the page and exports.

Public: `session`, `rows`, `window`, `branches`, `navigate`, `moments`.
May import `archive`, `liveness`, `reading`, `ledger`, `search` and `sessions`.
"""
