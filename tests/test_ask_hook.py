"""The hook that asks: a file for the question, the client's own words for the answer, and silence whatever happens."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tracklog import ask_hook

SESSION = "3c14e9c8-cd13-459b-a1e7-bac25d977021"
ASKED = {
    "session_id": SESSION,
    "transcript_path": "/home/dev/.claude/projects/-home-dev/x.jsonl",
    "cwd": "/home/dev",
    "prompt_id": "11fef2f1-9b64-4be5-83a9-6795c091e0fe",
    "permission_mode": "default",
    "hook_event_name": "PermissionRequest",
    "tool_name": "Bash",
    "tool_input": {"command": "touch made.txt", "description": "Make é 😀"},
    "permission_suggestions": [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}],
}
PATIENCE_S = 60.0
SILENT = (0, b"", b"")


def run_folder(home: Path, run: str = "0123456789abcdef") -> Path:
    """The private folder of a run."""
    folder = home / "runs" / "now" / run
    for one in (home / "runs", home / "runs" / "now", folder):
        one.mkdir(mode=0o700, exist_ok=True, parents=True)
    return folder


class Asking:
    """A hook that runs."""

    def __init__(self, folder: Path, payload: bytes, *, wait_s: float, home: Path | None) -> None:
        words = ["--folder", str(folder), "--wait", str(wait_s), *(["--home", str(home)] if home else [])]
        argv = [sys.executable, "-I", "-S", ask_hook.__file__, *words]
        pipe = subprocess.PIPE
        self.folder = folder
        self.process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe)
        assert self.process.stdin is not None
        self.process.stdin.write(payload)
        self.process.stdin.close()
        self.process.stdin = None

    def question(self) -> Path:
        """The file of the question, once it is there."""
        until = time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            found = [path for path in (self.folder / "asks").glob("*.json") if path.name.count(".") == 1]
            if found:
                return found[0]
            time.sleep(0.005)
        raise AssertionError("nobody asks")

    def reply(self, **said: Any) -> None:
        """Puts an answer beside the question."""
        place = self.question()
        put(place.with_name(f"{place.stem}.answer.json"), json.dumps(said).encode())

    def ended(self) -> tuple[int, bytes, bytes]:
        """How it ended, and what it printed."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, out, err


def put(place: Path, data: bytes, mode: int = 0o600) -> None:
    """Puts a file in its place, whole."""
    aside = place.with_name(f"{os.urandom(4).hex()}.new.json")
    aside.write_bytes(data)
    aside.chmod(mode)
    aside.rename(place)


@contextmanager
def asking(
    folder: Path, payload: Any = ASKED, *, wait_s: float = PATIENCE_S, home: Path | None = None
) -> Iterator[Asking]:
    """A hook that asks; whatever becomes of the test, it ends with it."""
    data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    one = Asking(folder, data, wait_s=wait_s, home=home)
    try:
        yield one
    finally:
        one.process.kill()
        one.process.communicate()


def said(ended: tuple[int, bytes, bytes]) -> Any:
    """The decision in what was printed, if nothing else was."""
    code, out, err = ended
    assert (code, err) == (0, b"")
    document = json.loads(out)
    assert document == {"hookSpecificOutput": {"hookEventName": "PermissionRequest", **_only(document)}}
    return document["hookSpecificOutput"]["decision"]


def _only(document: Any) -> dict[str, Any]:
    return {"decision": document["hookSpecificOutput"]["decision"]}


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        ({"verdict": "allow"}, {"behavior": "allow"}),
        ({"verdict": "allow", "reason": "fine"}, {"behavior": "allow"}),
        (
            {"verdict": "deny", "reason": "not é 😀 \x1b\ud83d"},
            {"behavior": "deny", "message": "not é 😀 \x1b\ud83d"},
        ),
        ({"verdict": "deny", "reason": "x" * 10_000}, {"behavior": "deny", "message": "x" * 10_000}),
        ({"verdict": "deny"}, {"behavior": "deny", "message": ask_hook.WITHOUT_A_REASON}),
        ({"verdict": "deny", "reason": 5}, {"behavior": "deny", "message": ask_hook.WITHOUT_A_REASON}),
    ],
)
def test_an_answer_is_told_in_the_words_of_the_client(tmp_path: Path, answer: Any, decision: Any) -> None:
    with asking(run_folder(tmp_path)) as hook:
        hook.reply(**answer)
        assert said(hook.ended()) == decision
    assert list((run_folder(tmp_path) / "asks").iterdir()) == []


