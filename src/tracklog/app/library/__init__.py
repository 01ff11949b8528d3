"""The public Python functions: the use cases of `app` with parameters that are easy to write (docs/python.md).

`sessions` has `read`, `sessions` and `calls`, which read logs; `questions` has `usage`, `search`, `sql` and `watch`.
"""
