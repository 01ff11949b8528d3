from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.views.cli.command import ONE, on_a_terminal, tracklog, transcript_in
from tests.views.cli.written import Log, tool, working_day

SENT = {
    "input_tokens": 0,
    "output_tokens": 100,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
}


def used(log: Log, id: str, **figures: int) -> None:
    """Writes into a request what it used."""
    for line in log.lines:
        if line["type"] == "assistant" and line["message"]["id"] == id:
            line["message"]["usage"] = {**SENT, **figures}


def long_day(*, model: str | None = None) -> Log:
    """A large result, read at once and twice more; a small prompt; a picture of the whole in round numbers."""
    log = Log().prompt("p" * 4000)
    log.answer("msg_1", tool("toolu_1", "Read", file_path="/home/dev/project/big.py"), stop="tool_use")
    log.result("toolu_1", "x" * 40_000)
    log.answer("msg_2", "Read.").prompt("q" * 40).answer("msg_3", "Yes.")
    used(log, "msg_1", cache_creation_input_tokens=20_000)
    used(log, "msg_2", cache_read_input_tokens=20_000, cache_creation_input_tokens=10_100)
    used(log, "msg_3", cache_read_input_tokens=30_100, cache_creation_input_tokens=110)
    if model is not None:
        for line in log.lines:
            if line["type"] == "assistant":
                line["message"]["model"] = model
    return log


def row(rank: int, path: Path, **more: Any) -> dict[str, Any]:
    plain = {"rank": rank, "call": None, "thread": "main", "path": str(path), "unpriced_reads": 0}
    return {**plain, **more}


def test_the_document_ranks_what_was_carried(tmp_path: Path) -> None:
    path = long_day().write_in(tmp_path)
    document = tracklog("carried", ONE, "--json", home=tmp_path).json
    kinds = {kind["kind"]: kind["cost_micro_usd"] for kind in document.pop("kinds")}
    assert kinds == {
        "result": 67_500,
        "prompt": 7_312,
        "attachment": None,
        "injected": None,
        "reply": 1_300,
        "beginning": 137_750,
        "unseen": None,
    }
    result = row(
        1,
        path,
        kind="result",
        name="Read",
        call="toolu_1",
        what="big.py",
        line=3,
        bytes=40_000,
        tokens=10_000,
        estimated=False,
        reads=2,
        read_tokens=20_000,
        first_cost_micro_usd=62_500,
        carried_cost_micro_usd=5_000,
        cost_micro_usd=67_500,
    )
    first = row(
        2,
        path,
        kind="prompt",
        name="typed",
        what="p" * 119 + "…",
        line=1,
        bytes=4000,
        tokens=1000,
        estimated=True,
        reads=3,
        read_tokens=3000,
        first_cost_micro_usd=6_250,
        carried_cost_micro_usd=1_000,
        cost_micro_usd=7_250,
    )
    last = row(
        3,
        path,
        kind="prompt",
        name="typed",
        what="q" * 40,
        line=5,
        bytes=40,
        tokens=10,
        estimated=False,
        reads=1,
        read_tokens=10,
        first_cost_micro_usd=62,
        carried_cost_micro_usd=0,
        cost_micro_usd=62,
    )
    assert document == {
        "schema_version": 1,
        "session": ONE,
        "cost_micro_usd": 20_000 * 25 // 4 + 10_000 + 10_100 * 25 // 4 + 15_050 + 687 + 300 * 25,
        "cost_is_lower_bound": False,
        "prompt_cost_micro_usd": 213_862,
        "carried": [result, first, last],
    }


