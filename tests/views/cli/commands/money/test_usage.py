from __future__ import annotations

import csv
import io
import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.oracle.logs import ClaudeLog
from tests.oracle.logs import usage as usage_of
from tests.views.cli.command import ONE, TWO, Answer, on_a_terminal, tracklog, transcript_in, user_line, write
from tests.views.cli.test_click_app import loaded_by
from tests.views.cli.test_hostile import ATTACK, HARMFUL
from tracklog.model.usage import COUNT_RULES, GROUPS

ZONE = ("--zone", "utc")
NOON = "2026-03-01T12:00:00.000Z"
USAGE = {
    "input_tokens": 10,
    "output_tokens": 100,
    "cache_creation_input_tokens": 3_000,
    "cache_creation": {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000},
    "cache_read_input_tokens": 20_000,
}


def said(
    n: int,
    at: str = NOON,
    *,
    stop: str | None = "end_turn",
    model: str = "claude-opus-4-6",
    usage: dict[str, Any] | None = None,
    **more: Any,
) -> bytes:
    """One request in one line, as Claude Code writes it; the number is its name."""
    message = {
        "id": f"msg_01{n:022d}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": "."}],
        "stop_reason": stop,
        "usage": USAGE if usage is None else usage,
    }
    line = {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/dev/project",
        "sessionId": ONE,
        "version": "2.1.197",
        "type": "assistant",
        "message": message,
        "requestId": f"req_{n}",
        "uuid": f"uuid-{n}",
        "timestamp": at,
        **more,
    }
    return json.dumps(line).encode() + b"\n"


def written(home: Path, *lines: bytes, name: str = f"{ONE}.jsonl", cwd: str = "/home/dev/project") -> Path:
    """A transcript with a prompt before the requests."""
    prompt = user_line(timestamp="2026-01-01T00:00:00.000Z", cwd=cwd)
    return write(transcript_in(home, name), prompt + b"".join(lines))


def usage(home: Path, *words: str) -> Answer:
    return tracklog("usage", *words, home=home)


def rows_of(home: Path, *words: str) -> dict[str, Any]:
    """The rows by their keys."""
    answer = usage(home, "--json", *words)
    assert (answer.code, answer.err) == (0, "")
    return {row["key"]: row for row in answer.json["rows"]}


def requests_by(home: Path, *words: str) -> dict[str, int]:
    return {key: row["requests"] for key, row in rows_of(home, *words).items()}


def test_the_document_is_that_of_the_contract(tmp_path: Path) -> None:
    written(tmp_path, said(1))
    cost = 10 * 5 + 100 * 25 + 1_000 * 6.25 + 2_000 * 10 + 20_000 * 0.5
    row = {
        "requests": 1,
        "input_tokens": 10,
        "output_tokens": 100,
        "reasoning_tokens": 0,
        "cache_write_tokens": 3_000,
        "cache_write_5m_tokens": 1_000,
        "cache_write_1h_tokens": 2_000,
        "cache_read_tokens": 20_000,
        "web_searches": 0,
        "cost_micro_usd": round(cost),
        "unpriced_requests": 0,
        "partial_requests": 0,
        "missing_requests": 0,
        "awaited_requests": 0,
        "bounds": {"output_tokens": [100, 100], "cost_micro_usd": [round(cost)] * 2},
        "inherited_requests": 0,
        "stated_cost_micro_usd": None,
        "stated_requests": 0,
        "difference_micro_usd": None,
        "cache_saving_micro_usd": round(23_010 * 5 + 100 * 25 - cost),
        "cache_hit_rate": 0.8692,
        "models": ["claude-opus-4-6"],
        "first_at": NOON,
        "last_at": NOON,
    }
    assert usage(tmp_path, "--json", *ZONE).json == {
        "schema_version": 1,
        "group": "daily",
        "count": "ours",
        "cost": "ours",
        "zone": "UTC",
        "as_model": None,
        "as_of": None,
        "rows": [{"key": "2026-03-01", **row}],
        "total": {"key": "total", **row},
        "hidden": [],
        "unpriced_models": {},
    }


