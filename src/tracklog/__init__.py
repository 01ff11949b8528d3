"""tracklog: a flight recorder for coding agents, as a library (docs/python.md).

`read(path)` is the session that a log belongs to, with its turns, requests, threads, and calls with their verdicts;
`sessions()` reads all of them, `calls()` lists their calls, `usage()` sums up tokens and money, `search()` and
`sql()` ask the index, `watch()` tells what happens now, and `tracklog.run` starts agents.
`read_records(path)` yields every piece of a log, `extra_of(piece)` what no record of ours names in it;
`transcript_path(session_id, cwd)` says where a session is written.
Importing this package loads nothing else: each name comes with its module when it is first used.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # checkers know better; to import `typing` would cost as much as all of `statusline`
if TYPE_CHECKING:
    from typing import Any

    from tracklog.agents.discovery import transcript_path
    from tracklog.agents.drift import extra_of
    from tracklog.agents.registry import read_records
    from tracklog.app.library.questions import search, sql, usage, watch
    from tracklog.app.library.sessions import calls, read, sessions
    from tracklog.app.search import SearchAnswer, SearchHit
    from tracklog.errors import NotThere, UserError
    from tracklog.live.journal import LiveEvent
    from tracklog.model.events import Place
    from tracklog.model.records import Broken, Piece, Record, Unknown
    from tracklog.model.session import (
        Branch,
        Call,
        CallResult,
        ClientCommand,
        Compaction,
        Failure,
        HookRun,
        Interruption,
        Note,
        Phase,
        Problem,
        Prompt,
        Question,
        Request,
        Session,
        Stated,
        Stray,
        Thread,
        TodoList,
        TouchedFile,
        Turn,
    )
    from tracklog.model.usage import Beside, Entry, Hidden, Terms, Tokens, UsageReport, UsageRow
    from tracklog.sources.files import NotReadable
    from tracklog.sql.ask import Answered
    from tracklog.version import __version__

__all__ = [
    "Answered",
    "Beside",
    "Branch",
    "Broken",
    "Call",
    "CallResult",
    "ClientCommand",
    "Compaction",
    "Entry",
    "Failure",
    "Hidden",
    "HookRun",
    "Interruption",
    "LiveEvent",
    "NotReadable",
    "NotThere",
    "Note",
    "Phase",
    "Piece",
    "Place",
    "Problem",
    "Prompt",
    "Question",
    "Record",
    "Request",
    "SearchAnswer",
    "SearchHit",
    "Session",
    "Stated",
    "Stray",
    "Terms",
    "Thread",
    "TodoList",
    "Tokens",
    "TouchedFile",
    "Turn",
    "Unknown",
    "UsageReport",
    "UsageRow",
    "UserError",
    "__version__",
    "calls",
    "extra_of",
    "read",
    "read_records",
    "search",
    "sessions",
    "sql",
    "transcript_path",
    "usage",
    "watch",
]

_HOME_OF = {
    "Answered": "tracklog.sql.ask",
    "Beside": "tracklog.model.usage",
    "Branch": "tracklog.model.session",
    "Broken": "tracklog.model.records",
    "Call": "tracklog.model.session",
    "CallResult": "tracklog.model.session",
    "ClientCommand": "tracklog.model.session",
    "Compaction": "tracklog.model.session",
    "Entry": "tracklog.model.usage",
    "Failure": "tracklog.model.session",
    "Hidden": "tracklog.model.usage",
    "HookRun": "tracklog.model.session",
    "Interruption": "tracklog.model.session",
    "LiveEvent": "tracklog.live.journal",
    "NotReadable": "tracklog.sources.files",
    "NotThere": "tracklog.errors",
    "Note": "tracklog.model.session",
    "Phase": "tracklog.model.session",
    "Piece": "tracklog.model.records",
    "Place": "tracklog.model.events",
    "Problem": "tracklog.model.session",
    "Prompt": "tracklog.model.session",
    "Question": "tracklog.model.session",
    "Record": "tracklog.model.records",
    "Request": "tracklog.model.session",
    "SearchAnswer": "tracklog.app.search",
    "SearchHit": "tracklog.app.search",
    "Session": "tracklog.model.session",
    "Stated": "tracklog.model.session",
    "Stray": "tracklog.model.session",
    "Terms": "tracklog.model.usage",
    "Thread": "tracklog.model.session",
    "TodoList": "tracklog.model.session",
    "Tokens": "tracklog.model.usage",
    "TouchedFile": "tracklog.model.session",
    "Turn": "tracklog.model.session",
    "Unknown": "tracklog.model.records",
    "UsageReport": "tracklog.model.usage",
    "UsageRow": "tracklog.model.usage",
    "UserError": "tracklog.errors",
    "__version__": "tracklog.version",
    "calls": "tracklog.app.library.sessions",
    "extra_of": "tracklog.agents.drift",
    "read": "tracklog.app.library.sessions",
    "read_records": "tracklog.agents.registry",
    "search": "tracklog.app.library.questions",
    "sessions": "tracklog.app.library.sessions",
    "sql": "tracklog.app.library.questions",
    "transcript_path": "tracklog.agents.discovery",
    "usage": "tracklog.app.library.questions",
    "watch": "tracklog.app.library.questions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # hooks import this package, and none of its functions

    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _function(name: str) -> property:
    """A function that has the name of a package: the import of that package must not hide it."""
    return property(lambda _: globals().get(name) or __getattr__(name), lambda *_: None)


class _Public(type(sys)):  # type: ignore[misc]
    """This module, with functions that have the names of packages."""

    search = _function("search")
    sessions = _function("sessions")
    sql = _function("sql")


sys.modules[__name__].__class__ = _Public
