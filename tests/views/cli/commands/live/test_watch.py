from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests import fork_server
from tests.live.live_home import ONE, LiveHome, a_process
from tests.views.cli.command import environment, tracklog

LIMIT_S = 60.0


@contextmanager
def running(home: LiveHome, *arguments: str | Path, tmp_path: Path) -> Iterator[fork_server.Process]:
    words = [*map(str, (*arguments, "--root", home.path, "--home", home.ours))]
    with fork_server.start(words, env=environment(tmp_path), cwd=tmp_path) as process:
        try:
            yield process
        finally:
            process.terminate()


def next_rows(process: fork_server.Process, n: int) -> list[dict[str, Any]]:
    assert process.stdout is not None
    return [json.loads(process.stdout.readline()) for _ in range(n)]


def until_it_watches(home: LiveHome) -> None:
    """Waits for what a watch notes when it has looked at everything: what comes from then on is news."""
    deadline = time.monotonic() + LIMIT_S
    while not list((home.ours / "live").glob("*/before.json")):
        assert time.monotonic() < deadline, "nobody watches"
        time.sleep(0.02)


def test_events_come_as_json_lines_with_growing_numbers(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    with running(home, "watch", "--json", tmp_path=tmp_path) as process:
        until_it_watches(home)
        home.prompt("fix it")
        rows = next_rows(process, 3)
    assert [row["event"] for row in rows] == ["session_seen", "prompt_given", "state_changed"]
    assert [row["n"] for row in rows] == [1, 2, 3]
    assert (rows[1]["session"], rows[1]["agent"], rows[1]["thread"], rows[1]["line"]) == (
        ONE,
        "claude",
        "main",
        1,
    )


def test_a_script_waits_until_a_session_is_idle(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("fix it")
    with running(home, "watch", "--until", "idle", "1111", tmp_path=tmp_path) as process:
        until_it_watches(home)
        assert process.poll() is None
        home.reply("Done.")
        assert process.wait(LIMIT_S) == 0


def test_who_waits_for_what_cannot_come_any_more_ends_with_1(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    process = a_process()
    home.prompt("fix it")
    home.register(process.pid, "busy")
    process.kill()
    process.wait()
    answer = tracklog(
        "watch", "--until", "idle", ONE, "--root", home.path, "--home", home.ours, home=tmp_path
    )
    assert (answer.code, answer.err) == (1, "tracklog: the session has crashed\n")


def is_whole(told: Path) -> bool:
    return told.exists() and told.read_text().rstrip().endswith("}")


def test_a_program_gets_the_event_as_data_and_never_through_a_shell(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    told = tmp_path / "told"
    script = tmp_path / "note.py"
    script.write_text(
        "import sys, pathlib\n"
        "pathlib.Path(sys.argv[1]).write_text(repr(sys.argv[2:]) + '\\n' + sys.stdin.read())\n"
    )
    words = f"{sys.executable} {script} {told} {{event}} {{session}} '; touch {tmp_path}/hacked'"
    with running(
        home, "watch", "--json", "--event", "prompt_given", "--exec", words, tmp_path=tmp_path
    ) as process:
        until_it_watches(home)
        home.prompt("$(touch hacked) `id`")
        next_rows(process, 1)
        deadline = time.monotonic() + LIMIT_S
        while not is_whole(told) and time.monotonic() < deadline:
            time.sleep(0.02)
    arguments, document = told.read_text().split("\n", 1)
    assert arguments == repr(["prompt_given", ONE, f"; touch {tmp_path}/hacked"])
    assert json.loads(document)["text"] == "$(touch hacked) `id`"
    assert not (tmp_path / "hacked").exists()


def test_wait_prints_the_answer_when_the_turn_has_ended(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("fix it")
    home.register(os.getpid(), "busy")
    with running(home, "wait", ONE, tmp_path=tmp_path) as process:
        time.sleep(
            0.5
        )  # a wait that begins later sees the end of the turn at once: the test cannot fail by it
        assert process.poll() is None
        home.reply("All is well.")
        home.register(os.getpid(), "idle")
        out, err = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, out, err) == (0, b"All is well.\n", b"")


def test_wait_takes_the_words_of_the_stop_hook_while_the_log_lags_behind(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("fix it")
    home.hook("UserPromptSubmit", prompt="fix it")
    home.hook("Stop", last_assistant_message="Fixed, but not yet written.")
    answer = tracklog("wait", ONE, "--json", "--root", home.path, "--home", home.ours, home=tmp_path)
    assert answer.code == 0
    assert (answer.json["text"], answer.json["source"]) == ("Fixed, but not yet written.", "stop_payload")
    home.reply("Fixed, but not yet written.")
    answer = tracklog("wait", ONE, "--json", "--root", home.path, "--home", home.ours, home=tmp_path)
    assert (answer.json["text"], answer.json["source"]) == ("Fixed, but not yet written.", "log")


def test_wait_gives_up_when_its_time_is_over(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("fix it")
    home.register(os.getpid(), "busy")
    answer = tracklog("wait", ONE, "--timeout", "1", "--root", home.path, "--home", home.ours, home=tmp_path)
    assert (answer.code, answer.err) == (124, "tracklog: still working after 1 s\n")


def test_a_session_that_is_not_there_is_said(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    for name in ("watch", "wait"):
        answer = tracklog(name, "9999", "--root", home.path, "--home", home.ours, home=tmp_path)
        assert (answer.code, answer.out) == (1, "")
        assert "no session 9999" in answer.err


def test_until_without_a_session_is_wrong_use(tmp_path: Path) -> None:
    answer = tracklog("watch", "--until", "idle", home=tmp_path)
    assert answer.code == 2
    assert "needs a SESSION" in answer.err


def test_wait_does_not_take_an_earlier_answer_for_that_of_an_interrupted_turn(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("one")
    home.reply("The first answer.")
    home.prompt("two")
    home.line(
        type="user",
        message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]},
    )
    answer = tracklog("wait", ONE, "--root", home.path, "--home", home.ours, home=tmp_path)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "tracklog: the turn ended without an answer\n"


def test_an_empty_name_is_wrong_use(tmp_path: Path) -> None:
    home = LiveHome(tmp_path / "claude")
    home.prompt("one")
    answer = tracklog("wait", "", "--root", home.path, "--home", home.ours, home=tmp_path)
    assert (answer.code, answer.err) == (2, "tracklog: which session? its name is empty\n")
