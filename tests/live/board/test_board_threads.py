from __future__ import annotations

import os
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.live.live_home import ONE, TWO, LiveHome, append
from tracklog.ledger.prices.rates import Prices
from tracklog.live.board.board import Board, BoardRow, Stuck, stuck_in
from tracklog.live.board.counts import CountsBeside
from tracklog.live.watch.watcher import Watch
from tracklog.model.states import LiveState

PRICES = Prices.load(None)
MIN = 60_000


def working(ms: int, doing: str = "Bash: make", **more: Any) -> LiveState:
    return LiveState(**{"state": "working", "doing": doing, "call": "c1", "since_ms": 10**9 - ms, **more})


@pytest.mark.parametrize(
    ("state", "usual", "stuck"),
    [
        (working(4 * MIN), {}, None),
        (working(5 * MIN + 1), {}, Stuck("Bash", 5 * MIN, None)),
        (working(5 * MIN + 1), {"Bash": 1000.0}, Stuck("Bash", 5 * MIN, 1000.0)),
        (working(9 * MIN), {"Bash": 60_000.0}, None),
        (working(10 * MIN + 1), {"Bash": 60_000.0}, Stuck("Bash", 10 * MIN, 60_000.0)),
        (working(60 * MIN, "mcp__a__b"), {"Bash": 10**9}, Stuck("mcp__a__b", 5 * MIN, None)),
        (working(60 * MIN, state="waiting"), {}, None),
        (working(60 * MIN, doing="thinking", call=None), {}, None),
        (working(0, since_ms=None), {}, None),
    ],
)
def test_a_call_is_stuck_when_it_runs_for_ten_times_the_usual_and_five_minutes(
    state: LiveState, usual: dict[str, float], stuck: Stuck | None
) -> None:
    assert stuck_in(state, 10**9, usual) == stuck


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def row_of(home: LiveHome, session: str = ONE, *, later_ms: int = 0) -> BoardRow:
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        rows = Board(watch, PRICES).rows(time.time_ns() // 1_000_000 + later_ms)
        return next(row for row in rows if row.id == session)


SUB = (
    b'{"type":"user","uuid":"s1","isSidechain":true,"agentId":"a1","sessionId":"%s",'
    b'"timestamp":"2026-11-16T10:00:00.000Z","message":{"role":"user","content":"look at  the\\ndocs"}}\n'
)
CALL = (
    b'{"type":"assistant","uuid":"s2","parentUuid":"s1","isSidechain":true,"agentId":"a1","sessionId":"%s",'
    b'"timestamp":"2026-11-16T10:00:01.000Z","message":{"id":"m1","role":"assistant","model":"m","stop_reason":"tool_use",'
    b'"content":[{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"ls"}}],"usage":{}}}\n'
)


def test_a_subagent_tells_what_it_does_and_for_what_it_is(home: LiveHome) -> None:
    home.prompt("look")
    home.call("t1", "Agent", description="read the docs", prompt="look")
    beside = home.log().with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    append(beside / "agent-a1.jsonl", SUB % ONE.encode() + CALL % ONE.encode())
    row = row_of(home)
    (thread,) = row.threads
    assert (thread.id, thread.name) == ("a1", "look at  the\ndocs")  # nothing names it yet
    assert (thread.state.state, thread.state.doing, thread.state.call) == ("working", "Bash: ls", "t9")
    (beside / "agent-a1.meta.json").write_text(
        '{"agentType":"general","description":"read the docs","toolUseId":"t1"}'
    )
    row = row_of(home)
    assert ([one.name for one in row.threads], row.n_threads, row.pending) == (["read the docs"], 1, [])


def test_who_waits_for_subagents_that_work_is_not_stuck(home: LiveHome) -> None:
    home.prompt("look")
    home.call("t1", "Agent", description="read the docs", prompt="look")
    assert row_of(home, later_ms=6 * MIN).stuck == Stuck("Agent", 5 * MIN, None)
    beside = home.log().with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    append(beside / "agent-a1.jsonl", SUB % ONE.encode() + CALL % ONE.encode())
    row = row_of(home, later_ms=6 * MIN)
    assert (row.stuck, [one.stuck is not None for one in row.threads]) == (None, [True])


def test_a_row_has_branch_beginning_and_activity(home: LiveHome) -> None:
    home.line(type="user", gitBranch="fix/walk", message={"role": "user", "content": "one"})
    home.reply("A.")
    row, now_ms = row_of(home), time.time_ns() // 1_000_000
    assert row.branch == "fix/walk"
    assert row.began_ms is not None
    assert 0 <= now_ms - row.began_ms < 60_000
    assert sum(n for n in row.minutes.last(now_ms) if n) == 2


def test_what_is_counted_beside_is_missing_until_it_is_there(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("A.")
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        with closing(CountsBeside(watch, PRICES)) as counts:
            board = Board(watch, PRICES, counts=counts)
            until = time.monotonic() + 60
            (row,) = board.rows(time.time_ns() // 1_000_000)
            while not row.is_counted:
                assert row.spending.cost_micro_usd is None
                assert time.monotonic() < until
                time.sleep(0.01)
                (row,) = board.rows(time.time_ns() // 1_000_000)
        assert (row.spending.cost_micro_usd, counts.problem) == (175, None)


def test_lines_that_come_are_told_by_thread_once(home: LiveHome) -> None:
    home.prompt("one")
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        assert watch.grown() == {}
        home.reply("A.")
        append(home.log(), b'{"no json\n{"type":"progress"}\n')
        home.prompt("two", session=TWO)
        beside = home.log().with_suffix("") / "subagents"
        beside.mkdir(parents=True)
        append(beside / "agent-a1.jsonl", SUB % ONE.encode())
        grown: dict[tuple[str, str, str], int] = {}
        until = time.monotonic() + 60
        while len(grown) < 3 and time.monotonic() < until:
            watch.wait(0.2)
            for thread, lines in watch.grown().items():
                grown[thread] = grown.get(thread, 0) + lines
        assert grown == {("claude", ONE, "main"): 3, ("claude", TWO, "main"): 1, ("claude", ONE, "a1"): 1}
        watch.wait(0.2)
        assert watch.grown() == {}  # whoever never asks for it keeps nothing


def test_a_log_that_cannot_be_read_keeps_its_row(home: LiveHome) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    home.prompt("one")
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        home.log().chmod(0)
        (row,) = Board(watch, PRICES).rows(time.time_ns() // 1_000_000)
    assert row.problem == "permission denied"
