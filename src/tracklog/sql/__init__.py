"""Questions of users in SQL, with SQLite or DuckDB, and the views of the index as Parquet.

Public: `ask`, `duckdb_views`, `schema_doc`. Imports no other feature.
"""