def test_nothing_gives_an_empty_document_and_the_words_of_other_commands(tmp_path: Path) -> None:
    document = usage(tmp_path, "--json").json
    assert (document["rows"], document["hidden"], document["total"]["requests"]) == ([], [], 0)
    assert document["total"]["bounds"] == {"output_tokens": [0, 0], "cost_micro_usd": [0, 0]}
    assert usage(tmp_path) == tracklog("sessions", home=tmp_path)
    written(tmp_path, said(1))
    words = ("--since", "2026-03-02")
    assert usage(tmp_path, *words) == tracklog("sessions", *words, home=tmp_path)


def test_sessions_in_which_nothing_was_asked_are_said_to_be_so(tmp_path: Path) -> None:
    summary = {"type": "summary", "summary": "An old one", "leafUuid": "u-1"}
    write(transcript_in(tmp_path), json.dumps(summary).encode() + b"\n")
    assert usage(tmp_path) == (0, "No request in 1 session.\n", "")


@pytest.mark.parametrize("group", GROUPS)
def test_every_group_sums_up_to_the_same_total(tmp_path: Path, group: str) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {}}
    written(tmp_path, said(1), said(2, "2026-03-02T12:00:00.000Z", model="claude-haiku-4-5"))
    with_tool = json.loads(said(3, sessionId=TWO, cwd="/srv/other"))
    with_tool["message"]["content"] = [call]
    written(tmp_path, json.dumps(with_tool).encode() + b"\n", name=f"{TWO}.jsonl")
    document = usage(tmp_path, group, "--json", *ZONE).json
    assert (document["group"], document["total"]["requests"]) == (group, 3)
    for name in ("requests", "input_tokens", "output_tokens", "cost_micro_usd"):
        assert abs(sum(row[name] for row in document["rows"]) - document["total"][name]) <= 1


@pytest.mark.parametrize(
    ("group", "keys"),
    [
        ("daily", ["2026-03-01", "2026-03-02"]),
        ("monthly", ["2026-03"]),
        ("session", [ONE, TWO]),
        ("model", ["claude-haiku-4-5", "claude-opus-4-6"]),
        ("agent", ["claude"]),
    ],
)
def test_the_keys_are_what_the_rows_stand_for(tmp_path: Path, group: str, keys: list[str]) -> None:
    written(tmp_path, said(1), said(2, "2026-03-02T12:00:00.000Z", model="claude-haiku-4-5"))
    written(tmp_path, said(3, sessionId=TWO), name=f"{TWO}.jsonl")
    assert sorted(requests_by(tmp_path, group, *ZONE)) == keys


@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("utc", {"2026-03-28": 2, "2026-03-29": 3, "2026-10-25": 3}),
        (
            "Europe/Berlin",
            {"2026-03-28": 1, "2026-03-29": 2, "2026-03-30": 2, "2026-10-25": 2, "2026-10-26": 1},
        ),
        ("Asia/Kolkata", {"2026-03-29": 3, "2026-03-30": 2, "2026-10-25": 1, "2026-10-26": 2}),
        ("America/New_York", {"2026-03-28": 2, "2026-03-29": 3, "2026-10-25": 3}),
    ],
)
def test_days_are_those_of_the_zone_also_where_clocks_change(
    tmp_path: Path, zone: str, days: dict[str, int]
) -> None:
    times = [
        "2026-03-28T22:59:59.999Z",  # the last moment of the 28th in Berlin
        "2026-03-28T23:00:00.000Z",
        "2026-03-29T18:29:59.999Z",  # the last moment of the 29th in Kolkata
        "2026-03-29T22:00:00.000Z",  # the 30th in Berlin: the day before had 23 hours
        "2026-03-29T22:59:59.999Z",
        "2026-10-25T18:29:59.999Z",
        "2026-10-25T22:59:59.999Z",  # still the 25th in Berlin: that day has 25 hours
        "2026-10-25T23:00:00.000Z",
    ]
    written(tmp_path, *(said(n, at) for n, at in enumerate(times)))
    assert requests_by(tmp_path, "--zone", zone) == days
    assert requests_by(tmp_path, "--zone", "local") == requests_by(tmp_path)


