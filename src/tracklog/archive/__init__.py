"""The bytes of every log that was indexed, compressed: written, found, made smaller and put back.

Public: `files`, `locate`, `recompress`, `restore`. Imports no other feature.
"""
