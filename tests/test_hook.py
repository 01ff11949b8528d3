"""The hook that agents call: one line in the spool, exit code 0, nothing printed, whatever happens."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
import termios
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tracklog import hook

TOLD = {
    "hook_event_name": "Stop",
    "session_id": "s1",
    "last_assistant_message": "All done. é 日本 😀",
}
SILENT = (0, b"", b"")


def called(
    home: Path, stdin: bytes = b"", *words: str, flags: Iterable[str] = ("-I", "-S"), **how: Any
) -> tuple[int, bytes, bytes]:
    """How a call ended, and what it printed."""
    argv = [sys.executable, *flags, hook.__file__, "--home", str(home), *words]
    done = subprocess.run(argv, input=stdin, capture_output=True, timeout=60, **how)
    return done.returncode, done.stdout, done.stderr


def spooled(home: Path) -> list[dict[str, Any]]:
    lines = (home / "spool/hooks.jsonl").read_bytes().splitlines()
    return [json.loads(line) for line in lines if line]


def test_a_payload_becomes_one_line(tmp_path: Path) -> None:
    before = time.time() * 1000
    assert called(tmp_path, json.dumps(TOLD).encode(), "--agent", "claude") == SILENT
    (line,) = spooled(tmp_path)
    assert before - 1 <= line.pop("at") <= time.time() * 1000
    assert line.pop("pid") > 0
    assert line == {"v": 1, "agent": "claude", "ppid": os.getpid(), "payload": TOLD}


def test_the_payload_stays_as_it_came_but_for_newlines(tmp_path: Path) -> None:
    told = b'\xef\xbb\xbf\n{ "b": 1.50,\r\n  "a": 1e400, "a": "\\ud83d", "c": 123456789012345678901234567890 }\n\n'
    assert called(tmp_path, told) == SILENT
    line = (tmp_path / "spool/hooks.jsonl").read_bytes()
    payload = b'{ "b": 1.50,    "a": 1e400, "a": "\\ud83d", "c": 123456789012345678901234567890 }'
    assert line.endswith(b',"payload":' + payload + b"}\n")
    assert line.count(b"\n") == 1


@pytest.mark.parametrize(
    ("said", "ppid"), [("4410", 4410), ("", None), ("x", None), ("-1", None), ("²", None), ("9" * 5000, None)]
)
def test_the_shell_in_between_tells_who_ran_it(tmp_path: Path, said: str, ppid: int | None) -> None:
    assert called(tmp_path, b"{}", env={"TRACKLOG_PPID": said}) == SILENT
    assert spooled(tmp_path)[0]["ppid"] == (ppid or os.getpid())


def test_an_agent_that_we_do_not_know_is_none(tmp_path: Path) -> None:
    assert called(tmp_path, b"{}", "--agent", 'x","evil":"') == SILENT
    assert called(tmp_path, b"{}", "--agent", "codex", "--later-option") == SILENT
    assert [line["agent"] for line in spooled(tmp_path)] == [None, "codex"]


def test_what_codex_gives_as_an_argument_is_spooled_too(tmp_path: Path) -> None:
    told = {"type": "agent-turn-complete", "thread-id": "t", "last-assistant-message": "Done."}
    words = ("--agent", "codex", "--notify", json.dumps(told))
    assert called(tmp_path, b"not this", *words) == SILENT
    (line,) = spooled(tmp_path)
    assert (line["agent"], line["via"], line["payload"]) == ("codex", "notify", told)


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"hello",
        b"[1, 2]",
        b'"text"',
        b'{"a": ',
        b'{"a": 1} {"b": 2}',
        b'{"a": 1}, "agent": "codex", "payload": {"b": 2}',
        b'{"a": "\n"}',
        b"{'a': 1}",
        b'{"a": "\xff\xfe"}',
        b"\0\0\0",
        b'{"a":' * 100_000,
        b'{"a":' + b"[" * 5000 + b"]" * 5000 + b"}",
    ],
    ids=lambda garbage: repr(garbage[:40]),  # a name that long would be no environment for a process
)
def test_what_is_no_object_is_kept_as_garbage(tmp_path: Path, garbage: bytes) -> None:
    assert called(tmp_path, garbage) == SILENT
    (line,) = spooled(tmp_path)
    assert "payload" not in line
    assert line["n_bytes"] == len(garbage)
    assert line["garbage"] == garbage[: 64 << 10].decode("utf-8", "replace")


def test_of_a_huge_payload_the_head_is_kept_and_its_writer_is_not_cut_off(tmp_path: Path) -> None:
    told = b'{"a":"' + b"x" * (17 << 20) + b'"}'
    assert called(tmp_path, told) == SILENT
    (line,) = spooled(tmp_path)
    assert (line["n_bytes"], line["garbage"]) == (len(told), told[: 64 << 10].decode())


def test_a_large_payload_is_one_line(tmp_path: Path) -> None:
    told = {"tool_input": {"content": "é" * (7 << 20)}}
    assert called(tmp_path, json.dumps(told, ensure_ascii=False).encode()) == SILENT
    assert [line["payload"] for line in spooled(tmp_path)] == [told]


def test_folder_and_file_are_for_us_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert called(home, b"{}", umask=0) == SILENT
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (home, home / "spool", home / "spool/hooks.jsonl")]
    assert modes == [0o700, 0o700, 0o600]


def test_a_line_that_was_cut_off_does_not_spoil_the_next(tmp_path: Path) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool/hooks.jsonl").write_bytes(b'{"v":1,"at":1,"pay')
    assert called(tmp_path, b'{"a":1}') == SILENT
    wreck, line = (tmp_path / "spool/hooks.jsonl").read_bytes().splitlines()
    assert (wreck, json.loads(line)["payload"]) == (b'{"v":1,"at":1,"pay', {"a": 1})


def test_stdin_that_is_closed_is_garbage_of_nothing(tmp_path: Path) -> None:
    argv = f'exec "$0" -I -S "{hook.__file__}" --home "{tmp_path}" <&- >&- 2>&-'
    assert subprocess.run(["/bin/sh", "-c", argv, sys.executable], timeout=20).returncode == 0
    assert [(line["garbage"], line["n_bytes"]) for line in spooled(tmp_path)] == [("", 0)]


def test_who_says_nothing_is_not_waited_for(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    began = time.monotonic()
    argv = [sys.executable, "-I", "-S", hook.__file__, "--home", str(tmp_path)]
    os.write(writing, b'{"a":1}')
    process = subprocess.Popen(argv, stdin=reading, stdout=subprocess.PIPE)
    assert (process.communicate(timeout=30)[0], process.returncode) == (b"", 0)
    os.close(reading)
    os.close(writing)
    assert time.monotonic() - began < 15
    assert spooled(tmp_path)[0]["payload"] == {"a": 1}


def test_without_a_home_nothing_is_done(tmp_path: Path) -> None:
    for words in ([], ["--home"], ["--agent", "claude"]):
        argv = [sys.executable, "-I", "-S", hook.__file__, *words]
        done = subprocess.run(argv, input=b"{}", capture_output=True, cwd=tmp_path, timeout=20)
        assert (done.returncode, done.stdout, done.stderr) == SILENT
    assert list(tmp_path.iterdir()) == []


def directory_as_spool(home: Path) -> None:
    (home / "spool/hooks.jsonl").mkdir(parents=True)


def fifo_as_spool(home: Path) -> None:
    (home / "spool").mkdir()
    os.mkfifo(home / "spool/hooks.jsonl")


def link_as_spool(home: Path) -> None:
    (home / "spool").mkdir()
    (home / "elsewhere").write_bytes(b"mine\n")
    (home / "spool/hooks.jsonl").symlink_to(home / "elsewhere")


def device_as_spool(home: Path) -> None:
    (home / "spool").symlink_to("/dev")


def file_as_folder(home: Path) -> None:
    (home / "spool").write_bytes(b"")


def no_parent(home: Path) -> None:
    home.rmdir()
    home.parent.chmod(0o500)


@pytest.mark.parametrize(
    "make", [directory_as_spool, fifo_as_spool, link_as_spool, device_as_spool, file_as_folder, no_parent]
)
def test_a_spool_that_cannot_be_written_is_nobodys_trouble(tmp_path: Path, make: Any) -> None:
    home = tmp_path / "a" / "home"
    home.mkdir(parents=True)
    make(home)
    assert called(home, b"{}") == SILENT
    home.parent.chmod(0o700)
    if make is link_as_spool:
        assert (home / "elsewhere").read_bytes() == b"mine\n"


def test_a_full_disk_is_nobodys_trouble(tmp_path: Path) -> None:
    """A limit on the size of files fails as a full disk does: in the middle of a write."""
    assert called(tmp_path, b'{"a":1}') == SILENT
    script = f'ulimit -f 1; exec "$0" -I -S "{hook.__file__}" --home "{tmp_path}"'
    told = b'{"b":"' + b"x" * 4000 + b'"}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable], input=told, capture_output=True, timeout=20
    )
    assert (done.returncode, done.stdout, done.stderr) == SILENT
    assert called(tmp_path, b'{"c":1}') == SILENT
    lines = (tmp_path / "spool/hooks.jsonl").read_bytes().splitlines()
    assert [json.loads(lines[0])["payload"], json.loads(lines[-1])["payload"]] == [{"a": 1}, {"c": 1}]


def n_unread(pipe: int) -> int:
    """How many bytes lie in a pipe."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_a_signal_to_the_whole_group_is_not_answered(tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-S", hook.__file__, "--home", str(tmp_path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, bufsize=0)
    assert process.stdin is not None
    process.stdin.write(b"{")
    until = time.monotonic() + 60
    while n_unread(process.stdin.fileno()):  # when it has read this, it waits for more
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == SILENT


