"""A home that commit a43d866 left, before every module was moved: today's code answers as that one did, and goes on.

The home, and how it was made: `make_home.py`.
"""

from __future__ import annotations

import fcntl
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import zstandard

import tracklog
from tests import fork_server
from tests.run import fake_client
from tests.upgrade.make_home import (
    CLAUDE,
    CODEX,
    FIXTURE,
    GROWING,
    HOME,
    KEYS,
    ONLY_HERE,
    OURS,
    PLACE,
    VIEWS,
    ask,
    environment,
    link,
    questions,
    tell_hook,
)
from tests.views.cli.command import TIME_LIMIT_S, Answer
from tracklog.store.migrate import NEWEST, version_of

pytestmark = [
    pytest.mark.xdist_group("upgrade"),  # there is one place, and they would wait for each other
    pytest.mark.skipif(
        sys.platform != "linux", reason="the home was made where /tmp is a folder, not a link"
    ),
]

OF_THE_MOMENT = (
    frozenset(  # what depends on the time, on what runs, on prices and on rules that are corrected later
        {
            "state",
            "outcome",
            "evidence",
            "since",
            "ended_at",
            "waiting_for",
            "sureness",
            "rules",
            "new_bytes",
            "burn",
        }
    )
)
IN_MONEY = ("usd", "price")
READ_AGAIN = {  # what Codex logs that are read once more have of their own: a note more in the archive, other words in a hit
    "file_bytes",
    "archived_bytes",
    "stored_bytes",
    "saving",
    "marks",
}
OPEN = {
    "running",
    "lost",
    "unknown",
    "crashed",
    "ended",
    "working",
    "idle",
}  # of what was killed: known by its age


