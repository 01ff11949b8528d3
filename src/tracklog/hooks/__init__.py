"""Install, remove and check tracklog's hooks.

Public: `install`, `status`. Imports no other feature.
"""
