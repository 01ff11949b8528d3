from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.views.cli.command import (
    ONE,
    TWO,
    codex_lines,
    on_a_terminal,
    rollout_in,
    tracklog,
    transcript_in,
    user_line,
    write,
)
from tests.views.cli.written import PRICE, Log, working_day

THREE = "33333333-cccc-4ccc-8ccc-333333333333"


def many_in(home: Path, n: int) -> list[str]:
    """Sessions of one prompt each, a day apart, the oldest first."""
    ids = [f"{n:08d}-aaaa-4aaa-8aaa-111111111111" for n in range(n)]
    for day, id in enumerate(ids):
        line = user_line(f"prompt {day}", sessionId=id, timestamp=f"2026-03-{day + 1:02d}T10:00:00.000Z")
        write(transcript_in(home, f"{id}.jsonl"), line)
    return ids


def test_a_session_s_row_has_every_field_of_the_contract(tmp_path: Path) -> None:
    log = working_day()
    path = log.write_in(tmp_path)
    assert tracklog("sessions", "--json", home=tmp_path).json == {
        "schema_version": 1,
        "sessions": [
            {
                "id": ONE,
                "agent": "claude",
                "path": str(path),
                "title": "Fix the test.",
                "project": "project",
                "cwd": "/home/dev/project",
                "branch": "main",
                "models": ["claude-opus-4-6"],
                "versions": ["2.1.100"],
                "entrypoint": None,
                "started_at": log.at(1),
                "last_at": log.at(11),
                "state": "ended",
                "evidence": ["log line 11", "no process of Claude Code works in its folder"],
                "turns": 2,
                "requests": 3,
                "calls": 2,
                "errors": 1,
                "threads": 1,
                "cost_micro_usd": 3 * PRICE,
                "cost_is_lower_bound": False,
                "only_here": False,
                "period_cost_micro_usd": None,
                "period_cost_is_lower_bound": None,
            }
        ],
    }


def test_the_newest_by_its_own_last_line_comes_first(tmp_path: Path) -> None:
    ids = many_in(tmp_path, 3)
    os.utime(transcript_in(tmp_path, f"{ids[2]}.jsonl"))  # whatever was written last
    os.utime(transcript_in(tmp_path, f"{ids[0]}.jsonl"))
    rows = tracklog("sessions", "--json", home=tmp_path).json["sessions"]
    assert [row["id"] for row in rows] == ids[::-1]