def test_since_and_until_are_days_of_the_zone(tmp_path: Path) -> None:
    written(
        tmp_path,
        said(1, "2026-02-28T18:29:59.999Z"),
        said(2, "2026-02-28T18:30:00.000Z"),
        said(3, "2026-03-01T18:29:59.999Z"),
        said(4, "2026-03-01T18:30:00.000Z"),
    )
    words = ("--since", "2026-03-01", "--until", "2026-03-01")
    assert requests_by(tmp_path, "--zone", "Asia/Kolkata", *words) == {"2026-03-01": 2}
    assert requests_by(tmp_path, "--zone", "utc", *words) == {"2026-03-01": 2}
    assert requests_by(tmp_path, "--zone", "Asia/Kolkata", "--since", "2026-02-28T18:30Z") == {
        "2026-03-01": 2,
        "2026-03-02": 1,
    }


@pytest.mark.parametrize(
    ("words", "n"),
    [
        (["--project", "project"], 2),
        (["--project", "/srv"], 1),
        (["--model", "haiku"], 1),
        (["--agent", "codex"], 0),
        (["--agent", "claude"], 3),
    ],
)
def test_the_filters_choose_requests(tmp_path: Path, words: list[str], n: int) -> None:
    written(tmp_path, said(1), said(2, model="claude-haiku-4-5"))
    written(tmp_path, said(3, sessionId=TWO, cwd="/srv/other"), name=f"{TWO}.jsonl", cwd="/srv/other")
    assert usage(tmp_path, "--json", *words).json["total"]["requests"] == n


def test_a_request_that_stands_in_two_sessions_counts_once_and_every_line_counts_all(tmp_path: Path) -> None:
    written(tmp_path, said(1), said(1))
    written(tmp_path, said(1, sessionId=TWO, uuid="copy"), name=f"{TWO}.jsonl")
    rows = rows_of(tmp_path, "session")
    assert {key: (row["requests"], row["inherited_requests"]) for key, row in rows.items()} == {
        ONE: (1, 0),
        TWO: (0, 1),
    }
    assert "1 copy of a request stands in another session: it counts where it was made." in (
        usage(tmp_path, "session").out
    )
    assert usage(tmp_path, "--json", "--count", "every-line").json["total"]["requests"] == 3
    assert "Counted by the rule every-line" in usage(tmp_path, "--count", "every-line").out


def test_a_cut_off_request_has_bounds_in_all_windows(tmp_path: Path) -> None:
    log = written(tmp_path, said(1), said(2, "2026-03-01T13:00:00.000Z", stop=None))
    document = usage(tmp_path, "--json", "--uncertain", *ZONE).json
    total = document["total"]
    low, high = total["bounds"]["output_tokens"]
    assert (total["partial_requests"], low, high > 30_000) == (1, 200, True)
    low, high = total["bounds"]["cost_micro_usd"]
    assert (low, high > low) == (total["cost_micro_usd"], True)
    assert [(one["certainty"], one["path"], one["line"]) for one in document["uncertain"]] == [
        ("partial", str(log), 3)
    ]
    shown = usage(tmp_path, "--uncertain", *ZONE).out
    assert "Between $0.07" in shown
    assert ": 1 request has no final count in the log." in shown
    assert re.search(r"total .* \$0\.0776\+", shown)
    assert f"~/{log.relative_to(tmp_path)}:3" in shown


def test_a_model_without_a_price_is_named_with_what_to_do(tmp_path: Path) -> None:
    written(tmp_path, said(1, model="my-own-model"))
    (row,) = rows_of(tmp_path, "model").values()
    assert (row["cost_micro_usd"], row["unpriced_requests"]) == (None, 1)
    shown = usage(tmp_path, "model").out
    assert re.search(r"my-own-model +1 .* unpriced", shown)
    assert (
        "1 request without a known price: my-own-model (1); `tracklog prices` says how to add one." in shown
    )


def test_the_user_s_own_prices_count(tmp_path: Path) -> None:
    written(tmp_path, said(1, model="my-own-model"))
    own = tmp_path / "ours" / "prices.toml"
    write(own, b"this is no toml")
    answer = usage(tmp_path, "--home", str(own.parent))
    assert (answer.code, answer.out, "prices.toml" in answer.err) == (2, "", True)


