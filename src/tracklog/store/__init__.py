"""The index as a database: open, migrate, check; its known logs and public SQL views.

Holds no feature's own queries.

Public: `database`, `catalogue`, `scope`, `text`, `values`, `file_stamps`, `integrity`, `public_views`.
Imports `agents`, `model` and `sources`.
"""
