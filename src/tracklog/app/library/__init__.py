"""The public Python functions: the use cases of `app` with parameters that are easy to write (docs/python.md)."""