@pytest.mark.parametrize(
    ("budget", "code", "words"),
    [
        ("1", 0, ""),
        ("0.0388", 0, ""),
        ("0.0387", 1, "tracklog: the budget of $0.0387 is passed by $0.0001: $0.0388 was spent\n"),
        ("0", 1, "tracklog: the budget of $0.00 is passed by $0.0388: $0.0388 was spent\n"),
        ("$0", 1, "tracklog: the budget of $0.00 is passed by $0.0388: $0.0388 was spent\n"),
    ],
)
def test_a_budget_that_is_passed_ends_with_1(tmp_path: Path, budget: str, code: int, words: str) -> None:
    written(tmp_path, said(1))
    for form in ([], ["--json"], ["--csv"]):
        answer = usage(tmp_path, "--budget", budget, *form)
        assert (answer.code, answer.err, len(answer.out) > 50) == (code, words, True)


def test_a_budget_that_may_be_passed_is_said_and_fine(tmp_path: Path) -> None:
    written(tmp_path, said(1, stop=None))
    answer = usage(tmp_path, "--budget", "0.05")
    assert answer.code == 0
    assert answer.err.startswith("tracklog: the budget of $0.05 may be passed: between $0.0388 and $")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["hourly"], "'hourly' is not one of 'daily', 'weekly'"),
        (
            ["--zone", "Mars/Base"],
            "'Mars/Base' is no time zone: give a name such as Europe/Berlin, utc or local",
        ),
        (["--since", "soon"], "'soon' is no time: give a day such as 2026-03-01, or 7d, 12h, 30m"),
        (["--until", "2026-02-30"], "'2026-02-30' is no time"),
        (["--as-of", "then"], "'then' is no time"),
        (["--budget", "much"], "'much' is no sum of dollars: give a number such as 20 or 7.50"),
        (["--budget", "-1"], "'-1' is no sum of dollars"),
        (["--budget", "nan"], "'nan' is no sum of dollars"),
        (["--budget", "1e999999999"], "is no sum of dollars"),
        (
            ["--as-model", "no\x1bsuch"],
            "no price is known for no\\x1bsuch: `tracklog prices` lists the models",
        ),
        (["--limit", "0"], "0 is not in the range"),
        (["--count", "guess"], "'guess' is not one of"),
        (["--csv", "--json"], "leave out --json and --uncertain, or leave out --csv"),
        (["--zone", "a\x1b[31m\nb"], "'a\\x1b[31m\\nb' is no time zone"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_to_do(tmp_path: Path, words: list[str], told: str) -> None:
    answer = usage(tmp_path, *words)
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert told in answer.err


def test_csv_has_the_same_rows_and_nothing_that_computes(tmp_path: Path) -> None:
    hostile = '=cmd|"/c calc"!A1,\r\n'
    written(tmp_path, said(1, model=hostile), said(2, model="@SUM(1)"), said(3))
    answer = usage(tmp_path, "model", "--csv", "--by", "key")
    assert (answer.code, answer.err) == (0, "")
    read = list(csv.DictReader(io.StringIO(answer.out, newline="")))
    assert [row["key"] for row in read] == ['\'=cmd|"/c calc"!A1,\\r\\n', "'@SUM(1)", "claude-opus-4-6"]
    assert [row["requests"] for row in read] == ["1", "1", "1"]
    assert [row["cost_micro_usd"] for row in read] == ["", "", "38800"]


@pytest.mark.parametrize(
    ("group", "columns"),
    [*((group, 80) for group in GROUPS), ("session", 40), ("session", 140), ("model", 40)],
)
def test_no_line_is_wider_than_the_terminal(tmp_path: Path, group: str, columns: int) -> None:
    written(tmp_path, said(1, cwd="/srv/" + "x" * 200), said(2, model="m" * 300, stop=None), said(3))
    words = ("usage", group, "--uncertain", "--cost", "both")
    shown = on_a_terminal(*words, home=tmp_path, columns=columns, env={"NO_COLOR": "1"})
    assert [line for line in shown.splitlines() if len(line) > columns] == []
    assert "Traceback" not in shown


@pytest.mark.parametrize("group", ["session", "model", "project", "tool", "entrypoint"])
def test_nothing_harmful_from_a_log_reaches_a_terminal_or_a_pipe(tmp_path: Path, group: str) -> None:
    call = {"type": "tool_use", "id": "toolu_1", "name": f"T{ATTACK}", "input": {}}
    line = json.loads(said(1, model=f"m{ATTACK}", cwd=f"/srv/{ATTACK}", entrypoint=f"e{ATTACK}", stop=None))
    line["message"]["content"] = [call]
    written(tmp_path, json.dumps(line).encode() + b"\n")
    for form in ("--csv", "--json", "--uncertain"):
        answer = usage(tmp_path, group, form)
        assert HARMFUL.findall(answer.out.replace("\r\n", "") + answer.err) == []
        assert answer.code == 0
    shown = on_a_terminal("usage", group, "--uncertain", home=tmp_path, env={"NO_COLOR": "1"})
    assert HARMFUL.findall(shown) == []


def test_colour_is_only_for_terminals_that_want_it(tmp_path: Path) -> None:
    written(tmp_path, said(1))
    assert "\x1b[" in on_a_terminal("usage", home=tmp_path)
    assert "\x1b" not in on_a_terminal("usage", home=tmp_path, env={"NO_COLOR": "1"})
    assert "\x1b" not in usage(tmp_path).out


def test_the_table_is_calm(tmp_path: Path) -> None:
    written(tmp_path, said(1), said(2, "2026-03-02T12:00:00.000Z"), said(3, "2026-03-02T13:00:00.000Z"))
    shown = on_a_terminal("usage", *ZONE, home=tmp_path, env={"NO_COLOR": "1"})
    assert shown.splitlines() == [
        "day         requests  input  output  c.write  c.read     cost",
        "2026-03-01         1     10     100    3,000   20.0k  $0.0388  ████████▌",
        "2026-03-02         2     20     200    6,000   40.0k  $0.0776  █████████████████",
        "total              3     30     300    9,000   60.0k    $0.12",
        "",
        "·  86 % of the prompts came from the cache: $0.24 saved.",
        "·  Times are those of UTC; --zone NAME chooses another.",
    ]


def test_a_session_is_shown_by_its_id_its_last_moment_and_its_project(tmp_path: Path) -> None:
    written(tmp_path, said(1))
    lines = on_a_terminal("usage", "session", *ZONE, home=tmp_path, env={"NO_COLOR": "1"}).splitlines()
    assert lines[0].split()[:3] == ["session", "last", "project"]
    assert re.match(r"11111111  (03-01 12:00|2026-03-01)  project ", lines[1])


def test_the_running_block_is_named_and_tells_its_rate(tmp_path: Path) -> None:
    now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.000Z}"
    written(tmp_path, said(1), said(2, now))
    over, running = usage(tmp_path, "blocks", "--json").json["rows"]
    assert (over["key"], over["burn"]) == ("2026-03-01T12:00:00.000Z", None)
    assert running["burn"]["projected_cost_micro_usd"] > running["cost_micro_usd"] == 38_800
    lines = usage(tmp_path, "blocks", *ZONE).out.splitlines()
    assert lines[1].startswith("2026-03-01 12:00–17:00     ")
    assert "running" in lines[2]
    assert any(line.startswith("·  The running block ends at ") for line in lines)


