"""What the index costs: the first one beside agentsview's, in turn; then what is new, and what is not.

    python -m bench.index [--mb 200] [--rounds 3] [--logs DIR] [--large DIR] [--sizes DIR] [--peers .lab/peers] [--json]

    first    a first index with search and archive, beside `agentsview sync`, on the same logs: at most 0.25 of its wall
    large    the memory that it takes on --large (2 GB or more): at most 350 MB
    quiet    `tracklog index` over 5,000 logs of which none changed: at most 90 ms, the start of Python included
    append   one line more in a log of 100 MB, beside one in a log of 1 MB: at most 1.5 times as long
    sizes    index and archive in parts of the logs in --sizes: at most 25 % each

Rules of this room
  1. Every run is a process of its own with a temporary HOME; a first index always begins with no home at all.
  2. Ours takes several processes: their CPU is added up, and so is the memory that they hold at one moment; a page that
     they share counts once (PSS).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from bench.make_logs import make_logs
from bench.usage import ROOT, Run, run

GOALS = {"first": 0.25, "large_mb": 350, "quiet_ms": 90, "append": 1.5, "index": 0.25, "archive": 0.25}
_QUIET_FILES = 5_000
_LARGE_LOG, _SMALL_LOG = 100_000_000, 1_000_000
Json = dict[str, Any]


def environment(logs: Path, home: Path) -> dict[str, str]:
    """For a process that knows of these logs alone."""
    homes = {"CLAUDE_CONFIG_DIR": str(logs / "claude"), "CODEX_HOME": str(logs / "codex")}
    own = {"TRACKLOG_HOME": str(home / "tracklog"), "PYTHONPATH": str(ROOT / "src")}
    return {"PATH": os.environ["PATH"], "HOME": str(home), **homes, **own}


def index(logs: Path, home: Path, *more: str) -> Run:
    """One `tracklog index`."""
    return run([sys.executable, "-m", "tracklog", "index", "--json", *more], environment(logs, home))


def agentsview(program: Path, logs: Path, home: Path) -> Run:
    """One `agentsview sync`, which looks for the homes in HOME."""
    for agent in ("claude", "codex"):
        if (logs / agent).exists() and not (home / f".{agent}").exists():
            (home / f".{agent}").symlink_to(logs / agent)
    own = {"AGENTSVIEW_NO_DAEMON": "1", "AGENTSVIEW_DATA_DIR": str(home / "agentsview")}
    (home / "agentsview").mkdir()
    homes = {"CLAUDE_PROJECTS_DIR": str(logs / "claude/projects")}
    homes |= {"CODEX_SESSIONS_DIR": str(logs / "codex/sessions")}
    return run([str(program), "sync"], {"PATH": os.environ["PATH"], "HOME": str(home), **homes, **own})


def first(logs: Path, program: Path | None, rounds: int, scratch: Path) -> Json:
    """A first index, ours and theirs, in turn."""
    runs: dict[str, list[Run]] = {"tracklog": [], "agentsview": []}
    for n in range(rounds + 1):  # the first round fills the page cache
        for name in ("tracklog", "agentsview") if n % 2 else ("agentsview", "tracklog"):
            with tempfile.TemporaryDirectory(dir=scratch) as home:
                if name == "tracklog":
                    done = index(logs, Path(home))
                elif program is not None:
                    done = agentsview(program, logs, Path(home))
                else:
                    continue
            if n:
                runs[name].append(done)
    found: Json = {name: _summary(each) for name, each in runs.items() if each}
    if program is not None:
        pairs = zip(runs["tracklog"], runs["agentsview"], strict=True)
        found["ratio"] = round(median(ours.wall_s / theirs.wall_s for ours, theirs in pairs), 3)
    found["mb_per_s"] = round(_n_bytes(logs) / 1e6 / found["tracklog"]["wall_s"], 1)
    return found


def large(logs: Path, scratch: Path) -> Json:
    """Time and memory of a first index of many logs."""
    with tempfile.TemporaryDirectory(dir=scratch) as home:
        done = index(logs, Path(home))
    return _summary([done]) | {"mb_per_s": round(_n_bytes(logs) / 1e6 / done.wall_s, 1)}


def quiet(scratch: Path, rounds: int) -> Json:
    """Nothing changed in many small logs."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        logs, home = Path(folder) / "logs", Path(folder) / "home"
        home.mkdir()
        for n in range(_QUIET_FILES):
            session = f"{n:08x}-0000-4000-8000-{n:012x}"
            path = logs / "claude/projects" / f"-home-dev-project-{n % 50}" / f"{session}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_line(session, "hello"), "utf-8")
        for _ in range(2):
            index(logs, home)
        runs = [index(logs, home) for _ in range(rounds * 3)]
    return {"ms": round(min(one.wall_s for one in runs) * 1000, 1), **_summary(runs)}


