"""The homes that the browser is shown: replayed lab sessions with made ones, and one in which everything attacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tracklog as package
from bench.made.long_session import Made, write_claude, write_codex
from bench.made.words import Words
from tests.browser.hostile import WAYS, Hostile, arm_log, picture_lines
from tests.browser.serving import Homes
from tests.live.live_home import LiveHome

DEMO = Path(package.__file__).parent / "demo"
DATA = Path(__file__).parents[1] / "data"
N_LONG = 50_000 if os.environ.get("TRACKLOG_TEST_SOAK") == "1" else 12_000
N_SHORT = 600


# One whose project, branch, model, tool and title are longer than any screen of a telephone is wide.
LONG_NAMED = "aaaaaaaa-0000-4000-8000-000000000009"
_LONG = "ent-109-text-output-checkpoint-flag-of-a-very-long-name-" * 3

# Sessions that run, each with what its client says it does.
LIVING = {
    "waiting": "aaaaaaaa-0000-4000-8000-000000000001",
    "asking": "aaaaaaaa-0000-4000-8000-000000000002",
    "working": "aaaaaaaa-0000-4000-8000-000000000003",
    "idle": "aaaaaaaa-0000-4000-8000-000000000004",
    "growing": "aaaaaaaa-0000-4000-8000-000000000005",
}
_SAID = {
    "waiting": {"status": "waiting", "waitingFor": "permission prompt"},
    "asking": {"status": "waiting", "waitingFor": "input needed"},
    "working": {"status": "busy"},
    "idle": {"status": "idle"},
    "growing": {"status": "busy"},
}


@contextmanager
def living(homes: Homes) -> Iterator[LiveHome]:
    """Sessions that run, in the empty home of Claude Code; their processes are ours, and end with this."""
    live = LiveHome(homes.claude)
    processes = {name: lasting_process() for name in LIVING}
    try:
        _long_named(live)
        for name, session in LIVING.items():
            live.prompt(f"Please do the {name} thing", session=session)
            live.reply("I look at it.", session=session, stop=None)
            if name in ("waiting", "working"):
                live.call(f"toolu_{name}", "Bash", session=session, command=f"make {name}")
            said = dict(_SAID[name])
            live.register(processes[name].pid, said.pop("status"), session=session, **said)
        yield live
    finally:
        for process in processes.values():
            process.kill()
            process.wait()


def _long_named(live: LiveHome) -> None:
    places = {"session": LONG_NAMED, "cwd": f"/work/{_LONG}", "gitBranch": _LONG}
    call = {"type": "tool_use", "id": "toolu_long", "name": f"mcp__{_LONG}", "input": {"path": f"/{_LONG}"}}
    answer = {"id": "msg_long", "role": "assistant", "model": _LONG, "content": [call]}
    used = {"stop_reason": "tool_use", "usage": {"input_tokens": 10, "output_tokens": 5}}
    failed = {"type": "tool_result", "tool_use_id": "toolu_long", "content": f"no {_LONG}", "is_error": True}
    live.line(**places, type="user", message={"role": "user", "content": f"test {_LONG} {_LONG}"})
    live.line(**places, type="assistant", message=answer | used)
    live.line(**places, type="user", message={"role": "user", "content": [failed]})


def lasting_process() -> subprocess.Popen[bytes]:
    """A process that lives until it is killed."""
    return subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL, env={"PATH": os.defpath})


def lab_home(homes: Homes, *, n_long: int = N_LONG) -> dict[str, Made]:
    """The demo (sessions of real clients), one session with every incident, and a very long one."""
    shutil.copytree(DEMO / "claude", homes.claude, dirs_exist_ok=True)
    shutil.copytree(DEMO / "codex", homes.codex, dirs_exist_ok=True)
    words = Words(1)
    made = {"short": write_claude(homes.claude, n_records=N_SHORT, seed=2, words=words)}
    if n_long:
        made["long"] = write_claude(homes.claude, n_records=n_long, seed=1, words=words)
    return made


HOSTILE_IDS = {
    "said": "5a1d0000-0000-4000-8000-000000000001",
    "named": "5a1d0000-0000-4000-8000-000000000002",
    "whole": "5a1d0000-0000-4000-8000-000000000003",
}
PICTURES_ID = "5a1d0000-0000-4000-8000-000000000009"
# Names of files are strings of a log, too: a session may be called by one.
HOSTILE_NAMES = (
    "\"><img src=x onerror=__pwned('file-name')>",
    "javascript:__pwned('file-name')",
    "..%2f..%2fetc%2fpasswd",
    "' autofocus onfocus=__pwned(`file-name`) '",
    "{{7*100003}}",
    "\u202egnp.\u2028\x1b[31m",
)


def hostile_home(homes: Homes, canary: str) -> Hostile:
    """Every text of every kind of record attacks; so do the names of files and folders."""
    hostile = Hostile(canary)
    aside = Homes(homes.top / "aside")
    words = Words(3, lines=2_000)
    for n, way in enumerate(WAYS):
        made = write_claude(aside.claude / way, n_records=260, seed=30 + n, words=words)
        _arm_claude(homes, made, way, hostile)
        rollout = write_codex(aside.codex / way, n_records=120, seed=30 + n, words=words)
        _arm_codex(homes, rollout, way, hostile)
    for n, name in enumerate(HOSTILE_NAMES):
        _arm_name(homes, write_claude(aside.claude / str(n), n_records=40, seed=40 + n, words=words), name)
    for agent in ("claude", "codex"):
        for log in sorted((DEMO / agent).rglob("*.jsonl")):
            target = homes.top / agent / log.relative_to(DEMO / agent)
            arm_log(log, target, WAYS["said"], hostile)
    shutil.rmtree(aside.top)
    pictures = homes.claude / "projects" / "-home-pictures" / f"{PICTURES_ID}.jsonl"
    pictures.parent.mkdir()
    pictures.write_bytes(b"\n".join(picture_lines(PICTURES_ID)) + b"\n")
    return hostile


def _arm_claude(homes: Homes, made: Made, way: str, hostile: Hostile) -> None:
    folder = homes.claude / "projects" / f"-home-{way}"
    renamed = (made.id, HOSTILE_IDS[way])
    arm_log(made.path, folder / f"{HOSTILE_IDS[way]}.jsonl", WAYS[way], hostile, renamed=renamed)
    for log in sorted((made.path.parent / made.id).rglob("*.jsonl")):
        target = folder / HOSTILE_IDS[way] / "subagents" / log.name
        arm_log(log, target, WAYS[way], hostile, renamed=renamed)
        meta = json.loads(log.with_suffix(".meta.json").read_text())
        meta |= {"description": hostile.arm("meta.description"), "agentType": hostile.arm("meta.agentType")}
        target.with_suffix(".meta.json").write_text(json.dumps(meta))


def _arm_codex(homes: Homes, made: Made, way: str, hostile: Hostile) -> None:
    id = f"0198{HOSTILE_IDS[way][4:]}"
    target = homes.codex / "sessions" / "2025" / "08" / "06" / f"rollout-2025-08-06T17-52-37-{id}.jsonl"
    arm_log(made.path, target, WAYS[way], hostile, renamed=(made.id, id))


def _arm_name(homes: Homes, made: Made, name: str) -> None:
    folder = homes.claude / "projects" / f"-x-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    data = made.path.read_bytes().replace(made.id.encode(), json.dumps(name)[1:-1].encode())
    (folder / f"{name}.jsonl").write_bytes(data)
