"""Save and restore the state of a translator as bytes, so that lines appended later are read as if all came at once.

Rules
  1. Only plain data and the few classes of our own that a state consists of are ever restored: the index is a file
     like any other, and must not be able to run anything.
  2. A state that does not fit this program is ignored: the log is read from its beginning.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from tracklog.agents.base import Translator
from tracklog.agents.codex.translate import state
from tracklog.agents.codex.translate import translator as codex_translator
from tracklog.model.events import LogEvent

_OURS = (state.__name__, LogEvent.__module__)
_PLAIN = {
    ("builtins", "set"),
    ("builtins", "frozenset"),
    ("msgspec._core", "Raw"),
    ("copyreg", "_reconstructor"),
}


def packed(translator: Translator) -> bytes | None:
    """The state of a translator; None for one that needs none."""
    return (
        pickle.dumps(vars(translator)) if isinstance(translator, codex_translator.CodexTranslator) else None
    )


def unpack(memory: bytes | None, into: Translator) -> bool:
    """Restore the state of a translator; return whether it can go on from there."""
    if not isinstance(into, codex_translator.CodexTranslator):
        return True
    if memory is None:
        return False
    try:
        vars(into).update(_Careful(io.BytesIO(memory)).load())
    except (
        Exception
    ):  # a door: damaged bytes fail in any way, and all that follows is that the log is read again
        return False
    return True


class _Careful(pickle.Unpickler):
    """Knows our own values, and nothing that does anything."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _PLAIN:
            return super().find_class(module, name)
        found = super().find_class(module, name) if module in _OURS else None
        if isinstance(found, type) and found.__module__ == module:  # not what that module imports
            return found
        raise pickle.UnpicklingError(f"{module}.{name} has no place in a memory")
