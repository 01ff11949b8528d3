from __future__ import annotations

import os
import re
import time
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tests.live.live_home import ONE, TWO, LiveHome
from tracklog.clock import moment_ms
from tracklog.home import Home
from tracklog.ledger.prices.rates import Prices
from tracklog.live.board.board import Board, BoardRow, beneath_parents
from tracklog.live.board.counts import BoardCounts, SessionUsage
from tracklog.live.run_entries import RunOrigin, Started
from tracklog.live.run_register import note_started
from tracklog.live.watch.watcher import Watch
from tracklog.model.states import LiveState

PRICES = Prices.load(None)


@pytest.fixture
def home(tmp_path: Path) -> LiveHome:
    return LiveHome(tmp_path)


def rows_of(home: LiveHome) -> dict[str, BoardRow]:
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        return {row.id: row for row in Board(watch, PRICES).rows(time.time_ns() // 1_000_000)}


def test_who_needs_you_stands_on_top(home: LiveHome) -> None:
    home.prompt("one")
    home.prompt("two", session=TWO)
    home.call("t2", "Bash", session=TWO, command="rm x")
    home.register(os.getpid(), "waiting", session=TWO, waitingFor="permission prompt")
    assert list(rows_of(home)) == [TWO, ONE]


def test_a_row_tells_what_a_session_is_about(home: LiveHome) -> None:
    home.prompt("fix the tests")
    home.reply("I look.")
    row = rows_of(home)[ONE]
    assert (row.project, row.last_prompt, row.last_words, row.model) == (
        "app",
        "fix the tests",
        "I look.",
        "claude-opus-4-5",
    )
    assert (row.spending.cost_micro_usd, row.spending.tokens, row.spending.context_used) == (
        175,
        15,
        15 / 200_000,
    )


def test_what_a_fork_copied_is_not_counted_again(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("A.")
    home.log(TWO).write_bytes(home.log().read_bytes().replace(ONE.encode(), TWO.encode()))
    home.prompt("two", session=TWO)
    home.reply("B.", session=TWO)
    costs = {id: row.spending.cost_micro_usd for id, row in rows_of(home).items()}
    assert costs == {ONE: 175, TWO: 175}


def test_a_subagent_that_runs_already_is_counted_once(home: LiveHome) -> None:
    home.prompt("look")
    home.call("t1", "Agent", description="look", prompt="look")
    beside = home.log().with_suffix("") / "subagents"
    beside.mkdir(parents=True)
    (beside / "agent-a1.meta.json").write_text(
        '{"agentType":"general","description":"look","toolUseId":"t1"}'
    )
    (beside / "agent-a1.jsonl").write_bytes(
        b'{"type":"user","uuid":"s1","isSidechain":true,"agentId":"a1","sessionId":"%s",'
        b'"timestamp":"2026-11-16T10:00:00.000Z","message":{"role":"user","content":"look"}}\n' % ONE.encode()
    )
    row = rows_of(home)[ONE]
    assert (row.subagents, row.pending) == (1, [])


def test_a_subagent_without_a_log_is_pending(home: LiveHome) -> None:
    home.prompt("look")
    home.call("t1", "Agent", description="look", prompt="look")
    (pending,) = rows_of(home)[ONE].pending
    assert (pending.call, pending.name, pending.state.state) == ("t1", "look", "pending")
    home.line(
        type="user",
        message={"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]},
    )
    assert rows_of(home)[ONE].pending == []


def row(id: str, parent: str | None = None, state: str = "working") -> BoardRow:
    origin = RunOrigin("0" * 16, "run", "claude", parent, None) if parent else None
    live = LiveState(state="waiting" if state == "waiting" else "working")
    return BoardRow(
        id,
        "claude",
        live,
        None,
        None,
        None,
        None,
        SessionUsage(),
        0,
        [],
        None,
        None,
        0,
        None,
        started_by=origin,
    )


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([("a", None), ("b", None)], "a0 b0"),
        ([("a", None), ("x", None), ("b", "a")], "a0 b1 x0"),
        ([("b", "a"), ("x", None), ("a", None)], "a0 b1 x0"),
        ([("c", "b"), ("x", None), ("d", "a"), ("b", "a"), ("a", None)], "a0 d1 b1 c2 x0"),
        ([("b", "nobody"), ("a", None)], "b0 a0"),
        ([("a", "a"), ("b", None)], "a0 b0"),
        ([("a", "b"), ("b", "a"), ("x", "a")], "b0 a1 x2"),
    ],
)
def test_who_was_started_stands_beneath_who_started_it(
    given: list[tuple[str, str | None]], expected: str
) -> None:
    placed = beneath_parents([row(id, parent) for id, parent in given])
    assert " ".join(f"{one.id}{one.depth}" for one in placed) == expected


def test_a_very_long_line_of_children_is_placed() -> None:
    rows = [row(str(n), str(n - 1)) for n in range(3000)]
    assert beneath_parents(rows[::-1])[-1].depth == 2999


def test_a_run_joins_its_log_when_that_appears(home: LiveHome) -> None:
    ours = Home(home.ours)
    word = Started(
        run="a" * 16,
        at="2026-01-01T00:00:00Z",
        agent="claude",
        session=ONE,
        transcript_path=str(home.log()),
        pid=os.getpid(),
    )
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        board = Board(watch, PRICES, home=ours)

        def states() -> list[tuple[str, str]]:
            watch.wait(0.5)
            return [(one.id, one.state.state) for one in board.rows(time.time_ns() // 1_000_000)]

        assert states() == []
        note_started(ours, word)
        assert states() == []  # its process began later than it should have: it is another one
        note_started(ours, msgspec.structs.replace(word, run="b" * 16, at=_now()))
        assert states() == [(ONE, "pending")]
        home.prompt("hi")
        assert states() == [(ONE, "working")]


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def test_a_subagent_that_cannot_be_read_for_a_moment_is_counted_when_it_can_be(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("I look.")
    beside = home.log().with_suffix("") / "subagents" / "agent-a1.jsonl"
    beside.parent.mkdir(parents=True)
    beside.write_bytes(
        home.log().read_bytes().replace(b"msg_", b"msg_a1_").replace(b'"uuid": "u', b'"uuid": "a1-u')
    )
    now = [0.0]
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        counts = BoardCounts(watch, PRICES, clock=lambda: now[0])
        ((name, session),) = watch.sessions.items()
        away = beside.rename(home.path / "away")
        without = counts.of(name, session)
        away.rename(beside)
        now[0] += 1000
        counted = counts.of(name, session)
    assert (without.spending.cost_micro_usd, without.problem) == (175, "does not exist")
    assert without.spending.is_lower_bound
    assert (counted.spending.cost_micro_usd, counted.problem) == (350, None)


def test_a_log_rewritten_with_its_length_and_time_is_counted_again(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("I look.")
    now = [0.0]
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        counts = BoardCounts(watch, PRICES, clock=lambda: now[0])
        ((name, session),) = watch.sessions.items()
        before = counts.of(name, session)
        times = home.log().stat()
        data = home.log().read_bytes()
        home.log().write_bytes(
            data.replace(b'"output_tokens": 5', b'"output_tokens": 9').replace(b": 10,", b": 40,")
        )
        os.utime(home.log(), ns=(times.st_atime_ns, times.st_mtime_ns))
        assert home.log().stat().st_size == times.st_size
        now[0] += 1000
        watch.wait(0.2)
        after = counts.of(name, session)
    assert (before.spending.tokens, after.spending.tokens) == (15, 49)


def test_the_beginning_of_a_session_is_that_of_its_log_also_when_it_was_rewritten(home: LiveHome) -> None:
    home.prompt("one")
    home.reply("I look.")
    now = [0.0]
    with closing(Watch(home.roots, spool=home.ours / "spool")) as watch:
        watch.begin()
        counts = BoardCounts(watch, PRICES, clock=lambda: now[0])
        ((name, session),) = watch.sessions.items()
        counts.of(name, session)
        first = _named_day(home.log(), "2026-01-02")
        now[0] += 1000
        watch.wait(0.2)
        after = counts.of(name, session)
    assert after.began_ms == first


def _named_day(log: Path, day: str) -> int:
    """Writes another day into all lines; the first moment that the log names then."""
    found = re.findall(rb'"timestamp": "([^"]+)"', data := log.read_bytes())
    log.write_bytes(data.replace(found[0][:10], day.encode()))
    return moment_ms(day + found[0][10:].decode())
