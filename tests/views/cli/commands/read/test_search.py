from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.views.cli.command import ONE, on_a_terminal, tracklog
from tests.views.cli.written import Log, tool
from tracklog.views.text.numbers import when


@pytest.fixture
def log(tmp_path: Path) -> Log:
    log = Log().prompt("Why does the parser fail?")
    log.answer("m1", tool("call_1", "Bash", command="pytest -q"), stop="tool_use")
    log.result("call_1", "Exit code 1\nparseHeader raised\x07 \x1b[31mValueError\x1b[0m", is_error=True)
    log.answer("m2", "The parser is fixed.")
    log.write_in(tmp_path)
    return log


def test_a_hit_has_every_field_of_the_contract(tmp_path: Path, log: Log) -> None:
    path = next((tmp_path / ".claude").rglob("*.jsonl"))
    answer = tracklog("search", "fixed", "--json", home=tmp_path)
    assert (answer.code, answer.json) == (
        0,
        {
            "schema_version": 1,
            "total": 1,
            "exact": True,
            "hits": [
                {
                    "session": ONE,
                    "agent": "claude",
                    "path": str(path),
                    "line": 4,
                    "kind": "answer",
                    "source": None,
                    "at": log.at(4),
                    "snippet": "The parser is fixed.",
                    "url": f"/s/claude/{ONE}?file={ONE}.jsonl#L4",
                    "marks": [[14, 19]],
                }
            ],
        },
    )


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["parser"], [4, 1]),
        (["parser", "-fixed"], [1]),
        (['"parser fail"'], [1]),
        (["header", "tool:Bash", "verdict:error"], [3]),
        (["--regex", r"code \d"], [3]),
        (["parser", "--limit", "1"], [4]),
        (["parser", "--by", "relevance", "role:prompt"], [1]),
        (["parser", "--agent", "claude", "--project", "project", "--model", "opus"], [4, 1]),
        (["parser", "--since", "2026-03-02"], []),
        (["parser", "--agent", "codex"], []),
    ],
)
def test_queries_and_options_say_what_is_meant(
    tmp_path: Path, log: Log, arguments: list[str], lines: list[int]
) -> None:
    answer = tracklog("search", "--json", *arguments, home=tmp_path)
    assert [hit["line"] for hit in answer.json["hits"]] == lines
    assert answer.code == (0 if lines else 1)


def test_hits_are_shown_below_their_session(tmp_path: Path, log: Log) -> None:
    answer = tracklog("search", "parser", home=tmp_path)
    day = when(log.at(1), now=datetime.now(UTC))
    assert answer.out.splitlines() == [
        "11111111  claude  project  Why does the parser fail?",
        f"  {day}  answer  L4  The parser is fixed.",
        f"  {day}  prompt  L1  Why does the parser fail?",
    ]


def test_that_there_are_more_hits_is_said(tmp_path: Path, log: Log) -> None:
    answer = tracklog("search", "parser", "--limit", "1", home=tmp_path)
    assert answer.out.splitlines()[2:] == [
        "… 2 hits: --limit N shows more, since:7d or another filter fewer",
    ]


def test_nothing_of_a_log_reaches_the_terminal_as_it_is(tmp_path: Path, log: Log) -> None:
    seen = on_a_terminal("search", "valueerror", home=tmp_path)
    assert "parseHeader raised\\x07 \x1b[1;33mValueError\x1b[0m" in seen
    assert "\x07" not in seen


def test_nothing_found_is_exit_code_1(tmp_path: Path, log: Log) -> None:
    answer = tracklog("search", "nowhere", home=tmp_path)
    assert (answer.code, answer.out, answer.err) == (1, "", "tracklog: nothing found\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["role:promt", "x"], "tracklog: there is no role:promt: did you mean prompt?\n"),
        (
            ["--regex", "("],
            "tracklog: this is no regular expression: missing ), unterminated subpattern at position 0\n",
        ),
        (["--limt", "3"], "tracklog: No such option '--limt'. Try 'tracklog search --help'.\n"),
        (["x " * 100], "tracklog: too many words: at most 60\n"),
    ],
)
def test_wrong_use_is_one_line(tmp_path: Path, log: Log, arguments: list[str], said: str) -> None:
    answer = tracklog("search", *arguments, home=tmp_path)
    assert (answer.code, answer.out, answer.err) == (2, "", said)


def test_without_an_index_and_without_a_sync_there_is_nothing_to_ask(tmp_path: Path, log: Log) -> None:
    answer = tracklog("search", "parser", "--no-sync", home=tmp_path)
    assert (answer.code, answer.err) == (1, "tracklog: there is no index yet: `tracklog index` makes it\n")


def test_what_was_said_since_the_last_time_is_found(tmp_path: Path, log: Log) -> None:
    tracklog("search", "parser", home=tmp_path)
    log.prompt("Thank you, needle.").write_in(tmp_path)
    assert tracklog("search", "needle", "--no-sync", home=tmp_path).code == 1
    assert tracklog("search", "needle", home=tmp_path).code == 0


def test_a_log_that_cannot_be_read_now_is_read_in_the_archive(tmp_path: Path, log: Log) -> None:
    path = next((tmp_path / ".claude").rglob("*.jsonl"))
    before = tracklog("search", "parser", "--json", home=tmp_path).json
    path.chmod(0)
    answer = tracklog("search", "parser", "--json", home=tmp_path, is_mighty=False)
    assert (answer.code, answer.json) == (0, before)
    for stored in (tmp_path / ".local/share/tracklog/archive").rglob("*.zst"):
        stored.unlink()
    answer = tracklog("search", "parser", home=tmp_path, is_mighty=False)
    assert answer.code == 1
    assert "tracklog: 2 hits no longer to be read at the place that the index knows\n" in answer.err
