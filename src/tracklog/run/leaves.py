"""Programs of ours that are started as files, not as modules: compiled, where that was kept."""

from __future__ import annotations

import os
from types import ModuleType

_HEAD = 16  # of a compiled module: a magic, flags, and the time and size of its source (PEP 552)


def leaf(module: ModuleType) -> str:
    """What Python is to be started with: what was compiled when we imported it, as a source is compiled each time anew."""
    source = os.path.abspath(str(module.__file__))
    compiled = module.__spec__.cached if module.__spec__ is not None else None
    return compiled if compiled is not None and _is_made_of(compiled, source) else source


def _is_made_of(compiled: str, source: str) -> bool:
    """By Python's own rule; where the compiled one is told apart by a hash, the source will do."""
    try:
        with open(compiled, "rb") as stream:
            head = stream.read(_HEAD)
        facts = os.stat(source)
    except OSError:
        return False
    made_of = b"".join(
        (int(n) & 0xFFFFFFFF).to_bytes(4, "little") for n in (0, facts.st_mtime, facts.st_size)
    )
    return head[4:] == made_of