def append(agent: str, scratch: Path, rounds: int) -> Json:
    """One line more, in a long log and in a short one."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        runs: dict[int, list[Run]] = {}
        places = {size: _one_log(agent, Path(folder) / str(size), size) for size in (_SMALL_LOG, _LARGE_LOG)}
        for logs, home, _ in places.values():
            home.mkdir()
            index(logs, home)
            index(logs, home)
        for n in range(rounds * 3):
            for size, (logs, home, path) in places.items():
                with open(path, "ab") as stream:
                    stream.write(_more(agent, path, n))
                runs.setdefault(size, []).append(index(logs, home))
    short, long = (min(one.wall_s for one in runs[size]) for size in (_SMALL_LOG, _LARGE_LOG))
    return {
        "short_ms": round(short * 1000, 1),
        "long_ms": round(long * 1000, 1),
        "ratio": round(long / short, 2),
    }


def sizes(logs: Path, scratch: Path) -> Json:
    """How much index and archive take."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        home = Path(folder)
        env = environment(logs, home)
        run([sys.executable, "-m", "tracklog", "index", "--json", "--root", str(logs)], env)
        known = json.loads(
            run([sys.executable, "-m", "tracklog", "index", "--json", "--root", str(logs)], env).said
        )["bytes"]
        ours = home / "tracklog"
        index_bytes = sum(path.stat().st_size for path in ours.glob("index.db*"))
        archive_bytes = sum(path.stat().st_size for path in (ours / "archive").rglob("*") if path.is_file())
    return {
        "bytes": known,
        "index": round(index_bytes / known, 3),
        "archive": round(archive_bytes / known, 3),
    }


def _one_log(agent: str, top: Path, size: int) -> tuple[Path, Path, Path]:
    """A home with one long log: the same session, said again and again."""
    make_logs(top / "made", n_bytes=1_200_000, seed=3, agent=agent)
    source = max((top / "made").rglob("*.jsonl"), key=lambda path: path.stat().st_size)
    path = top / "logs" / source.relative_to(top / "made")
    path.parent.mkdir(parents=True)
    data = source.read_bytes()
    with open(path, "wb") as stream:
        while stream.tell() < size:
            stream.write(data)
    shutil.rmtree(top / "made")
    return top / "logs", top / "home", path


def _more(agent: str, path: Path, n: int) -> bytes:
    if agent == "claude":
        return _line(path.stem, f"one more, {n}").encode()
    said = {"type": "user_message", "message": f"one more, {n}"}
    record = {"timestamp": "2026-03-01T17:24:43.000Z", "type": "event_msg", "payload": said}
    return json.dumps(record).encode() + b"\n"


def _line(session: str, words: str) -> str:
    known = {"parentUuid": None, "isSidechain": False, "userType": "external", "cwd": "/home/dev/project"}
    said = {"type": "user", "message": {"role": "user", "content": words}, "sessionId": session}
    more = {"version": "2.1.100", "uuid": session, "timestamp": "2026-03-01T17:24:42.000Z"}
    return json.dumps(known | said | more) + "\n"


def _n_bytes(logs: Path) -> int:
    return sum(path.stat().st_size for path in logs.rglob("*.json*"))


def _summary(runs: Sequence[Run]) -> Json:
    return {
        "wall_s": round(median(one.wall_s for one in runs), 3),
        "cpu_s": round(median(one.cpu_s for one in runs), 3),
        "peak_mb": round(max(one.peak_bytes for one in runs) / 1e6, 1),
    }


def measure(asked: argparse.Namespace, scratch: Path) -> Json:
    """All that was asked for."""
    found: Json = {"goals": GOALS}
    programs = sorted(asked.peers.glob("agentsview/agentsview/bin/agentsview"))
    logs = asked.logs
    if logs is None and "first" in asked.only:
        logs = scratch / "logs"
        logs.mkdir()
        print(f"making {asked.mb} MB of logs …", file=sys.stderr)
        make_logs(logs, n_bytes=asked.mb * 1_000_000, seed=1, agent="both")
    if "first" in asked.only:
        found["first"] = first(logs, programs[0] if programs else None, asked.rounds, scratch)
    if "quiet" in asked.only:
        found["quiet"] = quiet(scratch, asked.rounds)
    if "append" in asked.only:
        found["append"] = {agent: append(agent, scratch, asked.rounds) for agent in ("claude", "codex")}
    if asked.large is not None:
        found["large"] = large(asked.large, scratch)
    if asked.sizes is not None:
        found["sizes"] = sizes(asked.sizes, scratch)
    return found


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--logs", type=Path)
    parser.add_argument("--large", type=Path)
    parser.add_argument("--sizes", type=Path)
    parser.add_argument("--peers", type=Path, default=ROOT / ".lab" / "peers")
    parser.add_argument("--only", nargs="*", default=["first", "quiet", "append"])
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        found = measure(asked, Path(scratch))
    if asked.json:
        print(json.dumps(found, indent=2))
    else:
        for name, figures in found.items():
            print(f"{name}: {json.dumps(figures)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
