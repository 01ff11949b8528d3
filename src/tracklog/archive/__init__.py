"""Keep the bytes of every indexed log, compressed: write, find, recompress and restore them.

Public: `files`, `locate`, `recompress`, `restore`. Imports no other feature.
"""
