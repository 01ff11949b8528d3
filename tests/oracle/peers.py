"""Other tools, and ourselves as they are run: a home of logs in, four numbers out.

Rules of this room
  1. A tool sees a home of its own and nothing else of the machine, and has no way to the network.
  2. A tool is asked in the way its own help recommends; it is judged by what it says of tokens, never of money.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import tracklog as package
from tests.oracle.install import AGENTSVIEW_PROGRAM, CCUSAGE_PROGRAM

Four = tuple[int, int, int, int]  # input, output, cache write, cache read
_TIME_LIMIT_S = 120
_NOWHERE = "http://127.0.0.1:9"  # a proxy that refuses: offline is meant
_NAMES = ("inputTokens", "outputTokens", "cacheCreationTokens", "cacheReadTokens")


class Answer(NamedTuple):
    """What a tool says: in all, and the output of each day."""

    four: Four
    days: dict[str, int]


class Tool(Protocol):
    """Something that counts tokens."""

    name: str

    def ask(self, home: Path, agent: str, *, zone: str = "UTC") -> Answer:
        """What all logs of an agent in this home come to."""
        ...


class Tracklog:
    """Ourselves, as a process of our own."""

    name = "tracklog"

    def ask(self, home: Path, agent: str, *, zone: str = "UTC") -> Answer:
        """By day."""
        command = [sys.executable, "-m", "tracklog", "usage", "daily", "--json", "--zone", zone]
        source = Path(package.__file__).parents[1]
        said = _run([*command, "--agent", agent], home, PYTHONPATH=str(source))
        total = said["total"]
        names = ("input_tokens", "output_tokens", "cache_write_tokens", "cache_read_tokens")
        days = {row["key"]: row["output_tokens"] for row in said["rows"]}
        return Answer(_four(total, names), days)


class Ccusage:
    """ccusage, whose reports by day and by session count by different rules."""

    def __init__(self, program: Path, report: str) -> None:
        self.name = f"ccusage {report}"
        self._program = program
        self._report = report

    def ask(self, home: Path, agent: str, *, zone: str = "UTC") -> Answer:
        """By day or by session; a session's output has no day."""
        command = [str(self._program), agent, self._report, "--json", "--offline", "--timezone", zone]
        said = _run(command, home, CLAUDE_CONFIG_DIR=str(home / ".claude"), CODEX_HOME=str(home / ".codex"))
        rows = said.get("daily", [])
        totals = said.get("totals") or {}
        return Answer(_four(totals, _NAMES), {row["date"]: row["outputTokens"] for row in rows})


class Agentsview:
    """agentsview, which reads everything into a database first."""

    name = "agentsview"

    def __init__(self, program: Path) -> None:
        self._program = program

    def ask(self, home: Path, agent: str, *, zone: str = "UTC") -> Answer:
        """By day, over all history."""
        own = {"AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_DATA_DIR": str(home / "agentsview")}
        (home / "agentsview").mkdir(exist_ok=True)
        _done([str(self._program), "sync"], home, own)
        command = [str(self._program), "usage", "daily", "--json", "--all", "--offline", "--no-sync"]
        said = _run([*command, "--timezone", zone, "--agent", agent], home, **own)
        days = {row["date"]: row["outputTokens"] for row in said.get("daily") or []}
        return Answer(_four(said.get("totals") or {}, _NAMES), days)


def tools_in(folder: Path | None) -> Iterator[Tool]:
    """tracklog, and the peers that are installed in a folder (`make oracle` puts them there)."""
    yield Tracklog()
    if folder is None:
        return
    for program in sorted(folder.glob(CCUSAGE_PROGRAM))[:1]:
        yield Ccusage(program, "daily")
        yield Ccusage(program, "session")
    for program in sorted(folder.glob(AGENTSVIEW_PROGRAM))[:1]:
        yield Agentsview(program)


def _four(said: dict[str, Any], names: tuple[str, ...]) -> Four:
    one, two, three, four = (int(said.get(name) or 0) for name in names)
    return one, two, three, four


def _run(command: list[str], home: Path, **env: str) -> dict[str, Any]:
    said = _done(command, home, env).strip()
    found = (
        json.loads(said) if said.startswith("{") else {}
    )  # ccusage says nothing, or [], when it finds nothing
    return found if isinstance(found, dict) else {}


def _done(command: list[str], home: Path, env: dict[str, str]) -> str:
    known = {
        "PATH": os.defpath,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "HTTPS_PROXY": _NOWHERE,
        "HTTP_PROXY": _NOWHERE,
    }
    done = subprocess.run(
        command,
        env=known | env,
        cwd=home,
        capture_output=True,
        timeout=_TIME_LIMIT_S,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    return done.stdout.decode()
