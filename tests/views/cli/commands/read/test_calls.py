from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.views.cli.command import ONE, TWO, on_a_terminal, tracklog
from tests.views.cli.written import Log, tool, working_day

KEYS = [
    "id",
    "session",
    "agent",
    "thread",
    "name",
    "input",
    "verdict",
    "outcome",
    "timed_out",
    "sureness",
    "evidence",
    "on_active_branch",
    "called_at",
    "returned_at",
    "took_ms",
    "took_by",
    "exit_code",
    "error",
    "parallel_with",
    "inherited_by",
    "why",
    "decision",
    "feedback",
    "spawned",
    "mcp_server",
    "stated",
    "hooks",
    "phases",
]
OF_THE_CONTRACT = KEYS[: KEYS.index("why")]


def rows_of(*words: str, home: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = tracklog("calls", "--json", *words, home=home).json["calls"]
    return rows


def ids_of(*words: str, home: Path) -> list[str]:
    return [row["id"] for row in rows_of(*words, home=home)]


def many_tools() -> Log:
    """Calls of three tools, one of them slow, one without a result."""
    log = Log(TWO, cwd="/srv/other").prompt("Go.")
    log.answer("msg_a", tool("a", "mcp__files__read", path="x"), stop="tool_use").result("a", "text")
    log.answer("msg_b", tool("b", "mcp__filesystem__list"), stop="tool_use")
    log.result("b", "text", timestamp="2026-03-01T17:30:00.000Z")
    return log.answer("msg_c", tool("c", "Bash", command="sleep 9"), stop="tool_use")


def test_the_document_has_every_field_of_the_contract(tmp_path: Path) -> None:
    log = working_day()
    path = log.write_in(tmp_path)
    document = tracklog("calls", ONE, "--json", home=tmp_path).json
    common: dict[str, Any] = {
        "session": ONE,
        "agent": "claude",
        "thread": "main",
        "outcome": None,
        "timed_out": False,
        "sureness": "stated",
        "on_active_branch": True,
        "took_ms": 2000.0,
        "took_by": "log_times",
        "inherited_by": [],
    }
    rows = [{key: row[key] for key in OF_THE_CONTRACT} for row in document["calls"]]
    assert (list(document), rows) == (
        ["schema_version", "calls"],
        [
            {
                **common,
                "id": "toolu_1",
                "name": "Bash",
                "input": {"command": "make test"},
                "verdict": "error",
                "evidence": [{"path": str(path), "line": 4}, {"path": str(path), "line": 6}],
                "called_at": log.at(4),
                "returned_at": log.at(6),
                "exit_code": 2,
                "error": "Exit code 2\nmake: *** [test] Error 2",
                "parallel_with": ["toolu_2"],
            },
            {
                **common,
                "id": "toolu_2",
                "name": "Read",
                "input": {"file_path": "/home/dev/project/src/app.py"},
                "verdict": "ok",
                "evidence": [{"path": str(path), "line": 5}, {"path": str(path), "line": 7}],
                "called_at": log.at(5),
                "returned_at": log.at(7),
                "exit_code": None,
                "error": None,
                "parallel_with": ["toolu_1"],
            },
        ],
    )


def test_every_key_is_there_where_nothing_came_back(tmp_path: Path) -> None:
    many_tools().write_in(tmp_path)
    lost = rows_of("--tool", "Bash", home=tmp_path)[0]
    assert list(lost) == KEYS
    empty = ("returned_at", "took_ms", "took_by", "exit_code", "error", "outcome")
    assert [lost[key] for key in empty] == [None] * len(empty)


def test_the_life_of_a_call_is_told_in_moments_with_their_lines(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "mcp__files__read", path="x"), stop="tool_use")
    path = str(log.result("t", "text").answer("n", "Done.").write_in(tmp_path))
    row = rows_of(home=tmp_path)[0]
    assert row["phases"] == [
        {"what": "asked", "at": log.at(2), "path": path, "line": 2},
        {"what": "returned", "at": log.at(3), "path": path, "line": 3},
        {"what": "read", "at": log.at(4), "path": path, "line": 4},
    ]
    assert (row["mcp_server"], row["stated"], row["spawned"], row["hooks"]) == ("files", None, None, [])


def test_what_the_client_states_of_a_subagent_is_in_the_row(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "Task", description="Count", prompt="x"), stop="tool_use")
    report = {"agentId": "abc", "totalDurationMs": 900, "totalTokens": 12_345, "totalToolUseCount": 4}
    log.result("t", "7", report={"status": "completed", "content": [], **report}).write_in(tmp_path)
    assert rows_of(home=tmp_path)[0]["stated"] == {"took_ms": 900, "tokens": 12_345, "tool_uses": 4}


def test_a_hook_that_blocked_a_call_is_in_the_row(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "Bash", command="rm x"), stop="tool_use")
    said = "PreToolUse:Bash hook error: [guard]: not here"
    path = str(log.result("t", said, is_error=True, report=f"Error: {said}").write_in(tmp_path))
    hook = {
        "type": "hook_blocking_error",
        "hookName": "PreToolUse:Bash",
        "hookEvent": "PreToolUse",
        "toolUseID": "t",
        "blockingError": {"blockingError": "not here", "command": "guard"},
    }
    line = {**log.lines[-1], "type": "attachment", "uuid": "h", "parentUuid": log.tip, "attachment": hook}
    del line["message"], line["toolUseResult"]
    log.note(line).write_in(tmp_path)
    row = rows_of(home=tmp_path)[0]
    place = {"path": path, "line": 4}
    told = [{"event": "PreToolUse", "name": "PreToolUse:Bash", "outcome": "blocked", **place}]
    assert (row["verdict"], row["hooks"]) == ("blocked", told)