def test_a_log_that_cannot_be_read_is_said_and_the_others_count(tmp_path: Path) -> None:
    written(tmp_path, said(1))
    locked = written(tmp_path, said(2, sessionId=TWO), name=f"{TWO}.jsonl")
    locked.chmod(0)
    answer = tracklog("usage", "--json", home=tmp_path, is_mighty=False)
    assert (answer.code, answer.json["total"]["requests"]) == (0, 1)
    assert answer.err == f"tracklog: {locked}: not readable: permission denied\n"


def test_thirty_rows_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    written(tmp_path, *(said(n, f"2026-03-{n:02d}T12:00:00.000Z") for n in range(1, 32)))
    lines = usage(tmp_path, *ZONE).out.splitlines()
    assert [lines[1][:10], lines[30][:10], lines[31].split()[:2]] == [
        "2026-03-02",
        "2026-03-31",
        ["total", "31"],
    ]
    assert lines[32] == "… and 1 earlier, $0.0388: --limit N shows more"
    assert len(usage(tmp_path, "--json", *ZONE).json["rows"]) == 31
    newest = usage(tmp_path, "--json", "--limit", "2", "--reverse", *ZONE).json
    assert [row["key"] for row in newest["rows"]] == ["2026-03-31", "2026-03-30"]
    assert newest["total"]["requests"] == 31


