"""Who is told of a wait, when, and with which words."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest

from tracklog.live.notify import Announcements, is_due, notification_command, notify, plain, ring, words_for
from tracklog.model.states import LiveState

WAITS = LiveState(state="waiting", waiting_for="permission", doing="Bash: rm x", since_ms=5_000)


@pytest.mark.parametrize(
    ("state", "now_ms", "expected"),
    [
        (WAITS, 5_999, False),
        (WAITS, 6_000, True),
        (LiveState(state="waiting", waiting_for=None, since_ms=5_000), 60_000, False),
        (LiveState(state="waiting", waiting_for="answer"), 60_000, False),
        (LiveState(state="working", since_ms=5_000), 60_000, False),
        (LiveState(state="idle", since_ms=5_000), 60_000, False),
    ],
)
def test_a_wait_is_announced_when_it_is_a_second_old(state: LiveState, now_ms: int, expected: bool) -> None:
    assert is_due(state, now_ms) is expected


def test_each_wait_is_announced_once() -> None:
    told = Announcements()
    again = LiveState(state="waiting", waiting_for="permission", since_ms=9_000)
    seen = [
        told.due({"s": WAITS}, 5_500),
        told.due({"s": WAITS}, 6_000),
        told.due({"s": WAITS}, 7_000),
        told.due({"s": again}, 9_500),
        told.due({"s": again}, 10_000),  # another wait, though nobody saw the work between
        told.due({"s": LiveState(state="working", since_ms=11_000)}, 11_000),
        told.due({"s": WAITS, "t": WAITS}, 12_000),
        told.due({}, 13_000),
    ]
    assert seen == [[], ["s"], [], [], ["s"], [], ["s", "t"], []]


def test_a_notification_says_who_waits_for_what() -> None:
    assert words_for(WAITS, "shop") == ("shop waits for a permission", "Bash: rm x")
    plan = LiveState(state="waiting", waiting_for="plan")
    assert words_for(plan, "") == ("A session has a plan to approve", "")


def test_what_a_session_says_steers_no_terminal() -> None:
    assert plain("a\x1b]0;title\x07b\n\u202ec\u2028d") == "a ]0;title b c d"
    assert plain("x" * 300) == "x" * 199 + "…"


HOSTILE = '"; do shell script "touch owned" & `touch owned` <b>$(id)'


def test_words_reach_notify_send_as_arguments_and_its_body_as_markup() -> None:
    command = notification_command("--title", HOSTILE, system="linux", which=lambda name: f"/usr/bin/{name}")
    assert command == [
        "/usr/bin/notify-send",
        "--app-name=tracklog",
        "--",
        "--title",
        '"; do shell script "touch owned" &amp; `touch owned` &lt;b&gt;$(id)',
    ]


def test_words_reach_osascript_as_arguments_and_never_as_script() -> None:
    command = notification_command("title", HOSTILE, system="darwin", which=lambda name: f"/usr/bin/{name}")
    assert command is not None
    assert command[0] == "/usr/bin/osascript"
    assert command[-3:] == ["--", HOSTILE, "title"]
    assert not any("owned" in word for word in command[:-3])


def test_a_system_without_notifications_has_no_command() -> None:
    assert notification_command("a", "b", system="linux", which=lambda _: None) is None
    assert notification_command("a", "b", system="darwin", which=lambda _: None) is None


def program(folder: Path, script: str) -> None:
    file = folder / "notify-send"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


@pytest.mark.skipif(os.uname().sysname == "Darwin", reason="another program there")
def test_a_notification_is_shown_or_says_why_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert notify("title", "text") == "no notify-send here"
    program(tmp_path, 'for word in "$@"; do echo "$word"; done > "${0%/*}/shown"')
    assert notify("title", "$(id) <x>") is None
    assert (tmp_path / "shown").read_text() == "--app-name=tracklog\n--\ntitle\n$(id) &lt;x&gt;\n"
    program(tmp_path, "exit 3")
    assert notify("title", "text") == f"{tmp_path}/notify-send failed with exit code 3"


def test_a_nul_in_the_words_shows_no_notification_and_raises_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program(tmp_path, "exit 0")
    assert notify("title", "a\0b") is not None


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bell_rings_on_a_terminal_only() -> None:
    screen, file = Screen(), io.StringIO()
    assert [ring(screen), ring(file)] == [True, False]
    assert [screen.getvalue(), file.getvalue()] == ["\a", ""]