def test_a_call_that_was_answered_twice_says_so(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "Bash", command="ls"), stop="tool_use")
    log.result("t", "a").result("t", "b").write_in(tmp_path)
    assert "      answered 2 times\n" in tracklog("calls", home=tmp_path).out


def test_without_a_session_the_calls_of_all_are_listed(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    many_tools().write_in(tmp_path)
    assert sorted(ids_of(home=tmp_path)) == ["a", "b", "c", "toolu_1", "toolu_2"]
    assert ids_of(TWO, home=tmp_path) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("words", "fitting"),
    [
        (["--tool", "bash"], ["c", "toolu_1"]),
        (["--tool", "Read", "--tool", "Bash"], ["c", "toolu_1", "toolu_2"]),
        (["--tool", "mcp__files"], ["a"]),
        (["--tool", "mcp__files__read"], ["a"]),
        (["--verdict", "error"], ["toolu_1"]),
        (["--verdict", "error", "--verdict", "ok"], ["a", "b", "toolu_1", "toolu_2"]),
        (["--slow", "100000"], ["b"]),
        (["--project", "other", "--verdict", "ok"], ["a", "b"]),
        (["--model", "gpt"], []),
        (["--since", "2026-03-01T17:24:46", "--tool", "Read"], ["toolu_2"]),
        (["--since", "2026-03-01T17:24:47", "--tool", "Read"], []),
    ],
)
def test_the_filters_choose(tmp_path: Path, words: list[str], fitting: list[str]) -> None:
    working_day().write_in(tmp_path)
    many_tools().write_in(tmp_path)
    assert sorted(ids_of(*words, home=tmp_path)) == fitting


def test_the_slowest_come_first(tmp_path: Path) -> None:
    many_tools().write_in(tmp_path)
    assert ids_of("--slow", home=tmp_path) == ["b", "a", "c"]
    assert ids_of("--slow", "--limit", "1", home=tmp_path) == ["b"]
    assert ids_of("--slow", TWO, home=tmp_path) == ["b", "a", "c"]
    assert ids_of(TWO, "--slow", home=tmp_path) == ["b", "a", "c"]
    assert ids_of("--limit", "2", home=tmp_path) == ["a", "b"]


def test_a_verdict_that_there_is_not_is_wrong_use(tmp_path: Path) -> None:
    answer = tracklog("calls", "--verdict", "fine", home=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "'fine' is not one of 'ok', 'error'" in answer.err
    answer = tracklog("calls", ONE, "--slow", "soon", home=tmp_path)
    assert answer == (2, "", "tracklog: --slow takes a number of milliseconds, not soon\n")


def test_each_call_has_its_verdict_its_time_its_lines_and_its_reason(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    assert tracklog("calls", ONE, home=tmp_path) == (
        0,
        f"~/.claude/projects/-home-dev-project/{ONE}.jsonl\n"
        "  ✗ error          Bash            make test  2.0 s  :4,6\n"
        "      Exit code 2 / make: *** [test] Error 2\n"
        "  ✓ ok             Read            src/app.py  2.0 s  :5,7\n"
        "2 calls: 1 error, 1 ok\n",
        "",
    )


def test_of_the_slowest_each_names_its_file(tmp_path: Path) -> None:
    many_tools().write_in(tmp_path)
    first = tracklog("calls", "--slow", "--limit", "1", home=tmp_path).out.splitlines()[0]
    assert first.endswith("5 min 15 s  22222222-bb…222222.jsonl:4,5")


def test_on_a_narrow_terminal_no_line_is_too_wide(tmp_path: Path) -> None:
    log = Log().prompt("Go.").answer("m", tool("t", "Bash", command="日本 " * 500), stop="tool_use")
    log.result("t", "x" * 1000, is_error=True).write_in(tmp_path)
    shown = on_a_terminal("calls", home=tmp_path, env={"NO_COLOR": "1"})
    assert max(map(len, shown.splitlines())) <= 80


def test_where_there_is_nothing_it_says_so(tmp_path: Path) -> None:
    assert tracklog("calls", home=tmp_path).out.startswith("No logs found.\n")
    assert tracklog("calls", "--json", home=tmp_path).json == {"schema_version": 1, "calls": []}
    Log().prompt("Hi.").write_in(tmp_path)
    assert tracklog("calls", home=tmp_path) == (0, "No calls.\n", "")
    said = "tracklog: no session nosuch: `tracklog sessions` lists them, --root looks elsewhere\n"
    assert tracklog("calls", "nosuch", "--json", home=tmp_path) == (1, "", said)


def test_a_bottomless_input_does_not_spoil_the_document(tmp_path: Path) -> None:
    path = (
        Log().prompt("Go.").answer("m", tool("t", "Bash", command="DEEP"), stop="tool_use").write_in(tmp_path)
    )
    path.write_text(path.read_text().replace('"DEEP"', "[" * 900 + "]" * 900))
    assert [row["id"] for row in rows_of(home=tmp_path)] in (["t"], [])
    assert tracklog("calls", home=tmp_path).code == 0


def test_lines_that_were_not_understood_are_said_so(tmp_path: Path) -> None:
    path = working_day().write_in(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"type":"assistant","uuid":"x","timestamp":12345,"message":{"content":[]}}\n{"torn\n')
    for words in ((ONE,), (ONE, "--json"), ()):
        said = tracklog("calls", *words, home=tmp_path).err
        assert said.splitlines()[-1] == (
            "tracklog: 2 lines not understood, calls there are missing: `tracklog doctor`"
        )
