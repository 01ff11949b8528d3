"""Bring the index up to date with the logs: what changed, ingest, sync, refresh, rebuild, prune.

Public: `freshness`, `changes`, `ingest`, `session_rows`, `refresh`, `rebuild`, `prune`, `orphaned_archives`.
May import `archive`, `liveness`, `reading`, `ledger`, `search` and `sessions`.
"""
