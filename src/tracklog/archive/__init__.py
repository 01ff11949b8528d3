"""Keep the bytes of every indexed log, compressed: write, find, recompress and restore them.

`files` compresses what is new, fast; `recompress` does it again, strongly, once a log no longer grows.

Public: `files`, `locate`, `recompress`, `restore`. Imports no other feature.
"""