def test_paths_in_a_payload_are_never_opened(tmp_path: Path) -> None:
    fifo = tmp_path / "trap"
    os.mkfifo(fifo)  # whoever opened this would wait for ever
    told = {key: str(fifo) for key in ("transcript_path", "cwd", "agent_transcript_path", "file_path")}
    assert called(tmp_path / "home", json.dumps(told).encode()) == SILENT
    assert spooled(tmp_path / "home")[0]["payload"] == told
    assert sorted(path.name for path in tmp_path.iterdir()) == ["home", "trap"]


def test_many_at_once_are_all_spooled_each_once(tmp_path: Path) -> None:
    told = [json.dumps({"n": n, "pad": "x" * (n % 7) * 9000}).encode() for n in range(60)]
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda one: called(tmp_path, one), told)) == {SILENT}
    assert sorted(line["payload"]["n"] for line in spooled(tmp_path)) == list(range(60))


def test_who_makes_the_folders_later_than_another_hook_still_spools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of sixty calls at once the first was lost: two saw no folder, and one of them made it."""
    (tmp_path / "spool").mkdir()
    monkeypatch.setattr(os.path, "isdir", lambda _: False)
    hook.append(str(tmp_path), b"{}\n")
    assert (tmp_path / "spool/hooks.jsonl").read_bytes() == b"{}\n"


def test_it_loads_next_to_nothing(tmp_path: Path) -> None:
    """What Python itself loads, and `select`: `json` alone would take as long as all of the rest."""
    argv = [sys.executable, "-I", "-S", "-X", "importtime", hook.__file__, "--home", str(tmp_path)]
    done = subprocess.run(argv, input=b"{}", capture_output=True, timeout=20)
    loaded = {line.rpartition(b"|")[2].strip() for line in done.stderr.splitlines()}
    assert {b"select", b"_json"} <= loaded
    assert not loaded & {b"json", b"re", b"enum", b"typing", b"site", b"signal"}


def test_the_flags_are_a_matter_of_speed_alone(tmp_path: Path) -> None:
    assert called(tmp_path, b"{}", flags=()) == SILENT
    assert len(spooled(tmp_path)) == 1
