"""tracklog: a flight recorder for coding agents, as a library.

`read(path)` is the session that a log belongs to, with its turns, requests, threads, and calls with their verdicts.
`read_records(path)` yields every piece of a log, `extra_of(piece)` what no record of ours names in it;
`transcript_path(session_id, cwd)` says where a session is written.
Importing this package loads nothing else: each name comes with its module when it is first used.
"""

from __future__ import annotations

TYPE_CHECKING = False  # checkers know better; to import `typing` would cost as much as all of `statusline`
if TYPE_CHECKING:
    from typing import Any

    from tracklog.agents.discovery import transcript_path
    from tracklog.agents.drift import extra_of
    from tracklog.agents.registry import read_records
    from tracklog.errors import UserError
    from tracklog.model.records import Broken, Piece, Record, Unknown
    from tracklog.model.session import Session
    from tracklog.reading.session_reader import read
    from tracklog.sources.files import NotReadable

__version__ = "0.1.0"

__all__ = [
    "Broken",
    "NotReadable",
    "Piece",
    "Record",
    "Session",
    "Unknown",
    "UserError",
    "__version__",
    "extra_of",
    "read",
    "read_records",
    "transcript_path",
]

_HOME_OF = {
    "Broken": "tracklog.model.records",
    "NotReadable": "tracklog.sources.files",
    "Piece": "tracklog.model.records",
    "Record": "tracklog.model.records",
    "Session": "tracklog.model.session",
    "Unknown": "tracklog.model.records",
    "UserError": "tracklog.errors",
    "extra_of": "tracklog.agents.drift",
    "read": "tracklog.reading.session_reader",
    "read_records": "tracklog.agents.registry",
    "transcript_path": "tracklog.agents.discovery",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # hooks import this package, and none of its functions

    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