def test_the_table_says_what_it_is_and_where_it_stands(tmp_path: Path) -> None:
    path = long_day().write_in(tmp_path)
    answer = tracklog("carried", "@last", "--limit", "2", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    above, head, first, second, rest, _, whole, *kinds = answer.out.splitlines()
    assert above == str(path).replace(str(tmp_path), "~")
    assert head.split() == ["#", "cost", "first", "again", "reads", "tokens", "what", "where"]
    assert first.split() == ["1", "$0.0675", "$0.0625", "$0.0050", "2", "10.0k", "Read", "big.py", ":3"]
    assert second.split()[:8] == [
        "2",
        "$0.0072",
        "$0.0062",
        "$0.0010",
        "3",
        "~1,000",
        "prompt:",
        "p" * 119 + "…",
    ]
    assert rest == "… and 1 cheaper thing: --limit N shows more"
    assert whole == "The prompts cost $0.21 of the session's $0.22:"
    assert [line.split()[0] for line in kinds[:-1]] == ["$0.14", "$0.0675", "$0.0073", "$0.0013"]
    assert kinds[-1].startswith("~ estimated")


def test_a_model_without_a_price_ranks_by_tokens(tmp_path: Path) -> None:
    long_day(model="nobody-s-model").write_in(tmp_path)
    document = tracklog("carried", ONE, "--json", home=tmp_path).json
    assert (document["cost_micro_usd"], document["prompt_cost_micro_usd"]) == (None, None)
    assert [(one["line"], one["cost_micro_usd"], one["unpriced_reads"]) for one in document["carried"]] == [
        (3, None, 2),
        (1, None, 3),
        (5, None, 1),
    ]
    out = tracklog("carried", ONE, home=tmp_path).out
    assert "\nThe prompts read 80.3k tokens, unpriced:\n" in out


def test_what_a_subagent_carries_is_marked_with_its_thread(tmp_path: Path) -> None:
    log = Log().prompt("Have it counted.")
    log.answer("msg_1", tool("toolu_a", "Task", description="Count", prompt="Count."), stop="tool_use")
    log.result("toolu_a", "7" * 400, report={"agentId": "abc123", "status": "completed", "content": []})
    log.answer("msg_2", "Seven.")
    used(log, "msg_1", input_tokens=1000)
    used(log, "msg_2", input_tokens=1200)
    log.write_in(tmp_path)
    inner = Log(isSidechain=True, agentId="abc123").prompt("Count.")
    inner.answer("msg_s", tool("toolu_s", "Bash", command="ls"), stop="tool_use").result(
        "toolu_s", "y" * 4000
    )
    inner.answer("msg_t", "There are 7.")
    used(inner, "msg_s", input_tokens=1000)
    used(inner, "msg_t", input_tokens=2100)
    inner.write(transcript_in(tmp_path, f"{ONE}/subagents/agent-abc123.jsonl"))
    rows = tracklog("carried", ONE, "--json", home=tmp_path).json["carried"]
    assert [(one["thread"], one["name"], one["tokens"], one["reads"]) for one in rows] == [
        ("abc123", "Bash", 1000, 1),
        ("main", "Task", 100, 1),
        ("main", "typed", 4, 2),
        ("abc123", "agent", 2, 2),
    ]
    assert (
        tracklog("carried", ONE, home=tmp_path)
        .out.splitlines()[2]
        .endswith("  Bash ls                   abc123:3")
    )


def test_a_session_that_never_said_what_it_used_says_so(tmp_path: Path) -> None:
    Log().prompt("Go.").write_in(tmp_path)
    said = "Nothing was carried along: no request of this session says what it used.\n"
    assert tracklog("carried", ONE, home=tmp_path) == (0, said, "")
    assert tracklog("carried", ONE, "--json", home=tmp_path).json["carried"] == []


def test_on_a_narrow_terminal_no_line_is_too_wide_and_nothing_escapes(tmp_path: Path) -> None:
    log = long_day().prompt("日本語\x1b[31m\u202e" * 40).answer("msg_4", "Yes.")
    used(log, "msg_4", cache_read_input_tokens=30_210, cache_creation_input_tokens=900)
    log.write_in(tmp_path)
    shown = on_a_terminal("carried", ONE, home=tmp_path, env={"NO_COLOR": "1"})
    assert max(map(len, shown.splitlines())) <= 80
    assert ("\x1b" in shown, "\u202e" in shown) == (False, False)
    assert shown.splitlines()[1].split() == ["cost", "again", "reads", "tokens", "what", "where"]


def test_an_unknown_session_is_exit_1(tmp_path: Path) -> None:
    working_day().write_in(tmp_path)
    said = "tracklog: no session nosuch: `tracklog sessions` lists them, --root looks elsewhere\n"
    assert tracklog("carried", "nosuch", home=tmp_path) == (1, "", said)
    assert tracklog("carried", home=tmp_path).code == 2
