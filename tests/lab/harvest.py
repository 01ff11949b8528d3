"""Plays every scenario and keeps the logs, with the places of this machine taken out.

    python -m tests.lab.harvest DIRECTORY [--agent claude|codex] [--version V] [--only SCENARIO]

Rules of this room
  1. A run's home is nine characters long, like `/home/dev` which takes its place: offsets in the logs stay true.
  2. Only what tracklog reads is kept: logs, meta files, histories, side files, registry files seen alive.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import socket
import string
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from tests.lab.clients import CURRENT, OLDER, PROJECT, install
from tests.lab.run import LabRun, play
from tests.lab.scenarios import scenarios_for
from tests.lab.words import Scenario

NEUTRAL_HOME = "/home/dev"
KEPT = (
    "projects/**/*",
    "sessions/**/*",
    "archived_sessions/**/*",
    "history.jsonl",
    "session_index.jsonl",
    "todos/*",
    "tasks/**/*",
    "file-history/**/*",
    "plans/*",
)


def harvest(agent: str, version: str, scenario: Scenario, *, into: Path) -> bool:
    """Plays one scenario, copies what it left to `into/<scenario>`, says how it went; true if as told."""
    root = _short_home()
    try:
        run = play(agent, install(agent, version), version, scenario, root=root)
        target = into / scenario.name
        shutil.rmtree(target, ignore_errors=True)
        for path, content in kept(run):
            place = target / neutral_text(str(path), run)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(neutral(content, run))
        print(run.summary(), flush=True)
        return run.as_told
    finally:
        shutil.rmtree(root, ignore_errors=True)


def kept(run: LabRun) -> Iterator[tuple[Path, bytes]]:
    """What is worth keeping of a run: relative places and contents."""
    for pattern in KEPT:
        for path in sorted(run.config_dir.glob(pattern)):
            if path.is_file() and path.suffix not in (".key", ".lock"):
                yield path.relative_to(run.home.root), path.read_bytes()
    for n, glimpse in enumerate(run.glimpses):
        yield Path("lab/registry") / f"{n:02d}-{glimpse.name}", glimpse.content
    for n, left in enumerate(run.exits):
        yield Path(f"lab/stdout-{n}.jsonl"), left.stdout.encode()
    events = run.home.root / "hook-events.jsonl"
    if events.exists():
        yield Path("lab/hook-events.jsonl"), events.read_bytes()
    spoken = "".join(json.dumps(asdict(e)) + "\n" for e in run.exchanges)
    yield Path("lab/api.jsonl"), spoken.encode()


def neutral(content: bytes, run: LabRun) -> bytes:
    """The content without a trace of this machine: homes, slugs, install places, ports, names."""
    for pattern, neutral_bytes in _replacements(run):
        content = pattern.sub(neutral_bytes, content)
    return content


def neutral_text(text: str, run: LabRun) -> str:
    """The same for a path."""
    return neutral(text.encode(), run).decode()


def _replacements(run: LabRun) -> list[tuple[re.Pattern[bytes], bytes]]:
    root = str(run.home.root)
    program = str(Path(run.exits[0].argv[0]).resolve().parents[3])
    plain = [
        (root, NEUTRAL_HOME),
        (re.sub(r"[^A-Za-z0-9]", "-", root), NEUTRAL_HOME.replace("/", "-")),
        (program, "/opt/agents"),
        (str(PROJECT), "/opt/lab"),
        (sys.prefix, "/usr"),
        (sys.base_prefix, "/usr"),
    ]
    uid = os.getuid()
    rules = [(re.compile(re.escape(old).encode()), new.encode()) for old, new in plain]
    if len(socket.gethostname()) > 5:  # a shorter one would be found in words that mean something else
        rules.append((re.compile(rb"\b%b\b" % re.escape(socket.gethostname().encode())), b"devbox"))
    rules.append((re.compile(rb"claude-%d\b" % uid), b"claude-1000"))
    rules.append((re.compile(rb"127\.0\.0\.1:\d{4,5}"), b"127.0.0.1:18080"))
    return rules


def _short_home() -> Path:
    while True:
        name = random.choice(string.ascii_lowercase) + "".join(
            random.choices(string.ascii_lowercase + string.digits, k=3)
        )
        root = Path("/tmp") / name
        try:
            root.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return root


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line: one line per run, exit 1 if a run ended otherwise than its scenario says."""
    parser = argparse.ArgumentParser(prog="python -m tests.lab.harvest")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--agent", choices=["claude", "codex"])
    parser.add_argument("--version")
    parser.add_argument("--only")
    asked = parser.parse_args(arguments)
    odd = 0
    for agent in [asked.agent] if asked.agent else ["claude", "codex"]:
        for version in [asked.version] if asked.version else [*OLDER[agent], CURRENT[agent]]:
            odd += _harvest_version(agent, version, asked.directory / f"{agent}-{version}", only=asked.only)
    return 1 if odd else 0


def _harvest_version(agent: str, version: str, into: Path, *, only: str | None) -> int:
    stories = [s for s in scenarios_for(agent, version) if only in (None, s.name)]
    with ThreadPoolExecutor(2) as pool:
        told = list(pool.map(lambda s: harvest(agent, version, s, into=into), stories))
    return told.count(False)


if __name__ == "__main__":
    sys.exit(main())
