"""What people and programs see: `text/` words and numbers, `documents/` JSON, `cli/`, `html/`, `web/`.

Views ask `app` and may import values of `model`.
"""
