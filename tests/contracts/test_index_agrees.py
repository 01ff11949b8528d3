"""What the index answers is what the logs say: the same documents, letter by letter."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from bench.make_logs import make_logs
from tests.model.translate.codex_log import act, event, item, meta
from tests.views.cli.command import ONE, TWO, transcript_in, write
from tests.views.cli.written import Log, tool, working_day
from tracklog.app.demo import write_sample
from tracklog.views.cli.click_app import app

THREE = "33333333-cccc-4ccc-8ccc-333333333333"
FOUR = "01a00000-0000-7000-8000-000000000004"
QUESTIONS = [
    "sessions",
    "sessions --json",
    "sessions --json --limit 2",
    "sessions --json --since 2026-03-01 --until 2026-03-02",
    "sessions --json --project project",
    "sessions --json --model opus --agent claude",
    "calls",
    "calls --json",
    "calls --json --limit 3",
    "calls --json --agent codex",
    "calls --json --verdict error --verdict lost",
    "calls --json --tool Bash --model opus --since 2026-03-01",
    "calls --json --slow --limit 5",
    "calls --slow 1",
    "usage --json",
    "usage session --json",
    "usage model --json",
    "usage project --json",
]
Make = Callable[[Path], Sequence[Path]]


def demo(folder: Path) -> Sequence[Path]:
    return write_sample(folder).roots


def made(folder: Path) -> Sequence[Path]:
    make_logs(folder, n_bytes=600_000, seed=7)
    return [folder / "claude", folder / "codex"]


def written(folder: Path) -> Sequence[Path]:
    """A fork, a subagent, a torn line, calls without ids and with the same, odd names, and what only Codex does."""
    working_day().write_in(folder)
    fork = working_day()
    for line in fork.lines:
        line["sessionId"] = TWO
    fork.prompt("Go on, in a fork.", sessionId=TWO).answer("msg_f", tool("t_f", "Bash", command="ls"))
    fork.write(transcript_in(folder, f"{TWO}.jsonl"))
    odd = Log(THREE, cwd="/srv/日本/proj\udcff").prompt("Go.")
    odd.answer(
        "msg_a", tool("", "Bash", command="echo 1"), tool("", "Write", content="x" * 500), stop="tool_use"
    )
    odd.answer("msg_b", tool("same", "Bash", command="a" * 400), stop="tool_use").result("same", "x")
    odd.answer("msg_c", tool("same", "Grep", pattern="b", path="/srv/日本"), stop="tool_use")
    odd.result("same", "y", is_error=True, report={"durationMs": 10**30})
    write(transcript_in(folder, f"{THREE}.jsonl"), odd.content + b'{"type":"user","mess\n{"type":"new"}\n')
    lines = [
        meta(id=FOUR, cwd="/work"),
        event("web_search_end", call_id="ws_1", query="x", action={"type": "search", "query": "x"}),
        item("web_search_call", status="completed", action={"type": "search", "query": "x"}),
        item("web_search_call", status="completed", action={"type": "search", "query": "y"}),
        item("custom_tool_call", name="exec", input="await tools.exec_command()", call_id="c1"),
        act(
            "CommandExecution",
            "exec-1",
            thread=FOUR,
            command=["ls"],
            cwd="file:///work",
            status="failed",
            exit_code=3,
        ),
        item("custom_tool_call_output", call_id="c1", output="Script completed\nOutput:\n"),
    ]
    name = f"sessions/2026/03/01/rollout-2026-03-01T17-24-42-{FOUR}.jsonl"
    write(folder / ".codex" / name, b"".join(json.dumps(line).encode() + b"\n" for line in lines))
    return [folder / ".claude", folder / ".codex"]


def asked(question: str, roots: Sequence[Path], home: Path) -> Result:
    """What a command answers, in this process: its stdout and how it ended."""
    where = [word for root in roots for word in ("--root", str(root))]
    env = {"HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "no"), "CODEX_HOME": str(home / "no")}
    return CliRunner().invoke(app, [*question.split(), *where, "--home", str(home)], env=env)


def answer(question: str, roots: Sequence[Path], home: Path) -> str:
    done = asked(question, roots, home)
    assert done.exception is None, done
    return done.stdout


def index(roots: Sequence[Path], home: Path) -> Path:
    answer("index", roots, home)
    return home


@pytest.fixture(scope="module", params=[demo, made, written])
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Sequence[Path], Path, Path]:
    """Logs, a home without an index, and one with it."""
    make: Make = request.param
    folder = tmp_path_factory.mktemp(make.__name__)
    roots = make(folder / "logs")
    return roots, folder / "without", index(roots, folder / "with")


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_index_answers_what_the_logs_say(question: str, both: tuple[Sequence[Path], Path, Path]) -> None:
    roots, without, with_index = both
    assert answer(question, roots, with_index) == answer(question, roots, without)


def test_the_index_answers_for_one_session_what_its_logs_say(both: tuple[Sequence[Path], Path, Path]) -> None:
    roots, without, with_index = both
    sessions = [row["id"] for row in json.loads(answer("sessions --json", roots, without))["sessions"]]
    questions = [f"calls {name}" for name in ("@last", *sessions[:5], *(id[:-1] for id in sessions[:5]))]
    questions += [f"calls {id} --json {more}" for id in sessions[:5] for more in ("", "--slow --limit 2")]
    questions += [f"calls {id} --json --verdict error --agent claude" for id in sessions[:5]]
    for question in questions:
        ours, theirs = asked(question, roots, with_index), asked(question, roots, without)
        assert (ours.stdout, ours.stderr, ours.exit_code) == (theirs.stdout, theirs.stderr, theirs.exit_code)


def test_the_written_logs_have_what_is_hard_about_them(tmp_path: Path) -> None:
    roots = written(tmp_path / "logs")
    calls: list[dict[str, Any]] = json.loads(answer("calls --json", roots, tmp_path / "home"))["calls"]
    assert {call["session"] for call in calls} == {ONE, TWO, THREE, FOUR}
    assert any(call["inherited_by"] for call in calls)
    assert {"ws_1", "exec-1"} <= {call["id"] for call in calls}
    assert sum(call["id"].endswith((":1", ":2", ":3")) for call in calls) >= 3
    assert all(call["input"] for call in calls)


def test_what_was_appended_is_in_the_next_answer(tmp_path: Path) -> None:
    roots = written(tmp_path / "logs")
    home = index(roots, tmp_path / "with")
    log = working_day().answer("msg_9", tool("t_9", "Bash", command="date"), stop="tool_use")
    before = answer("calls --json", roots, home)
    log.write_in(tmp_path / "logs")
    after = answer("calls --json", roots, home)
    assert after != before
    assert after == answer("calls --json", roots, tmp_path / "without")
    assert answer("sessions --json", roots, home) == answer("sessions --json", roots, tmp_path / "without")


def test_without_a_sync_the_answer_is_what_was_known(tmp_path: Path) -> None:
    roots = written(tmp_path / "logs")
    home = index(roots, tmp_path / "with")
    before = answer("sessions --json", roots, home)
    working_day().prompt("More.").write_in(tmp_path / "logs")
    assert answer("sessions --json --no-sync", roots, home) == before
    assert answer("sessions --json", roots, home) != before


def test_a_deleted_session_is_listed_with_its_calls_and_their_inputs(tmp_path: Path) -> None:
    roots = written(tmp_path / "logs")
    home = index(roots, tmp_path / "with")
    sessions = json.loads(answer("sessions --json", roots, home))["sessions"]
    calls = answer("calls --json", roots, home)
    shutil.rmtree(tmp_path / "logs/.claude/projects")
    gone = json.loads(answer("sessions --json", roots, home))["sessions"]
    assert [row["id"] for row in gone if row["only_here"]] == [
        row["id"] for row in sessions if row["agent"] == "claude"
    ]
    assert [row | {"only_here": False} for row in gone] == sessions
    assert answer("calls --json", roots, home) == calls


def test_a_session_with_logs_elsewhere_is_told_by_those_that_are_asked_for(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    working_day().write_in(here)
    working_day(TWO).write_in(here)
    working_day().prompt("Went on elsewhere.").answer("msg_9", tool("t", "Bash", command="x")).write_in(there)
    home = index([here / ".claude", there / ".claude"], tmp_path / "with")
    for roots in ([here / ".claude"], [there / ".claude"], [here / ".claude", there / ".claude"]):
        for question in ("sessions --json", "calls --json", "usage session --json"):
            assert answer(question, roots, home) == answer(question, roots, tmp_path / "without")


def test_a_fork_whose_original_is_not_asked_for_is_told_as_if_there_were_none(tmp_path: Path) -> None:
    here, there = tmp_path / "a", tmp_path / "b"
    working_day().write_in(here)
    fork = working_day()
    for line in fork.lines:
        line["sessionId"] = TWO
    fork.prompt("Went on.").write(transcript_in(there, f"{TWO}.jsonl"))
    home = index([here / ".claude", there / ".claude"], tmp_path / "with")
    for roots in ([here / ".claude"], [there / ".claude"]):
        for question in ("sessions --json", "calls --json"):
            assert answer(question, roots, home) == answer(question, roots, tmp_path / "without")


def test_an_index_that_knows_nothing_of_a_folder_leaves_the_answer_to_the_logs(tmp_path: Path) -> None:
    working_day().write_in(tmp_path / "a")
    home = index([tmp_path / "a/.claude"], tmp_path / "with")
    done = asked("sessions --json", [tmp_path / "nowhere"], home)
    assert done.exception is not None or done.exit_code == 0
    assert done.stdout == asked("sessions --json", [tmp_path / "nowhere"], tmp_path / "without").stdout


def test_a_session_whose_source_is_gone_is_shown_as_only_here(tmp_path: Path) -> None:
    working_day().write_in(tmp_path / "a")
    root = tmp_path / "a/.claude"
    home = index([root], tmp_path / "with")
    before = json.loads(answer("show @last --json", [root], home))
    transcript_in(tmp_path / "a").unlink()
    after = json.loads(answer("show @last --json", [root], home))
    assert (before["session"].pop("only_here"), after["session"].pop("only_here")) == (False, True)
    assert before == after