def test_what_if_is_priced_anew_and_says_so(tmp_path: Path) -> None:
    written(tmp_path, said(1))
    same = usage(tmp_path, "--json", "--as-model", "claude-opus-4-6").json["total"]["cost_micro_usd"]
    other = usage(tmp_path, "--json", "--as-model", "claude-haiku-4-5").json["total"]["cost_micro_usd"]
    assert (same, 0 < other < same) == (38_800, True)
    shown = usage(tmp_path, "--as-model", "claude-haiku-4-5", "--as-of", "2026-01-01").out
    assert (
        "Not what was paid, but what the same tokens would cost with claude-haiku-4-5 "
        "at the prices of 2026-01-01, or the oldest that are known." in shown
    )


def test_stated_costs_are_compared_with_ours(tmp_path: Path) -> None:
    written(tmp_path, said(1, costUSD=0.05), said(2))
    total = usage(tmp_path, "--json", "--cost", "stated").json["total"]
    assert (total["cost_micro_usd"], total["unpriced_requests"], total["stated_requests"]) == (50_000, 1, 1)
    shown = usage(tmp_path, "--cost", "both").out
    assert shown.splitlines()[0].split()[-3:] == ["cost", "stated", "difference"] or "models" in shown
    assert (
        "The logs state the cost of 1 of 2 requests: most clients write none, and late ones only for whole sessions: `usage session`."
        in shown
    )


@pytest.mark.parametrize("rule", COUNT_RULES)
def test_every_rule_of_counting_gives_an_answer(tmp_path: Path, rule: str) -> None:
    written(tmp_path, said(1), said(1, "2026-03-01T12:00:01.000Z"))
    assert usage(tmp_path, "--json", "--count", rule).json["count"] == rule


def test_a_table_for_scripts_loads_no_drawing(tmp_path: Path) -> None:
    written(tmp_path, said(1))
    for words in (["--json"], ["--csv"]):
        assert "rich" not in loaded_by("usage", *words, home=tmp_path)


def test_where_there_is_nothing_to_read_no_reader_is_loaded(tmp_path: Path) -> None:
    assert loaded_by("usage", "--json", home=tmp_path) & {"rich", "tracklog.index"} == set()


def test_help_says_what_the_groups_are(tmp_path: Path) -> None:
    answer = usage(tmp_path, "--help")
    assert [line for line in answer.out.splitlines() if len(line) > 80] == []
    assert [group for group in GROUPS if group not in answer.out] == []


def test_what_is_hidden_is_priced_on_the_terms_of_what_is_known(tmp_path: Path) -> None:
    """A request in the US costs a tenth more; the client's total has that, so what it hides is the rest alone."""
    log = ClaudeLog("00000000-0000-4000-8000-000000000001")
    known = {**usage_of(1_000_000, 0), "inference_geo": "us"}
    log.reply("msg_01" + "a" * 22, known, model="claude-opus-4-5-20251101")
    used = {"inputTokens": 1_000_100, "outputTokens": 0, "costUSD": 5.5 + 0.0005}
    log.note({"type": "cost-state", "totalCostUSD": 5.5005, "modelUsage": {"claude-opus-4-5-20251101": used}})
    path = tmp_path / ".claude" / "projects" / "-p" / "00000000-0000-4000-8000-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(log.bytes())
    hidden = [
        json.loads(usage(tmp_path, "--json", *more).out)["hidden"][0]
        for more in ([], ["--as-model", "claude-haiku-4-5"])
    ]
    assert [(one["tokens"], one["cost_micro_usd"]) for one in hidden] == [(100, 500), (100, 100)]
