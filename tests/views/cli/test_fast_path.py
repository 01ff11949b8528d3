"""Plain questions are answered without click, and in the same words as with it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.views.cli.command import (
    both_agents,
    environment,
    tracklog,
    transcript_in,
    user_line,
    with_old_folders,
    write,
)
from tracklog.views.cli.fast_path import quick_work

PLAIN = (
    ("index",),
    ("index", "--json"),
    ("usage",),
    ("usage", "--json"),
    ("usage", "daily"),
    ("usage", "monthly", "--json"),
    ("usage", "model", "--json"),
)


def reply_line() -> bytes:
    usage = {"input_tokens": 10, "output_tokens": 20}
    message = {"id": "msg_01", "role": "assistant", "model": "claude-opus-4-5", "content": [], "usage": usage}
    line = {"type": "assistant", "uuid": "a", "timestamp": "2026-03-01T10:00:00.000Z", "message": message}
    return json.dumps(line).encode() + b"\n"


def loaded_by(*arguments: str, home: Path) -> set[str]:
    code = (
        "import json, os, sys\n"
        "from tracklog.views.cli.main import main\n"
        "leave = os._exit\n"
        "def tell(code):\n"
        "    print(json.dumps(sorted(sys.modules)), file=sys.stderr, flush=True)\n"
        "    leave(code)\n"
        "os._exit = tell\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment(home),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def without_times(text: str) -> str:
    return re.sub(r'("seconds": )[\d.]+', r"\1", text)


@pytest.mark.parametrize("arguments", PLAIN, ids=" ".join)
def test_a_plain_question_has_the_same_answer_as_through_click(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    home = both_agents(tmp_path)
    write(transcript_in(home), user_line() + reply_line())
    ours = tmp_path / "ours"
    env = {"TRACKLOG_HOME": str(ours)}
    tracklog("usage", "session", home=home, env=env)
    tracklog("index", home=home, env=env)
    assert quick_work(arguments) is not None
    quick = tracklog(*arguments, home=home, env=env)
    through_click = tracklog(*arguments, "--home", ours, home=home)
    assert (quick.code, quick.err) == (0, "")
    assert without_times(quick.out) == without_times(through_click.out)


def test_where_nothing_is_new_neither_click_nor_a_reader_is_loaded(tmp_path: Path) -> None:
    home = with_old_folders(both_agents(tmp_path))
    tracklog("index", home=home)
    loaded = loaded_by("index", home=home)
    assert {"click", "dataclasses", "msgspec", "rich", "tracklog.index.sync"} & loaded == set()


def test_tokens_out_of_the_index_need_no_click_and_no_reader(tmp_path: Path) -> None:
    home = with_old_folders(both_agents(tmp_path))
    tracklog("index", home=home)
    tracklog("usage", home=home)
    loaded = loaded_by("usage", "--json", home=home)
    assert {"click", "rich", "tracklog.index.sync", "tracklog.sources.folders"} & loaded == set()


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("index", "--full"),
        ("index", "--json", "--json"),
        ("usage", "daily", "daily"),
        ("usage", "session"),
        ("usage", "--help"),
        ("usage", "--csv"),
        ("sessions",),
    ],
    ids=" ".join,
)
def test_everything_else_is_for_click(arguments: tuple[str, ...]) -> None:
    assert quick_work(arguments) is None


def test_shell_completion_is_for_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_TRACKLOG_COMPLETE", "bash_complete")
    assert quick_work(["index"]) is None
