from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.views.cli.command import (
    both_agents,
    command,
    environment,
    on_a_terminal,
    tracklog,
    transcript_in,
    user_line,
    write,
)

HEAVY = (
    "msgspec",
    "rich",
    "zstandard",
    "platformdirs",
    "tracklog.agents.registry",
    "tracklog.agents.reader",
    "tracklog.reading",
    "tracklog.index",
)


def loaded_by(*arguments: str | Path, home: Path) -> set[str]:
    """The heavy modules that a run of the command imports."""
    code = (
        "import json, sys\n"
        "from tracklog.views.cli.click_app import run\n"
        f"run({[str(one) for one in arguments]!r})\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment(home), capture_output=True, check=True, timeout=60
    )
    modules = json.loads(done.stderr.splitlines()[-1])
    return {heavy for heavy in HEAVY for name in modules if name == heavy or name.startswith(f"{heavy}.")}


def test_help_names_every_command_and_loads_none_of_them(tmp_path: Path) -> None:
    answer = tracklog("--help", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    for name in (
        "sessions",
        "show",
        "final",
        "calls",
        "agents",
        "graph",
        "places",
        "path",
        "records",
        "verify",
        "doctor",
        "demo",
    ):
        assert f"\n  {name} " in answer.out
    assert loaded_by("--help", home=tmp_path) == set()


def test_places_and_path_open_no_log_of_a_home_and_load_no_reader(tmp_path: Path) -> None:
    both_agents(tmp_path)
    assert loaded_by("path", "@last", home=tmp_path) == set()
    assert loaded_by("places", "--json", home=tmp_path) == set()


def test_the_version_is_the_package_s(tmp_path: Path) -> None:
    assert tracklog("--version", home=tmp_path) == (0, "tracklog 0.1.0\n", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nonsense"], "tracklog: No such command 'nonsense'. Try 'tracklog --help'.\n"),
        (["path"], "tracklog: Missing argument 'SESSION'. Try 'tracklog path --help'.\n"),
    ],
)
def test_wrong_use_is_one_line_on_stderr_and_exit_2(tmp_path: Path, arguments: list[str], said: str) -> None:
    assert tracklog(*arguments, home=tmp_path) == (2, "", said)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["verify", "absent"], "cannot read absent: does not exist"),
        (["verify", "a\x1b[31m\nb"], "cannot read a\\x1b[31m\\nb: does not exist"),
        (["verify", "dangling"], "cannot read dangling: does not exist"),
        (["verify", "--root", "typo", "--json"], "cannot read typo: does not exist"),
        (["doctor", "--root", "typo"], "cannot read typo: does not exist"),
        (["places", "--root", "typo", "--json"], "cannot read typo: does not exist"),
        (["--root", "typo"], "cannot read typo: does not exist"),
        (["records", "@last", "--root", "typo"], "cannot read typo: does not exist"),
    ],
)
def test_what_is_not_there_is_one_line_on_stderr_and_exit_1(
    tmp_path: Path, arguments: list[str], said: str
) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    assert tracklog(*arguments, home=tmp_path) == (1, "", f"tracklog: {said}\n")


def test_options_before_a_command_are_its_defaults(tmp_path: Path) -> None:
    both_agents(tmp_path / "there")
    empty = tmp_path / "empty"
    empty.mkdir()
    before = tracklog("--json", "--root", tmp_path / "there" / ".codex", "places", home=empty)
    behind = tracklog("places", "--json", "--root", tmp_path / "there" / ".codex", home=empty)
    assert before == behind
    assert [place["agent"] for place in before.json["places"]] == ["codex"]
    nearer = tracklog(
        "--root", empty, "places", "--json", "--root", tmp_path / "there" / ".codex", home=empty
    )
    assert nearer == before