def test_the_question_says_all_that_a_person_needs(tmp_path: Path) -> None:
    before = time.time() * 1000
    with asking(run_folder(tmp_path), wait_s=7.5) as hook:
        place = hook.question()
        asked = json.loads(place.read_bytes())
        at = asked.pop("at")
        assert before - 1 <= at <= time.time() * 1000
        assert asked == {
            "v": 1,
            "id": place.stem,
            "until": at + 7500,
            "pid": hook.process.pid,
            "session": SESSION,
            "thread": None,
            "cwd": "/home/dev",
            "mode": "default",
            "tool": "Bash",
            "input": ASKED["tool_input"],
            "suggestions": ASKED["permission_suggestions"],
        }
        modes = [stat.S_IMODE(path.stat().st_mode) for path in (place, place.parent)]
        assert modes == [0o600, 0o700]


def test_the_question_is_locked_as_long_as_it_waits(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook, hook.question().open("rb") as stream:
        with pytest.raises(BlockingIOError):
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        hook.process.kill()
        hook.process.wait()
        fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)


@pytest.mark.parametrize(
    ("call", "is_its_name"),
    [
        ("toolu_01-aZ", True),
        ("../../evil", False),
        ("a.answer", False),
        ("", False),
        ("x" * 65, False),
        (7, False),
    ],
)
def test_a_call_that_is_named_gives_the_question_its_name_if_that_is_no_path(
    tmp_path: Path, call: Any, is_its_name: bool
) -> None:
    with asking(run_folder(tmp_path), {**ASKED, "tool_use_id": call}) as hook:
        assert (hook.question().stem == call) is is_its_name
        assert hook.question().parent == run_folder(tmp_path) / "asks"


def test_the_same_call_asked_about_twice_is_two_questions(tmp_path: Path) -> None:
    folder = run_folder(tmp_path)
    payload = {**ASKED, "tool_use_id": "toolu_1"}
    with asking(folder, payload) as one:
        assert one.question().stem == "toolu_1"
        with asking(folder, payload):
            until = time.monotonic() + PATIENCE_S
            while len(names := sorted(path.stem for path in (folder / "asks").iterdir())) < 2:
                assert time.monotonic() < until
            assert "toolu_1" in names


def test_of_a_long_input_the_beginning_is_told_and_how_long_it_is(tmp_path: Path) -> None:
    given = {"command": "x" * 100_000}
    suggested = ["y" * 20_000]
    payload = {**ASKED, "tool_input": given, "permission_suggestions": suggested}
    with asking(run_folder(tmp_path), payload) as hook:
        asked = json.loads(hook.question().read_bytes())
    text = json.dumps(given)
    assert (asked["input"], asked["input_bytes"], asked["suggestions"]) == (text[: 64 << 10], len(text), None)


def test_when_the_time_is_over_nothing_is_said_and_the_question_is_gone(tmp_path: Path) -> None:
    began = time.monotonic()
    with asking(run_folder(tmp_path), wait_s=0.3) as hook:
        assert hook.ended() == SILENT
    assert 0.3 <= time.monotonic() - began < 10
    assert list((run_folder(tmp_path) / "asks").iterdir()) == []


def a_link(place: Path) -> None:
    put(place.with_name("elsewhere"), b'{"verdict":"allow"}')
    place.symlink_to(place.with_name("elsewhere"))


def a_folder(place: Path) -> None:
    place.mkdir()


def a_fifo(place: Path) -> None:
    os.mkfifo(place)


def written_by_anybody(place: Path) -> None:
    put(place, b'{"verdict":"allow"}', 0o622)


def somebody_elses(place: Path) -> None:
    aside = place.with_name("aside")
    aside.write_bytes(b'{"verdict":"allow"}')
    aside.chmod(0o600)
    os.chown(aside, 4711, 4711)
    aside.rename(place)


def garbage(place: Path) -> None:
    put(place, b'{"verdict":')


def no_verdict(place: Path) -> None:
    put(place, b'{"verdict":"always"}')


def no_object(place: Path) -> None:
    put(place, b'["allow"]')


def nested(place: Path) -> None:
    put(place, b"[" * 50_000)


@pytest.mark.parametrize(
    "make", [a_link, a_fifo, written_by_anybody, somebody_elses, garbage, no_verdict, no_object, nested]
)
def test_what_is_no_answer_of_our_own_user_decides_nothing(tmp_path: Path, make: Any) -> None:
    if make is somebody_elses and os.geteuid():
        pytest.skip("only root can give files away")
    with asking(run_folder(tmp_path)) as hook:
        place = hook.question()
        answer = place.with_name(f"{place.stem}.answer.json")
        make(answer)
        until = time.monotonic() + PATIENCE_S
        while os.path.lexists(answer) and time.monotonic() < until:
            time.sleep(0.01)
        assert hook.process.poll() is None
        hook.reply(verdict="deny", reason="really")
        assert said(hook.ended()) == {"behavior": "deny", "message": "really"}


