"""What `bench.scaling` asks: every reading command, and every Python function as a program of its own.

python -m bench.scaling_questions NAME LOG_HOME…
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

_SQL = "SELECT name, count(*), sum(took_ms) FROM calls GROUP BY name"
_WORDS = "the OR done"


class Question(NamedTuple):
    """A program, and what it finds: an index, none, or an index and a log that grew."""

    name: str
    argv: Sequence[str]
    has_index: bool = True
    grows: bool = False


def questions(top: Path) -> list[Question]:
    """All questions about the homes in a folder."""
    log = str(newest_log(top))
    with_index = {
        "welcome": [],
        "places": ["places"],
        "path": ["path", "@last"],
        "index": ["index"],
        "sessions": ["sessions", "--json"],
        "sessions, the newest": ["sessions"],
        "calls": ["calls", "--json"],
        "calls of a session": ["calls", "@last", "--json"],
        "show": ["show", "@last"],
        "show, JSON": ["show", "@last", "--json"],
        "final": ["final", "@last", "--last-text"],
        "agents": ["agents", "@last"],
        "graph": ["graph", "@last"],
        "top": ["top", "--once"],
        "top, all": ["top", "--once", "--all", "--json"],
        **{f"usage {group}": ["usage", group, "--json"] for group in _GROUPS},
        "usage, uncertain": ["usage", "--uncertain", "--json"],
        "carried": ["carried", "@last", "--json"],
        "search": ["search", _WORDS, "--limit", "1000", "--json"],
        "search, relevance": ["search", _WORDS, "--by", "relevance"],
        "search, pattern": ["search", "--regex", "d[a-z]ne", "--limit", "1000"],
        "sql": ["sql", _SQL],
        "archive": ["archive", "--json"],
        "scan": ["scan", "--json"],
        "doctor": ["doctor", "--json"],
        "records": ["records", log],
        "verify": ["verify", str(top / "claude"), str(top / "codex")],
        "redact": ["redact", log],
    }
    cold = ("sessions", "calls", "usage daily", "usage session", "usage tool", "carried")
    return [
        Question("first index", ["index"], has_index=False),
        *(Question(name, words) for name, words in with_index.items()),
        Question("index, a log grew", ["index"], grows=True),
        Question("sessions, a log grew", ["sessions"], grows=True),
        Question("usage, a log grew", ["usage"], grows=True),
        *(Question(f"{name}, no index", with_index[name], has_index=False) for name in cold),
        Question("rebuild", ["rebuild"]),
    ]


_GROUPS = ("daily", "session", "thread", "project", "model", "tool", "blocks")


def newest_log(top: Path) -> Path:
    """The log that was written last, that of a main thread."""
    logs = (log for log in top.rglob("*.jsonl") if not log.name.startswith("agent-"))
    return max(logs, key=lambda log: (log.stat().st_mtime_ns, log.name))


def functions() -> dict[str, Callable[[Path], object]]:
    """Every public Python function that reads, to its end."""
    import tracklog

    def roots(top: Path) -> list[Path]:
        return [top / "claude", top / "codex"]

    return {
        "read": lambda top: tracklog.read(newest_log(top)),
        "read_records": lambda top: deque(tracklog.read_records(newest_log(top)), maxlen=0),
        "read, by id": lambda top: tracklog.read("@last", roots=roots(top)),
        "sessions": lambda top: deque(tracklog.sessions(roots=roots(top)), maxlen=0),
        "calls": lambda top: deque(tracklog.calls(roots=roots(top)), maxlen=0),
        "usage": lambda _: tracklog.usage("session"),
        "search": lambda _: tracklog.search(_WORDS, limit=1000),
        "sql": lambda _: tracklog.sql(_SQL),
    }


def main(argv: Sequence[str]) -> int:
    functions()[argv[0]](Path(argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