def test_a_reader_that_closes_the_pipe_ends_the_command_in_silence(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line() * 20_000)
    with subprocess.Popen(
        command("records", log), env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout
        assert started.stderr
        first = started.stdout.readline()
        started.stdout.close()
        assert (first.split()[:3], started.wait(60), started.stderr.read()) == (
            [b"1", b"287", b"read"],
            0,
            b"",
        )


SESSION_COMMANDS = ["sessions", "show @last", "calls", "agents @last", "graph @last"]


@pytest.mark.parametrize("words", ["doctor", "places", "verify", "demo", "path @last", "", *SESSION_COMMANDS])
def test_a_pipe_that_is_closed_from_the_start_is_no_failure(tmp_path: Path, words: str) -> None:
    both_agents(tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command(*words.split()), env=environment(tmp_path), stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", ["doctor", "places --json", "records @last", "path @last", "--help", ""])
@pytest.mark.parametrize(
    ("where", "why"), [(">&-", "stdout is closed"), (">/dev/full", "no space left on device")]
)
def test_an_answer_that_cannot_be_written_is_one_line_and_exit_1(
    tmp_path: Path, words: str, where: str, why: str
) -> None:
    both_agents(tmp_path)
    shell = ["/bin/sh", "-c", f'exec "$@" {where}', "sh", *command(*words.split())]
    done = subprocess.run(shell, env=environment(tmp_path), capture_output=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.decode() == f"tracklog: cannot write the answer: {why}\n"


def test_without_stderr_the_answer_is_the_same(tmp_path: Path) -> None:
    both_agents(tmp_path)
    shell = ["/bin/sh", "-c", 'exec "$@" 2>&-', "sh", *command("path", "nosuch", "--json")]
    done = subprocess.run(shell, env=environment(tmp_path), stdout=subprocess.PIPE, timeout=60)
    assert (done.returncode, json.loads(done.stdout)["exists"]) == (1, False)


def test_an_interrupt_ends_with_130_and_one_line(tmp_path: Path) -> None:
    log = write(transcript_in(tmp_path), user_line() * 50_000)
    with subprocess.Popen(
        command("records", log), env=environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as started:
        assert started.stdout
        started.stdout.readline()  # it has begun, and now waits for us to read on
        os.kill(started.pid, signal.SIGINT)
        _, said = started.communicate(timeout=60)
        assert (started.returncode, said) == (130, b"tracklog: interrupted\n")


def test_a_terminal_without_utf_8_gets_escapes_in_place_of_an_error(tmp_path: Path) -> None:
    both_agents(tmp_path)
    answer = tracklog("doctor", home=tmp_path, env={"PYTHONIOENCODING": "ascii"})
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("\\u2713  homes")


def test_colour_is_on_the_terminal_unless_no_color_says_otherwise(tmp_path: Path) -> None:
    both_agents(tmp_path)
    assert "\x1b[" in on_a_terminal("doctor", home=tmp_path)
    assert "\x1b" not in on_a_terminal("doctor", home=tmp_path, env={"NO_COLOR": "1"})
    assert "\x1b" not in tracklog("doctor", home=tmp_path).out


@pytest.mark.parametrize(
    "words", ["doctor", "verify", "places", "records @last", "demo", "", *SESSION_COMMANDS]
)
def test_no_line_is_wider_than_a_terminal_of_80_columns(tmp_path: Path, words: str) -> None:
    both_agents(tmp_path)
    write(
        transcript_in(tmp_path, "log-" + "x" * 150 + ".jsonl"),
        user_line(strange=1) + b'{"type":"' + b"k" * 99 + b'"}\n',
    )
    shown = on_a_terminal(*words.split(), home=tmp_path, env={"NO_COLOR": "1"})
    commands = ("  tracklog ", "The sample home is in")  # never broken: they are there to be copied
    assert [line for line in shown.splitlines() if len(line) > 80 and not line.startswith(commands)] == []


def test_a_shell_can_complete_the_names_of_commands(tmp_path: Path) -> None:
    env = {"_TRACKLOG_COMPLETE": "bash_complete", "COMP_WORDS": "tracklog pl", "COMP_CWORD": "1"}
    assert tracklog(home=tmp_path, env=env).out == "plain,places\n"