def test_a_folder_in_the_place_of_the_answer_decides_nothing(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path), wait_s=0.5) as hook:
        place = hook.question()
        a_folder(place.with_name(f"{place.stem}.answer.json"))
        assert hook.ended() == SILENT


def test_an_answer_that_was_told_is_marked_for_who_holds_it_open(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook:
        place = hook.question()
        answer = place.with_name(f"{place.stem}.answer.json")
        aside = place.with_name("aside.new.json")
        aside.write_bytes(b'{"verdict":"allow"}')
        aside.chmod(0o600)
        with aside.open("rb") as stream:
            aside.rename(answer)
            assert said(hook.ended()) == {"behavior": "allow"}
            assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == 0o400


def test_the_question_ends_with_its_folder(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path), wait_s=600) as hook:
        hook.question().unlink()
        (hook.folder / "asks").rmdir()
        hook.folder.rmdir()
        assert hook.ended() == SILENT


def test_the_question_ends_when_nobody_would_hear_the_answer(tmp_path: Path) -> None:
    """A client that was killed."""
    with asking(run_folder(tmp_path), wait_s=600) as hook:
        hook.question()
        assert hook.process.stdout is not None
        hook.process.stdout.close()
        hook.process.stdout = None
        assert hook.process.wait(PATIENCE_S) == 0
    assert list((run_folder(tmp_path) / "asks").iterdir()) == []


def test_the_question_ends_when_the_client_gives_up(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path)) as hook:
        hook.question()
        hook.process.send_signal(signal.SIGTERM)
        assert hook.ended() == SILENT
    assert list((run_folder(tmp_path) / "asks").iterdir()) == []


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"hello",
        b"[]",
        b'{"hook_event_name": "PreToolUse", "tool_name": "Bash"}',
        b'{"hook_event_name": "PermissionRequest", "tool_input": ' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"hook_event_name": "PermissionRequest", "tool_input": "' + b"x" * (17 << 20) + b'"}',
    ],
    ids=lambda payload: repr(payload[:60]),  # a name that long would be no environment for a process
)
def test_what_is_no_request_for_a_permission_is_not_asked(tmp_path: Path, payload: bytes) -> None:
    with asking(run_folder(tmp_path), payload) as hook:
        assert hook.ended() == SILENT
    assert list(run_folder(tmp_path).iterdir()) == []


@pytest.mark.parametrize("wait", ["nan", "inf", "-1", "soon", ""])
def test_without_an_end_of_waiting_nothing_is_asked(tmp_path: Path, wait: str) -> None:
    argv = [
        sys.executable,
        "-I",
        "-S",
        ask_hook.__file__,
        "--folder",
        str(run_folder(tmp_path)),
        "--wait",
        wait,
    ]
    done = subprocess.run(argv, input=json.dumps(ASKED).encode(), capture_output=True, timeout=PATIENCE_S)
    assert (done.returncode, done.stdout, done.stderr) == SILENT
    assert list(run_folder(tmp_path).iterdir()) == []


def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with asking(tmp_path / "gone") as hook:
        assert hook.ended() == SILENT
    assert list(tmp_path.iterdir()) == []


def test_what_was_asked_stands_in_the_spool_before_it_is_answered(tmp_path: Path) -> None:
    with asking(run_folder(tmp_path), home=tmp_path) as hook:
        hook.question()
        (line,) = (tmp_path / "spool/hooks.jsonl").read_bytes().splitlines()
        told = json.loads(line)
        assert told.pop("at") == json.loads(hook.question().read_bytes())["at"]
        assert told == {
            "v": 1,
            "agent": "claude",
            "pid": hook.process.pid,
            "ppid": os.getpid(),
            "payload": ASKED,
        }


def test_a_spool_that_cannot_be_written_keeps_nobody_from_asking(tmp_path: Path) -> None:
    (tmp_path / "spool").write_bytes(b"")
    with asking(run_folder(tmp_path), home=tmp_path) as hook:
        hook.reply(verdict="allow")
        assert said(hook.ended()) == {"behavior": "allow"}


def test_nothing_is_left_beside_the_program(tmp_path: Path) -> None:
    """Bytecode that is cut off by a full disk would spoil every later import."""
    for name in ("hook.py", "ask_hook.py"):
        (tmp_path / name).write_bytes(Path(ask_hook.__file__).with_name(name).read_bytes())
    argv = [sys.executable, "-I", "-S", str(tmp_path / "ask_hook.py"), "--folder", "/nowhere", "--wait", "1"]
    assert subprocess.run(argv, input=b"{}", timeout=PATIENCE_S).returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ask_hook.py", "hook.py"]