def test_both_agents_are_listed_and_one_can_be_chosen(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    write(rollout_in(tmp_path), codex_lines())

    def listed(*words: str) -> set[tuple[str, str]]:
        rows = tracklog("sessions", "--json", *words, home=tmp_path).json["sessions"]
        return {(row["agent"], row["id"]) for row in rows}

    assert listed() == {("claude", ONE), ("codex", TWO)}
    assert listed("--agent", "codex") == {("codex", TWO)}


def test_the_table_tells_when_where_what_and_how_much(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    Log(TWO, cwd="/srv/other").prompt("A " + "long " * 40 + "title").write_in(tmp_path)
    answer = tracklog("sessions", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    head, first, second = answer.out.splitlines()
    assert head.split() == ["when", "project", "title", "agent", "model", "turns", "calls", "cost", "id"]
    assert "project  Fix the test." in first
    assert first.endswith("claude  opus-4-6      2  2 (1)  $0.0001  11111111")
    assert second.endswith("…  claude                1      0           22222222")


def test_what_nothing_is_known_of_costs_null_and_a_lower_bound_says_so(tmp_path: Path) -> None:
    asked = Log().prompt("Go.").write_in(tmp_path)
    assert _costs(tmp_path) == [(None, False)]
    asked.unlink()
    log = Log().prompt("Go.").answer("msg_1", "Gone.", "And gone.")
    del log.lines[-1]  # the one that says that the answer is whole
    log.write_in(tmp_path)
    assert _costs(tmp_path) == [(PRICE, True)]
    assert "≥<$0.0001" in tracklog("sessions", home=tmp_path).out
    path = Log().prompt("Go.").answer("msg_1", "Gone.").write_in(tmp_path)
    path.write_text(path.read_text().replace("claude-opus-4-6", "nobody-s-model"))
    assert _costs(tmp_path) == [(None, False)]


def test_a_copied_request_costs_the_session_that_made_it(tmp_path: Path) -> None:
    log = working_day()
    log.write_in(tmp_path)
    fork = Log(TWO)
    fork.lines = [{**line, "sessionId": TWO} for line in log.lines]
    fork.back_to(log.tip or "").prompt("Go on.").answer("msg_4", "Went on.").write_in(tmp_path)
    rows = tracklog("sessions", "--json", home=tmp_path).json["sessions"]
    assert {row["id"]: row["cost_micro_usd"] for row in rows} == {ONE: 3 * PRICE, TWO: PRICE}
    newest = tracklog("sessions", "--json", "--limit", "1", home=tmp_path).json["sessions"]
    assert [(row["id"], row["cost_micro_usd"]) for row in newest] == [(TWO, PRICE)]
    assert tracklog("show", TWO, "--json", home=tmp_path).json["session"]["cost_micro_usd"] == PRICE


def test_the_user_s_own_prices_count(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    own = '[[price]]\nmodel = "claude-opus-4-6"\ninput = 1000\noutput = 2000\n'
    write(tmp_path / "own" / "prices.toml", own.encode())
    rows = tracklog("sessions", "--json", "--home", tmp_path / "own", home=tmp_path).json["sessions"]
    assert [row["cost_micro_usd"] for row in rows] == [3 * 3000]


def _costs(home: Path) -> list[tuple[int | None, bool]]:
    rows = tracklog("sessions", "--json", home=home).json["sessions"]
    return [(row["cost_micro_usd"], row["cost_is_lower_bound"]) for row in rows]


def test_on_a_narrow_terminal_the_title_gives_way(tmp_path: Path) -> None:
    working_day(cwd="/srv/a-project-with-quite-a-long-name").write_in(tmp_path)
    Log(TWO).prompt("日本語 " * 40).write_in(tmp_path)
    shown = on_a_terminal("sessions", home=tmp_path, env={"NO_COLOR": "1"}).splitlines()
    assert [len(line) <= 80 for line in shown] == [True] * 3
    assert shown[0].split() == ["when", "project", "title", "turns", "calls", "cost", "id"]


def test_thirty_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    ids = many_in(tmp_path, 31)
    lines = tracklog("sessions", home=tmp_path).out.splitlines()
    assert (len(lines), lines[-1]) == (32, "… and 1 older session: --limit N shows more")
    lines = tracklog("sessions", "--limit", "2", home=tmp_path).out.splitlines()
    assert [line.split()[-1] for line in lines[1:-1]] == [ids[30][:8], ids[29][:8]]
    assert lines[-1] == "… and 29 older sessions: --limit N shows more"
    assert len(tracklog("sessions", "--json", home=tmp_path).json["sessions"]) == 31
    assert len(tracklog("sessions", "--json", "--limit", "3", home=tmp_path).json["sessions"]) == 3


def test_files_that_did_not_change_since_cannot_hold_a_newer_session(tmp_path: Path) -> None:
    ids = many_in(tmp_path, 4)
    for n, id in enumerate(ids):
        os.utime(transcript_in(tmp_path, f"{id}.jsonl"), (1_772_359_200 + n * 86_400,) * 2)  # when they ended
    lines = tracklog("sessions", "--limit", "2", home=tmp_path).out.splitlines()
    assert [line.split()[-1] for line in lines[1:-1]] == [ids[3][:8], ids[2][:8]]
    assert lines[-1] == "… and 2 older sessions: --limit N shows more"


@pytest.mark.parametrize(
    ("words", "fitting"),
    [
        (["--project", "project"], [ONE]),
        (["--project", "/srv"], [TWO]),
        (["--model", "opus"], [ONE]),
        (["--model", "nothing"], []),
        (["--since", "2026-03-01"], [TWO, ONE]),
        (["--since", "2026-03-02"], []),
        (["--until", "2026-02-28"], []),
        (["--until", "2026-03-01"], [TWO, ONE]),
        (["--since", "1d"], []),
        (["--until", "9999-12-31"], [TWO, ONE]),
    ],
)
def test_the_filters_choose(tmp_path: Path, words: list[str], fitting: list[str]) -> None:
    working_day().write_in(tmp_path)
    Log(TWO, cwd="/srv/other", version="2.1.101").prompt("x").prompt(
        "y", timestamp="2026-03-01T18:00:00.000Z"
    ).write_in(tmp_path)
    rows = tracklog("sessions", "--json", *words, home=tmp_path).json["sessions"]
    assert [row["id"] for row in rows] == fitting


def test_a_moment_that_is_none_is_wrong_use(tmp_path: Path) -> None:
    answer = tracklog("sessions", "--since", "soon", home=tmp_path)
    assert (answer.code, answer.out) == (2, "")
    assert "'soon' is no time: give a day such as 2026-03-01, or 7d, 12h, 30m" in answer.err


def test_where_there_is_nothing_it_says_where_it_looked_and_what_to_do(tmp_path: Path) -> None:
    answer = tracklog("sessions", home=tmp_path)
    assert (answer.code, answer.out.splitlines()[0], answer.err) == (0, "No logs found.", "")
    assert "tracklog demo" in answer.out
    assert tracklog("sessions", "--json", home=tmp_path).json == {"schema_version": 1, "sessions": []}


def test_where_nothing_fits_it_says_so(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    answer = tracklog("sessions", "--project", "nowhere", home=tmp_path)
    assert answer == (0, "None of 1 session fits --since, --until, --project and --model.\n", "")


def test_files_without_a_session_are_none(tmp_path: Path) -> None:
    write(tmp_path / ".claude/history.jsonl", b'{"display":"hi","timestamp":1,"project":"/x"}\n')
    answer = tracklog("sessions", home=tmp_path)
    assert answer == (0, "No session in 1 file: `tracklog places` shows what they are.\n", "")


def test_a_wreck_is_a_session_without_words_and_an_empty_log_is_none(tmp_path: Path) -> None:
    write(transcript_in(tmp_path), b"")
    write(transcript_in(tmp_path, f"{TWO}.jsonl"), b'{"type":"user"\x00\xff\n[]\n')
    rows = tracklog("sessions", "--json", home=tmp_path).json["sessions"]
    assert [(row["id"], row["title"], row["turns"]) for row in rows] == [(TWO, None, 0)]
    assert "(no title)" in tracklog("sessions", home=tmp_path).out
    assert tracklog("show", ONE, home=tmp_path) == (
        1,
        "",
        f"tracklog: nothing was written to {transcript_in(tmp_path)} yet\n",
    )


def test_a_session_of_warm_ups_alone_is_none(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    warm = Log(TWO, isSidechain=True, agentId="abc").prompt("Warmup").answer("msg_w", "Ready.")
    warm.write(transcript_in(tmp_path, "agent-abc.jsonl"))
    Log(TWO).note({"type": "summary", "summary": "Old", "leafUuid": "x"}).write_in(tmp_path)
    os.utime(transcript_in(tmp_path), (1_772_359_200, 1_772_359_200))
    rows = tracklog("sessions", "--json", home=tmp_path).json["sessions"]
    assert [row["id"] for row in rows] == [ONE]
    assert tracklog("show", "@last", "--json", home=tmp_path).json["session"]["id"] == ONE
    assert tracklog("show", TWO, "--json", home=tmp_path).json["session"]["threads"] == 2


def test_what_the_client_said_in_the_model_s_place_is_no_request(tmp_path: Path) -> None:
    Log().prompt("Go.").answer("msg_1", "Gone.").client("No response requested.").write_in(tmp_path)
    assert tracklog("sessions", "--json", home=tmp_path).json["sessions"][0]["requests"] == 1


def test_loose_logs_are_sessions_too(tmp_path: Path) -> None:
    path = Log(THREE).prompt("hi").write(tmp_path / "logs/a.jsonl")
    rows = tracklog("sessions", "--json", "--root", "logs", home=tmp_path).json["sessions"]
    assert [(row["id"], row["path"]) for row in rows] == [(THREE, str(path))]
