"""Writes the fixture of a home as an earlier tracklog left it, with what that one answered.

    git worktree add --detach ../old a43d866 && make -C ../old .venv/ready
    ../old/.venv/bin/python -m tests.upgrade.make_home ../old

What was released is never made again: it is what today's code is tried on. The index, the archive, the settings and the
register name absolute paths, so a home can only be used where it was made: in the folder `PLACE`, by one test at a time.
There `bin/python` and `site/tracklog` lead to whatever Python and tracklog are to be tried, so that what is installed
names the same files before and after the upgrade.

Its sessions are those of `tracklog demo`, two of them only in the archive; one with keys that are none, one of them
allowed; a Codex log that will grow; two finished runs, a list that is half done, and one run whose process was killed.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tarfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import zstandard

PLACE = Path("/tmp/tracklog-upgrade")
FIXTURE = Path(__file__).parent / "data" / "home-a43d866.tar.zst"
HOME, OURS = PLACE / "home", PLACE / "home/ours"
CLAUDE, CODEX = HOME / ".claude", HOME / ".codex"
ONLY_HERE = {"12812c74-436a-4cd3-84e7-11cc1634cb62", "01a1e154-9d89-7f82-a36f-7d5dfa6d22cb"}
GROWING = "01a1e154-a0c6-7710-adcf-811e5f7e7cdb"  # a log of Codex, of which half is written
KEYS = "7a000000-0000-4000-8000-000000000001"
GROUPS = [
    "daily",
    "weekly",
    "monthly",
    "blocks",
    "session",
    "thread",
    "model",
    "project",
    "agent",
    "tool",
    "entrypoint",
]
VIEWS = ["sessions", "calls", "turns", "prompts", "requests", "threads", "branches", "problems", "files"]
QUERIES = ("tool:Bash", "verdict:error", "agent:codex the", "tally")
LIST = '{"prompt":"say one"}\n{"prompt":"write made.txt"}\n{"prompt":"die"}\n'


def environment() -> dict[str, str]:
    """What a command in this home may know of the machine."""
    path = f"{PLACE}/bin:{os.defpath}"
    ours = {"HOME": str(HOME), "TRACKLOG_HOME": str(OURS), "CLAUDE_CONFIG_DIR": str(CLAUDE)}
    libraries = f"{PLACE}/site:{sysconfig.get_path('purelib')}"
    common = {"PATH": path, "PYTHONPATH": libraries, "LANG": "C.UTF-8", "TZ": "UTC", "TRACKLOG_PORT": "0"}
    return {**common, **ours, "CODEX_HOME": str(CODEX), "FAKE_CLIENT_STATE": str(PLACE / "client")}


def ask(*words: str, stdin: str = "", cwd: Path = PLACE) -> subprocess.CompletedProcess[str]:
    """Runs the command of the tracklog that `site` leads to."""
    command = [f"{PLACE}/bin/python", "-m", "tracklog", *words]
    return subprocess.run(
        command,
        input=stdin,
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def questions(sessions: list[str]) -> Iterator[tuple[str, ...]]:
    """Every command that only reads, without those whose answer depends on the time."""
    yield ("sessions", "--json")
    for session in sessions:
        for command in ("show", "calls", "agents", "graph", "carried"):
            yield (command, session, "--json")
        yield ("final", session)
    for group in GROUPS:
        yield ("usage", group, "--zone", "utc", "--json")
    yield ("usage", "--uncertain", "--json")
    yield ("calls", "--json")
    for query in QUERIES:
        yield ("search", query, "--json")
    for view in VIEWS:
        yield ("sql", f"select * from {view} order by 1, 2, 3, 4", "--json")
    yield ("archive", "--json")
    yield ("verify", "--json")
    yield ("scan", "--all", "--json")
    yield ("scan", "--allowed", "--json")
    yield ("hooks", "status", "--json")


def link(package: Path) -> None:
    """Lets the home's Python and tracklog lead to these."""
    for name in ("bin", "site", "client"):
        (PLACE / name).mkdir(exist_ok=True)
    (PLACE / "bin/python").symlink_to(sys.executable)
    (PLACE / "site/tracklog").symlink_to(package)


