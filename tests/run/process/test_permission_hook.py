"""Questions that are open, answers that are taken, once, and settings that make a client ask here."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import signal
import subprocess
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.test_ask_hook import ASKED, PATIENCE_S, SESSION, SILENT, Asking, asking, put, run_folder, said
from tracklog.agents.hooks.command import is_our_command
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.liveness.permission_requests import (
    OpenPermissionRequest,
    open_permission_requests,
    permission_requests_of,
)
from tracklog.run.process.permission_hook import MOST_REASON, Fate, give, handler


def the_ask(hook: Asking, home: Path) -> OpenPermissionRequest:
    hook.question()
    (ask,) = open_permission_requests(Home(home))
    return ask


def test_an_open_question_is_found_with_all_that_it_says(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    with asking(folder, {**ASKED, "agent_id": "a7"}, wait_s=9) as hook:
        ask = the_ask(hook, tmp_path)
        place = hook.question()
        at = json.loads(place.read_bytes())["at"]
        assert ask == OpenPermissionRequest(
            id=place.stem,
            run=folder.name,
            session=SESSION,
            thread="a7",
            cwd="/home/dev",
            mode="default",
            tool="Bash",
            input=ASKED["tool_input"],
            input_bytes=None,
            suggestions=ASKED["permission_suggestions"],
            at_ms=at,
            until_ms=at + 9000,
            place=place,
        )
        assert permission_requests_of(folder) == [ask]
        assert (ask.gist, ask.is_cut) == ("touch made.txt", False)
        assert ask.shown() == [("command", "touch made.txt"), ("description", "Make é 😀")]


def test_the_newest_question_comes_first(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path, "a" * 16)) as one:
        one.question()
        time.sleep(0.01)
        with asking(run_folder(tmp_path, "b" * 16)) as two:
            two.question()
            assert [ask.run for ask in open_permission_requests(Home(tmp_path))] == ["b" * 16, "a" * 16]


def test_a_question_whose_hook_was_killed_is_not_open(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook:
        the_ask(hook, tmp_path)
        hook.process.kill()
        hook.process.wait()
        assert open_permission_requests(Home(tmp_path)) == []


def test_without_runs_nothing_is_open(tmp_path: Path) -> None:
    assert open_permission_requests(Home(tmp_path)) == []
    assert open_permission_requests(Home(tmp_path / "gone")) == []


@pytest.mark.parametrize("name", ["runs/now", "runs/now/0123456789abcdef", "runs/now/0123456789abcdef/asks"])
def test_what_stands_in_a_folder_that_is_open_to_others_is_not_looked_at(tmp_path: Path, name: str) -> None:
    with asking(run_folder(tmp_path)) as hook:
        the_ask(hook, tmp_path)
        (tmp_path / name).chmod(0o750)
        assert open_permission_requests(Home(tmp_path)) == []


def test_what_stands_behind_a_link_is_not_looked_at(tmp_path: Path) -> None:
    elsewhere, home = tmp_path / "elsewhere", tmp_path / "home"
    with asking(run_folder(elsewhere)) as hook:
        place = hook.question()
        now = run_folder(home).parent
        (now / "linked").symlink_to(hook.folder)
        (run_folder(home) / "asks").mkdir(mode=0o700)
        (run_folder(home) / "asks" / "linked.json").symlink_to(place)
        assert open_permission_requests(Home(home)) == []


def test_what_is_no_question_is_passed_over(tmp_path: Path) -> None:
    asks = run_folder(tmp_path) / "asks"
    asks.mkdir(mode=0o700)
    odd = (b"", b"{", b"[]", b'{"at":1}', b'{"at":-1,"until":1}', b'{"at":1,"until":1e30}', b"[" * 50_000)
    with ExitStack() as held:
        for n, data in enumerate(odd):
            (asks / f"q{n}.json").write_bytes(data)
            fcntl.flock(held.enter_context((asks / f"q{n}.json").open("rb")), fcntl.LOCK_EX)
        os.mkfifo(asks / "pipe.json")
        (asks / "folder.json").mkdir()
        assert open_permission_requests(Home(tmp_path)) == []
        held.enter_context(asking(run_folder(tmp_path)))
        assert [ask.session for ask in soon_open(tmp_path)] == [SESSION]


def soon_open(home: Path) -> list[OpenPermissionRequest]:
    until = time.monotonic() + PATIENCE_S
    while not (found := open_permission_requests(Home(home))) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_what_is_nested_too_deep_to_be_shown_is_said_to_be_cut(tmp_path: Path) -> None:
    given = {**ASKED, "tool_input": nested(300), "permission_suggestions": nested(300)}
    with asking(run_folder(tmp_path), given) as hook:
        ask = the_ask(hook, tmp_path)
        assert (ask.input, ask.is_cut, ask.suggestions) == (None, True, None)


@pytest.mark.parametrize(
    ("verdict", "reason", "decision"),
    [
        ("allow", None, {"behavior": "allow"}),
        ("deny", "not \udce9 here", {"behavior": "deny", "message": "not \udce9 here"}),
    ],
)
def test_an_answer_is_taken_and_told(tmp_path: Path, verdict: Any, reason: str | None, decision: Any) -> None:
    with asking(run_folder(tmp_path)) as hook:
        assert give(the_ask(hook, tmp_path), verdict, reason=reason) == "taken"
        assert said(hook.ended()) == decision
    assert list((run_folder(tmp_path) / "asks").iterdir()) == []
    assert open_permission_requests(Home(tmp_path)) == []


def test_of_many_answers_at_once_one_is_taken(tmp_path: Path) -> None:
    fates: list[tuple[Fate, str]] = []
    with asking(run_folder(tmp_path)) as hook:
        ask = the_ask(hook, tmp_path)

        def one_more(reason: str) -> None:
            fates.append((give(ask, "deny", reason=reason), reason))

        threads = [threading.Thread(target=one_more, args=(str(n),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        decision = said(hook.ended())
    (reason,) = [reason for fate, reason in fates if fate == "taken"]
    assert decision == {"behavior": "deny", "message": reason}
    assert len(fates) == 8
    assert list((run_folder(tmp_path) / "asks").iterdir()) == []


def test_the_second_answer_is_told_that_it_is_one(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook:
        ask = the_ask(hook, tmp_path)
        hook.process.send_signal(signal.SIGSTOP)
        hook.reply(verdict="allow")
        assert give(ask, "deny") == "answered"
        hook.process.send_signal(signal.SIGCONT)
        assert said(hook.ended()) == {"behavior": "allow"}


def test_an_answer_that_nobody_takes_is_taken_back_and_never_counts(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path), wait_s=3) as hook:
        ask = the_ask(hook, tmp_path)
        hook.process.send_signal(signal.SIGSTOP)
        assert give(ask, "allow", within_s=0.3) == "late"
        hook.process.send_signal(signal.SIGCONT)
        assert hook.ended() == SILENT


def test_an_answer_after_the_time_is_late(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path), wait_s=3) as hook:  # seen while it is open, on a busy machine too
        ask = the_ask(hook, tmp_path)
        assert hook.ended() == SILENT
        assert give(ask, "allow", within_s=0.2) == "late"
    assert list((run_folder(tmp_path) / "asks").iterdir()) == []


def test_an_answer_to_a_run_that_was_put_away_is_late(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook:
        ask = the_ask(hook, tmp_path)
        ask.place.unlink()
        ask.place.parent.rmdir()
        assert give(ask, "allow") == "late"


def sweep(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def test_an_answer_that_is_swept_away_with_the_run_was_not_taken(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook:
        ask = the_ask(hook, tmp_path)
        hook.process.kill()
        hook.process.wait()
        sweeper = threading.Timer(0.2, sweep, [ask.place.parent])
        sweeper.start()
        assert give(ask, "allow", within_s=0.6) == "late"
        sweeper.join()


def test_a_reason_that_the_client_would_cut_is_refused(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook:
        ask = the_ask(hook, tmp_path)
        with pytest.raises(UserError, match="longer than"):
            give(ask, "deny", reason="x" * (MOST_REASON + 1))
        assert [path.name for path in ask.place.parent.iterdir()] == [ask.place.name]


def test_the_settings_make_a_client_ask_and_wait_longer_than_we_do(tmp_path: Path) -> None:
    home = tmp_path / "a home's"
    settings = handler(run_folder(home), home=Home(home), wait_s=2.5)
    assert (settings["type"], settings["timeout"]) == ("command", 18)
    assert is_our_command(settings["command"])
    put(tmp_path / "payload", json.dumps(ASKED).encode())
    with (tmp_path / "payload").open("rb") as payload:
        shell = ["/bin/sh", "-c", settings["command"]]
        hook = subprocess.Popen(shell, stdin=payload, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert give(soon_open(home)[0], "allow") == "taken"
    out, err = hook.communicate(timeout=PATIENCE_S)
    assert said((hook.returncode, out, err)) == {"behavior": "allow"}
    (line,) = (home / "spool/hooks.jsonl").read_bytes().splitlines()
    assert json.loads(line)["ppid"] == os.getpid()


@pytest.mark.parametrize("n", [4, 7])
def test_a_python_or_a_hook_that_is_gone_is_nobodys_trouble(tmp_path: Path, n: int) -> None:
    words = shlex.split(handler(run_folder(tmp_path), home=Home(tmp_path), wait_s=1)["command"])[1:]
    words[n] = str(tmp_path / "gone")
    done = subprocess.run(words, input=json.dumps(ASKED).encode(), capture_output=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == SILENT


@pytest.mark.parametrize("wait_s", [0, -1, float("nan"), float("inf"), 86_401])
def test_a_time_that_no_client_would_wait_is_refused(tmp_path: Path, wait_s: float) -> None:
    with pytest.raises(UserError, match="--ask-timeout"):
        handler(run_folder(tmp_path), home=Home(tmp_path), wait_s=wait_s)
