"""Registry files as clients leave them: real glimpses, odd bytes, and processes that are or are not there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.agents.claude_code.session_registry import (
    Registration,
    SessionRegistry,
    UnreadableEntry,
    read_registration,
)
from tracklog.model.states import Sign

NOW = 1_800_000_000_000


def content(**more: Any) -> bytes:
    told = {"pid": 4410, "sessionId": "s-1", "cwd": "/home/dev/project", "startedAt": 1_000, **more}
    return json.dumps(told).encode()


def sign_of(**more: Any) -> Sign:
    read = read_registration("4410.json", content(**more))
    assert isinstance(read, Registration)
    return read.sign()


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"status": "busy"}, ("registry", "working", None, None, False)),
        ({"status": "idle"}, ("registry", "idle", None, None, False)),
        ({"status": "shell"}, ("registry", "idle", None, None, True)),
        (
            {"status": "waiting", "waitingFor": "permission prompt"},
            ("registry", "waiting", "permission", "permission prompt", False),
        ),
        (
            {"status": "waiting", "waitingFor": "sandbox request"},
            ("registry", "waiting", "permission", "sandbox request", False),
        ),
        (
            {"status": "waiting", "waitingFor": "input needed"},
            ("registry", "waiting", "answer", "input needed", False),
        ),
        (
            {"status": "waiting", "waitingFor": "dialog open"},
            ("registry", "waiting", None, "dialog open", False),
        ),
        (
            {"status": "waiting", "waitingFor": "a new word"},
            ("registry", "waiting", "answer", "a new word", False),
        ),
        ({"status": "waiting"}, ("registry", "waiting", "answer", None, False)),
        ({}, ("process", "idle", None, None, False)),
        ({"status": "a new word"}, ("process", "idle", None, None, False)),
    ],
)
def test_a_status_is_a_sign(fields: dict[str, str], expected: tuple[object, ...]) -> None:
    sign = sign_of(**fields)
    assert (sign.source, sign.state, sign.waiting_for, sign.doing, sign.has_background) == expected
    assert sign.where == "sessions/4410.json"


def test_a_status_is_as_old_as_the_client_says() -> None:
    assert sign_of(status="busy", statusUpdatedAt=3_000, updatedAt=4_000).at_ms == 3_000
    assert sign_of(status="busy", updatedAt=4_000).at_ms == 4_000
    assert sign_of().at_ms == 1_000


@pytest.mark.parametrize(
    ("name", "raw", "why"),
    [
        ("4410.json", b"", "empty"),
        ("4410.json", b" \n", "empty"),
        ("4410.json", content(status="busy")[:60], "torn"),
        ("4410.json", b"\0" * 40, "torn"),
        ("4410.json", b"[]", "strange"),
        ("4410.json", b'{"pid": "many", "sessionId": "s-1"}', "strange"),
        ("4410.json", b'{"pid": 4410}', "strange"),
        ("4410.json", content(sessionId=""), "strange"),
        ("4411.json", content(), "strange"),
    ],
)
def test_a_file_that_says_nothing_says_why(name: str, raw: bytes, why: str) -> None:
    assert read_registration(name, raw) == UnreadableEntry(f"sessions/{name}", why)  # type: ignore[arg-type]


def test_a_field_of_another_shape_spoils_only_itself() -> None:
    read = read_registration("4410.json", content(status="busy", peerFeatures={"new": "shape"}))
    assert isinstance(read, Registration)
    assert read.sign().state == "working"


@given(st.one_of(st.binary(max_size=200), st.integers(0, 90).map(lambda n: content(status="idle")[:n])))
def test_any_bytes_are_a_registration_or_say_why_not(raw: bytes) -> None:
    assert isinstance(read_registration("4410.json", raw), Registration | UnreadableEntry)


class Home:
    """A Claude Code home with a registry, and processes to stand in it."""

    def __init__(self, root: Path) -> None:
        self.registry = SessionRegistry(root)
        self.folder = root / "sessions"
        self.folder.mkdir()

    def write(self, pid: int, session: str, **more: Any) -> Path:
        started = int(psutil.Process(pid).create_time() * 1000) if psutil.pid_exists(pid) else 1_000
        told = {"startedAt": started + 200, **more, "pid": pid, "sessionId": session}
        file = self.folder / f"{pid}.json"
        file.write_bytes(content(**told))
        return file

    def lives(self, session: str, now_ms: int = NOW) -> tuple[str, bool, str]:
        alive = self.registry.refresh(now_ms)[session].alive
        return alive.life, alive.has_left, alive.why


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_home_without_a_registry_has_nobody_registered(tmp_path: Path) -> None:
    assert SessionRegistry(tmp_path).refresh(NOW) == {}


def test_a_session_is_registered_until_its_file_is_taken_away(home: Home) -> None:
    me = os.getpid()
    file = home.write(me, "s-1", status="busy", statusUpdatedAt=NOW - 5)
    seen = home.registry.refresh(NOW)["s-1"]
    assert (seen.alive.life, seen.sign.state, seen.sign.at_ms) == ("alive", "working", NOW - 5)
    file.unlink()
    assert home.lives("s-1") == ("gone", True, f"sessions/{me}.json was taken away")


def test_a_killed_client_leaves_its_file_and_has_not_left(
    home: Home, sleeper: subprocess.Popen[bytes]
) -> None:
    home.write(sleeper.pid, "s-1", status="busy")
    assert home.lives("s-1")[0] == "alive"
    sleeper.kill()
    sleeper.wait()
    assert home.lives("s-1", NOW) == ("gone", False, f"there is no process {sleeper.pid}")
    assert home.registry.refresh(NOW + 9_000)["s-1"].alive.at_ms is None


def test_a_crash_stays_a_crash_when_another_client_clears_the_file_away(
    home: Home, sleeper: subprocess.Popen[bytes]
) -> None:
    file = home.write(sleeper.pid, "s-1", status="busy")
    sleeper.kill()
    sleeper.wait()
    home.registry.refresh(NOW)
    file.unlink()
    assert home.lives("s-1")[:2] == ("gone", False)


def test_clear_goes_on_with_another_session_under_one_pid(home: Home) -> None:
    me = os.getpid()
    home.write(me, "s-1", status="idle", statusUpdatedAt=NOW - 900, updatedAt=NOW - 900)
    home.registry.refresh(NOW)
    home.write(me, "s-2", status="idle", statusUpdatedAt=NOW - 900, updatedAt=NOW - 50)
    assert home.lives("s-1") == ("gone", True, f"sessions/{me}.json names another session now")
    seen = home.registry.refresh(NOW)["s-2"]
    assert (seen.alive.life, seen.sign.at_ms) == ("alive", NOW - 50)


def test_a_torn_or_empty_file_says_what_it_said_before(home: Home) -> None:
    file = home.write(os.getpid(), "s-1", status="busy")
    home.registry.refresh(NOW)
    for raw, why in ((b"", "empty"), (b'{"pid":', "torn")):
        file.write_bytes(raw)
        assert home.lives("s-1")[0] == "alive"
        assert home.registry.unread == [UnreadableEntry(f"sessions/{file.name}", why)]  # type: ignore[arg-type]


def test_of_two_processes_with_one_session_the_living_one_counts(
    home: Home, sleeper: subprocess.Popen[bytes]
) -> None:
    home.write(os.getpid(), "s-1", status="idle")
    home.write(sleeper.pid, "s-1", status="busy")
    sleeper.kill()
    sleeper.wait()
    assert home.registry.refresh(NOW)["s-1"].pid == os.getpid()


def test_keys_links_and_pipes_beside_the_files_are_left_alone(home: Home, tmp_path: Path) -> None:
    (home.folder / f"{os.getpid()}.key").write_text("secret")
    (home.folder / "12.json").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(home.folder / "13.json")
    (home.folder / "14.json").write_bytes(b" " * (2 << 20))
    assert home.registry.refresh(NOW) == {}
    assert home.registry.unread == [UnreadableEntry("sessions/14.json", "strange")]