@contextmanager
def watching() -> Iterator[None]:
    """Somebody watches, so the journal is written."""
    command = [f"{PLACE}/bin/python", "-m", "tracklog", "watch", "--json"]
    with subprocess.Popen(command, cwd=PLACE, env=environment(), stdout=subprocess.DEVNULL) as watcher:
        try:
            time.sleep(5)
            yield
            time.sleep(3)
        finally:
            watcher.send_signal(signal.SIGTERM)


def checked(*words: str, code: int = 0, cwd: Path = PLACE, stdin: str = "") -> str:
    """What a command printed that ended as it must."""
    answer = ask(*words, cwd=cwd, stdin=stdin)
    if answer.returncode != code:
        raise SystemExit(f"{words}: {answer.returncode}\n{answer.stdout}\n{answer.stderr}")
    return answer.stdout


def _write_logs() -> None:
    checked("demo", str(PLACE / "demo"))
    shutil.copytree(PLACE / "demo/claude", CLAUDE)
    shutil.copytree(PLACE / "demo/codex", CODEX)
    shutil.rmtree(PLACE / "demo")
    (log,) = CODEX.rglob(f"*{GROWING}.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: len(lines) // 2]))
    (PLACE / "rest.jsonl").write_bytes(b"".join(lines[len(lines) // 2 :]))
    (CLAUDE / "projects/-keys").mkdir()
    with (CLAUDE / f"projects/-keys/{KEYS}.jsonl").open("w") as stream:
        # Made up, and taken apart here so that no scanner stops at this file.
        for n, key in enumerate(
            ("AKIA" + "Z7QHN5XPLVB3MWT2", "ghp_" + "9fK2mQxW7vRt4LzYbN8cHd3JpSg6TuEaVo1i")
        ):
            stream.write(json.dumps(_user_line(n, f"the key is {key}")) + "\n")


def _user_line(n: int, text: str) -> dict[str, object]:
    return {
        "parentUuid": None if n == 0 else f"u-{n - 1}",
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/keys",
        "sessionId": KEYS,
        "version": "2.1.197",
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": f"u-{n}",
        "timestamp": f"2026-11-16T10:00:0{n}.000Z",
    }


def _make() -> None:
    _write_logs()
    checked("index")
    for session in ONLY_HERE:
        for log in [*CLAUDE.rglob(f"*{session}*.jsonl"), *CODEX.rglob(f"*{session}*")]:
            log.unlink()
    (PLACE / "work").mkdir()
    (PLACE / "work/list.jsonl").write_text(LIST)
    trusted = ("--trust", "--client", f"{PLACE}/bin/claude")
    with watching():
        checked("run", "say hello", *trusted, cwd=PLACE / "work")
        checked("run", "please fail", *trusted, code=1, cwd=PLACE / "work")
        checked("run", "--many", "list.jsonl", "--jobs", "1", *trusted, code=1, cwd=PLACE / "work")
    results = PLACE / "work/list.results.jsonl"  # the last one is still to be done
    results.write_text("".join(results.read_text().splitlines(keepends=True)[:2]))
    _leave_a_killed_run(trusted)
    _age_runs()
    checked("hooks", "install", "--events", "default")
    (PLACE / "project/.claude").mkdir(parents=True)
    (PLACE / "project/.claude/settings.json").write_text('{"model": "opus"}\n')
    (PLACE / "project/.codex").mkdir()
    checked("hooks", "install", "--project", "--events", "default", cwd=PLACE / "project")
    tell_hook("64c2b3d3-02a7-45ea-9075-0b01f88daf64")
    found = json.loads(checked("scan", "--json", code=1))["findings"]
    checked("scan", "--allow", found[0]["hash"], "--why", "made up")
    checked("statusline", stdin='{"session_id":"x","model":{"id":"claude-opus-4-6","display_name":"Opus"}}')
    checked("index")
    checked("scan", "--json", code=1)


def tell_hook(session: str) -> None:
    """Runs the command that is installed in Claude Code's settings, as Claude Code does."""
    settings = json.loads((CLAUDE / "settings.json").read_text())
    command = settings["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"]
    payload = {
        "session_id": session,
        "hook_event_name": "UserPromptSubmit",
        "prompt": "hi",
        "cwd": "/home/dev",
    }
    subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(payload), text=True, env=environment(), check=True
    )


def _leave_a_killed_run(trusted: tuple[str, ...]) -> None:
    command = [f"{PLACE}/bin/python", "-m", "tracklog", "run", "sleep 60", *trusted]
    with subprocess.Popen(command, cwd=PLACE / "work", env=environment()) as run:
        while '"sleep 60"' not in (PLACE / "client/starts").read_text():
            time.sleep(0.1)
        time.sleep(2)
        run.kill()
    time.sleep(8)  # its supervisor ends the client, and then itself


def _age_runs() -> None:
    """What was written within ten minutes is judged otherwise: the logs of the runs become a day older."""
    today = datetime.now(UTC).date()
    young, old = (str(day).encode() + b"T" for day in (today, today - timedelta(days=1)))
    for log in (CLAUDE / "projects").glob("-tmp-*/*.jsonl"):
        log.write_bytes(log.read_bytes().replace(young, old))


def main() -> int:
    """Makes the home with the tracklog of another worktree."""
    if FIXTURE.exists() or PLACE.exists():
        sys.stderr.write(f"{FIXTURE.name} or {PLACE} is there: what was released is not changed\n")
        return 1
    old = Path(sys.argv[1]).resolve()
    HOME.mkdir(parents=True)
    link(old / "src/tracklog")
    try:
        _install_client(old)
        _make()
        names = [one["id"] for one in json.loads(checked("sessions", "--json"))["sessions"]]
        answers = {json.dumps(words): _answer(words) for words in questions(names)}
        (PLACE / "answers.json").write_text(json.dumps(answers, indent=1))
        _pack()
    finally:
        shutil.rmtree(PLACE)
    return 0


def _answer(words: tuple[str, ...]) -> dict[str, object]:
    answer = ask(*words)
    out = json.loads(answer.stdout) if "--json" in words else answer.stdout
    return {"code": answer.returncode, "out": out}


def _install_client(old: Path) -> None:
    """The client of the tests of runs, as a file of its own."""
    shutil.copy(old / "tests/run/fake_client.py", PLACE / "bin/fake_client.py")
    program = PLACE / "bin/claude"
    start = f"import sys\nsys.path[:0] = ['{PLACE}/site', '{PLACE}/bin']\nimport fake_client\nsys.exit(fake_client.main())\n"
    program.write_text(f"#!{PLACE}/bin/python -I\n{start}")
    program.chmod(0o755)


def _pack() -> None:
    """All but what leads to a machine's own files; stamps of the logs stand in the index."""
    from sqlite3 import connect

    with closing(connect(OURS / "index.db")) as db:
        db.execute("pragma wal_checkpoint(truncate)")
        db.execute("vacuum")
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        for name in ("home", "work", "project", "rest.jsonl", "answers.json"):
            tar.add(PLACE / name, name, filter=_anonymous)
    FIXTURE.parent.mkdir(exist_ok=True)
    FIXTURE.write_bytes(zstandard.ZstdCompressor(level=22).compress(whole.getvalue()))


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    is_kept = member.isfile() or member.isdir()  # no fifo of a killed run, no lock of a process
    return member if is_kept and not member.name.endswith((".lock", "-wal", "-shm")) else None


if __name__ == "__main__":
    sys.exit(main())
