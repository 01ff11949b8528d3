"""The index as a database: open, migrate, check; which logs it knows; the public SQL views. No feature's own queries.

Public: `database`, `catalogue`, `scope`, `text`, `values`, `file_stamps`, `integrity`, `public_views`.
Imports `agents`, `model` and `sources`.
"""
