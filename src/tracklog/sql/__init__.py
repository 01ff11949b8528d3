"""Run users' SQL queries with SQLite or DuckDB, and export the views as Parquet.

Public: `ask`, `duckdb_views`, `schema_doc`. Imports no other feature.
"""