@pytest.fixture
def old_home() -> Iterator[dict[str, Any]]:
    """The home at its place, as if nothing had happened since; what was answered of it, by question."""
    with Path(tempfile.gettempdir(), f"tracklog-upgrade-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if PLACE.exists() and PLACE.stat().st_uid != os.getuid():
            pytest.skip(f"{PLACE} belongs to another user")
        shutil.rmtree(PLACE, ignore_errors=True)  # of a test that was killed
        PLACE.mkdir(mode=0o700)
        try:
            with tarfile.open(fileobj=io.BytesIO(zstandard.decompress(FIXTURE.read_bytes()))) as tar:
                tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4
                tar.extractall(PLACE)
            for folder in (HOME, OURS, *(path for path in OURS.rglob("*") if path.is_dir())):
                folder.chmod(0o700)
            link(Path(tracklog.__file__).parent)
            _restore_stamps()
            yield json.loads((PLACE / "answers.json").read_text())
        finally:
            shutil.rmtree(PLACE)


def _restore_stamps() -> None:
    """The logs get the times that the index knows, and the index the numbers that they have here."""
    with closing(sqlite3.connect(OURS / "index.db")) as db:
        for id, path, mtime in db.execute("select id, path, mtime_ns from log_files").fetchall():
            with suppress(FileNotFoundError):  # only the archive has it
                os.utime(path, ns=(mtime, mtime))
                stat = os.stat(path)
                stamps = (stat.st_ino, stat.st_dev, stat.st_ctime_ns, id)
                db.execute("update log_files set inode = ?, device = ?, ctime_ns = ? where id = ?", stamps)
        db.commit()


def warm(*words: str, cwd: Path = PLACE) -> Answer:
    """The answer of a forked process: there are many questions."""
    env = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    done = fork_server.run(list(words), env=env, cwd=cwd, timeout_s=TIME_LIMIT_S)
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def lacks(old: Any, new: Any, at: str = "") -> list[str]:
    """What was answered before and is not any more, with its place. What is new does no harm."""
    if isinstance(old, dict) and isinstance(new, dict):
        kept = {name: value for name, value in old.items() if not _is_of_the_moment(name)}
        return [line for name, value in kept.items() for line in lacks(value, new.get(name), f"{at}.{name}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [line for n, one in enumerate(old) for line in lacks(one, new[n], f"{at}[{n}]")]
    is_as_before = old == new
    if isinstance(old, str) and isinstance(new, str):
        is_as_before |= {old, new} <= OPEN
        is_as_before |= bool(new) and "Output:" in old and old.endswith(new)  # Codex's envelope is gone
    return [] if is_as_before else [f"{at}: {old!r} is now {new!r}"]


def _is_of_the_moment(name: str) -> bool:
    return name in OF_THE_MOMENT | READ_AGAIN or any(word in name for word in IN_MONEY)


def _with_names(out: Any) -> Any:
    """The answer of `sql`, each value by the name of its column."""
    if not isinstance(out, dict) or not out.keys() >= {"columns", "rows"}:
        return out
    return {**out, "rows": [dict(zip(out["columns"], row, strict=True)) for row in out["rows"]]}


def test_every_reading_command_answers_as_the_old_one_did(old_home: dict[str, Any]) -> None:
    failed = {}
    for question, old in old_home.items():
        words = json.loads(question)
        answer = warm(*words)
        out = json.loads(answer.out) if "--json" in words and answer.out else answer.out
        before = {**old, "out": _with_names(old["out"])}
        if lines := lacks(before, {"code": answer.code, "out": _with_names(out)}):
            failed[question] = (lines[:5], answer.err)
    assert failed == {}
    with closing(sqlite3.connect(OURS / "index.db")) as db:
        assert version_of(db) == NEWEST
    assert set(old_home) >= {json.dumps(words) for words in questions([KEYS, GROWING, *ONLY_HERE])}


def rows() -> dict[str, list[str]]:
    """All that the index knows by now, without looking for more; but for states, which are found when asked for."""
    known = {}
    for view in VIEWS:
        answer = warm("sql", f"select * from {view}", "--json", "--no-sync").json
        # A rebuild adds a note to each file of the archive, and cannot know how large a packed log was that is gone.
        left_out = {"state", "archived_bytes", "file_bytes"}
        named = [
            {name: value for name, value in zip(answer["columns"], row, strict=True) if name not in left_out}
            for row in answer["rows"]
        ]
        known[view] = sorted(map(json.dumps, named))
    return known


def test_a_log_of_codex_that_grows_is_read_as_if_at_once(old_home: dict[str, Any]) -> None:
    """The index keeps what the translator remembered; that names modules of before, so the log is read once more."""
    with closing(sqlite3.connect(OURS / "index.db")) as db:
        asked = "select memory from log_files where session = ? and kind = 'transcript'"
        (memory,) = db.execute(asked, (GROWING,)).fetchone()
    assert b"tracklog.model.translate.codex_memory" in memory
    (log,) = CODEX.rglob(f"*{GROWING}.jsonl")
    with log.open("ab") as stream:
        stream.write((PLACE / "rest.jsonl").read_bytes())
    assert warm("index").code == 0
    grown = rows()
    assert len(grown["calls"]) > len(old_home[json.dumps(_view("calls"))]["out"]["rows"])
    assert warm("rebuild").code == 0
    assert rows() == grown


def _view(name: str) -> tuple[str, ...]:
    return next(words for words in questions([]) if words[0] == "sql" and f" {name} " in words[1])


def test_what_only_the_archive_has_survives_a_rebuild_and_comes_back(old_home: dict[str, Any]) -> None:
    def only_here() -> set[str]:
        sessions = warm("sessions", "--json").json["sessions"]
        return {one["id"] for one in sessions if one["only_here"]}

    for command in ("index", "rebuild"):
        assert warm(command, *(["--full"] if command == "index" else [])).code == 0
        assert only_here() == ONLY_HERE
    for session in sorted(ONLY_HERE):
        before = old_home[json.dumps(("show", session, "--json"))]["out"]
        assert lacks(before, warm("show", session, "--json").json) == []
        assert warm("restore", session).code == 0
        assert [*CLAUDE.rglob(f"{session}.jsonl"), *CODEX.rglob(f"*{session}*")]
        after = lacks(before, warm("show", session, "--json").json)
        assert after == [".session.only_here: True is now False"]
    assert warm("verify", "--json").json["identical"]
    assert only_here() == set()


def test_logs_are_scanned_for_secrets_once_more_at_most(old_home: dict[str, Any]) -> None:
    first, second = (warm("scan", "--json").json for _ in range(2))
    assert second["scanned"]["new_bytes"] == 0
    assert first["findings"] == second["findings"]
    assert len(first["findings"]) == first["allowed"] == 1


def test_installed_hooks_go_on_and_are_taken_out_to_the_byte(old_home: dict[str, Any]) -> None:
    spool = OURS / "spool/hooks.jsonl"
    before = spool.read_bytes()
    tell_hook("64c2b3d3-02a7-45ea-9075-0b01f88daf64")
    assert spool.read_bytes().startswith(before)
    assert len(spool.read_bytes().splitlines()) == len(before.splitlines()) + 1
    assert ask("hooks", "uninstall", "--project", cwd=PLACE / "project").returncode == 0
    assert ask("hooks", "uninstall").returncode == 0
    assert (PLACE / "project/.claude/settings.json").read_text() == '{"model": "opus"}\n'
    left = [*HOME.rglob("settings.json"), *PLACE.rglob("hooks.json"), *HOME.rglob("config.toml")]
    assert [path for path in left if OURS not in path.parents] == []


def test_runs_that_were_begun_before_are_gone_on_with(old_home: dict[str, Any]) -> None:
    client = str(fake_client.install(PLACE / "client"))
    words = ("run", "--many", "list.jsonl", "--retries", "0", "--trust", "--client", client)
    done = ask(*words, cwd=PLACE / "work")
    assert "2 of 3 lines are answered already" in done.stderr
    assert (PLACE / "client/starts").read_text() == '"die"\n'
    register = [json.loads(line) for line in (OURS / "runs/runs.jsonl").read_text().splitlines()]
    first = next(one for one in register if one["what"] == "started")
    assert ask("wait", first["run"]).stdout == "hello\n"
    resumed = ask("resume", first["session"], "say again", "--trust", "--client", client, cwd=PLACE / "work")
    assert (resumed.stdout, resumed.stderr) == ("again\n", "")


def test_the_journal_is_told_again_from_its_first_event(old_home: dict[str, Any]) -> None:
    (journal,) = (OURS / "live").glob("*/events-*.jsonl")
    told = [json.loads(line) for line in journal.read_text().splitlines()]
    command = [f"{PLACE}/bin/python", "-m", "tracklog", "watch", "--after", "0", "--json"]
    with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE) as watcher:
        assert watcher.stdout is not None
        patience = threading.Timer(TIME_LIMIT_S, watcher.kill)
        patience.start()
        again = [json.loads(watcher.stdout.readline()) for _ in told]
        watcher.terminate()
        patience.cancel()
    named = ("n", "at", "event", "session", "thread", "path")
    assert [[one.get(name) for name in named] for one in again] == [
        [one.get(name) for name in named] for one in told
    ]
