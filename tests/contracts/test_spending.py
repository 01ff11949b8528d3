"""The contracts of the ledger: what was spent depends on what stands in the logs, and on nothing else."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.contracts.logs import some_log
from tests.oracle.logs import (
    HAIKU,
    NOON,
    OPUS,
    ClaudeLog,
    CodexLog,
    Files,
    claude,
    codex,
    later,
    message_id,
    session_id,
    text,
    thread_id,
    tokens,
    tool_use,
    turn_id,
    usage,
)
from tracklog.agents.discovery import find_at
from tracklog.ledger import scan
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.report import all_entries, report
from tracklog.ledger.scan import spent_in
from tracklog.model.usage import COUNT_RULES, GROUPS, UsageBlock, UsageReport
from tracklog.reading.session_files import SessionFiles, group

often = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PRICES = Prices.load()
DATA = Path(__file__).parents[1] / "data"
ACTS = ["prompt", "reply", "reply", "chunk", "call", "result", "gateway", "mirror", "totals"]


class Writer:
    """Writes one session, act by act; what an act says follows from how many there were."""

    def __init__(self, log: ClaudeLog, n: int) -> None:
        self.log = log
        self._n = 100 * n

    def act(self, kind: str) -> None:
        self._n += 1
        n, log = self._n, self.log
        match kind:
            case "prompt":
                log.prompt()
            case "result":
                log.result(f"toolu_{n - 1}")
            case "totals":
                used = {"inputTokens": 1000 + n, "outputTokens": 1000 + n, "costUSD": 0.01 * n}
                log.note({"type": "cost-state", "totalCostUSD": 0.01 * n, "modelUsage": {OPUS: used}})
            case "mirror":
                record = log.reply(message_id(n), usage(n, 1))
                log.records.pop()
                log.progress(record)
            case _:
                self._reply(kind)

    def _reply(self, kind: str) -> None:
        n, log = self._n, self.log
        id = {"gateway": f"gw-{n % 2}", "chunk": message_id(n - 1)}.get(kind, message_id(n))
        content = [tool_use(f"toolu_{n}")] if kind == "call" else [text()]
        stop = None if n % 3 == 0 else "end_turn"
        used = None if n % 7 == 0 else usage(n % 5, n % 4, read=n % 3, write=n % 2)
        log.reply(id, used, model=HAIKU if n % 2 else OPUS, stop=stop, content=content)


@st.composite
def homes(draw: st.DrawFn) -> Files:
    """Sessions of both agents: forks, subagents, ids of gateways, mirrors, totals, unfinished turns."""
    logs: list[ClaudeLog] = []
    for n in range(draw(st.integers(1, 3))):
        log = ClaudeLog(session_id(draw(st.sampled_from([n, 9 - n]))), at=later(NOON, seconds=40_000 * n))
        is_fork = draw(st.booleans())
        if logs and is_fork:
            kept = draw(st.integers(0, len(logs[-1].records)))
            log.copy(record for record in logs[-1].records[:kept] if isinstance(record, dict))
        writer = Writer(log, n)
        for kind in draw(st.lists(st.sampled_from(ACTS), min_size=1, max_size=7)):
            writer.act(kind)
        logs.append(log)
    agent = ClaudeLog(logs[0].session, at=later(NOON, seconds=7), sidechain=True, agent="a1")
    for kind in draw(st.lists(st.sampled_from(ACTS[:5]), max_size=3)):
        Writer(agent, draw(st.sampled_from([0, 8]))).act(kind)
    return claude(*logs, a1=agent) | draw(rollouts())


@st.composite
def rollouts(draw: st.DrawFn) -> Files:
    """Threads of Codex, the second perhaps a fork of the first."""
    logs: list[CodexLog] = []
    for n in range(draw(st.integers(0, 2))):
        is_fork = draw(st.booleans()) and bool(logs)
        more: dict[str, Any] = {"forked_from_id": thread_id(1)} if is_fork else {}
        log = CodexLog(thread_id(n + 1), at=later(NOON, seconds=3600 * n), **more)
        if is_fork:
            log.replay(logs[0])
        log.turn(turn_id(n + 1, 1))
        for k in range(draw(st.integers(0, 3))):
            log.counted(tokens(100 + k, k), response=f"resp_{n}_{k}" if n else None, turn=turn_id(n + 1, 1))
        logs.append(log)
    return codex(*logs)


@contextmanager
def planted(files: Files) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        for name, data in files.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_bytes(data)
        yield Path(folder)


def sessions_in(*tops: Path) -> list[SessionFiles]:
    places = [top / name for top in tops for name in (".claude", ".codex") if (top / name).is_dir()]
    return group(found for place in places for found in find_at(place))


def reports(ledger: Ledger) -> list[UsageReport]:
    return [report(ledger, PRICES, group_, zone=UTC) for group_ in GROUPS]


def told(ledger: Ledger) -> tuple[Any, ...]:
    """All that can be asked of a ledger."""
    return reports(ledger), sorted(all_entries(ledger, PRICES), key=lambda entry: (entry.key, entry.place))


@often
@given(homes(), st.randoms(use_true_random=False))
def test_the_order_of_files_means_nothing(files: Files, dice: random.Random) -> None:
    with planted(files) as top:
        sessions = sessions_in(top)
        shuffled = [
            session._replace(files=tuple(dice.sample(session.files, len(session.files))))
            for session in dice.sample(sessions, len(sessions))
        ]
        assert told(spent_in(shuffled, with_tools=True)) == told(spent_in(sessions, with_tools=True))


@often
@given(homes(), st.randoms(use_true_random=False), st.sampled_from(COUNT_RULES))
def test_the_order_in_which_files_are_read_means_nothing(
    files: Files, dice: random.Random, rule: Any
) -> None:
    with planted(files) as top:
        work = scan.Work(sessions_in(top), rule, with_tools=True)
        blocks = [work.read(number) for number in range(len(work.files))]
        ledgers = []
        for order in (blocks, dice.sample(blocks, len(blocks))):
            ledger = Ledger([source for source, _ in work.files], rule)
            for block in msgspec.msgpack.decode(msgspec.msgpack.encode(order), type=list[UsageBlock]):
                ledger.take(block)
            ledger.settle()
            ledgers.append(told(ledger))
        assert ledgers[0] == ledgers[1]


@often
@given(homes())
def test_a_home_that_is_given_twice_counts_once(files: Files) -> None:
    with planted(files) as top, planted(files) as copy:
        assert reports(spent_in(sessions_in(top, copy))) == reports(spent_in(sessions_in(top)))


@often
@given(homes(), st.sampled_from([1, 13, 200]))
def test_the_size_of_pieces_means_nothing(files: Files, size: int) -> None:
    with planted(files) as top, pytest.MonkeyPatch.context() as patch:
        whole = told(spent_in(sessions_in(top)))
        patch.setattr(scan, "_CHUNK", size)
        assert told(spent_in(sessions_in(top))) == whole


@settings(often, max_examples=10)
@given(homes())
def test_two_processes_tell_what_one_tells(files: Files) -> None:
    with planted(files) as top, pytest.MonkeyPatch.context() as patch:
        alone = told(spent_in(sessions_in(top), with_tools=True))
        patch.setattr(scan, "_WORTH_TWO", 0)
        patch.setattr(os, "cpu_count", lambda: 2)
        assert told(spent_in(sessions_in(top), with_tools=True)) == alone


@often
@given(homes())
def test_tools_and_owners_change_no_figure(files: Files) -> None:
    with planted(files) as top:
        sessions = sessions_in(top)
        plain, rich = spent_in(sessions, with_owners=False), spent_in(sessions, with_tools=True)
        daily = [report(ledger, PRICES, "daily", zone=UTC) for ledger in (plain, rich)]
        assert [made.rows for made in daily[:1]] == [made.rows for made in daily[1:]]


@often
@given(homes())
def test_every_request_has_one_owner_that_holds_it(files: Files) -> None:
    with planted(files) as top:
        for entry in all_entries(spent_in(sessions_in(top)), PRICES):
            assert entry.session not in entry.inherited_by
            holders = [name for name in (entry.session, *entry.inherited_by) if entry.agent == "claude"]
            for holder in holders:
                data = b"".join(body for name, body in files.items() if holder in name)
                assert entry.key.partition("#")[0].encode() in data or entry.key.startswith("awaited:")


@often
@given(st.lists(st.tuples(st.sampled_from(ACTS[1:4]), st.booleans()), min_size=1, max_size=9))
def test_a_session_that_moved_between_two_folders_counts_as_in_one(acts: list[tuple[str, bool]]) -> None:
    """Within a file and over files the same rules choose the record that counts, and the first one."""
    log = ClaudeLog(session_id(1))
    writer = Writer(log, 1)
    for kind, _ in acts:
        writer.act(kind)
    halves = ClaudeLog(session_id(1)), ClaudeLog(session_id(1))
    for record, (_, is_second) in zip(log.records, acts, strict=True):
        halves[is_second].records.append(record)
    folder = ".claude/projects/-home-dev"
    moved = {
        f"{folder}-{n}/{half.session}.jsonl": half.bytes() for n, half in enumerate(halves) if half.records
    }
    with planted({f"{folder}/{log.session}.jsonl": log.bytes()}) as one, planted(moved) as two:
        whole, parts = ([made.rows for made in reports(spent_in(sessions_in(top)))] for top in (one, two))
    assert parts == whole


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_any_bytes_in_a_home_give_a_report(agent: str) -> None:
    @settings(often, max_examples=15)
    @given(st.lists(some_log(agent), min_size=1, max_size=2), st.sampled_from(COUNT_RULES))
    def check(logs: list[bytes], rule: Any) -> None:
        where = (
            ".claude/projects/-p/{}.jsonl"
            if agent == "claude"
            else ".codex/sessions/2026/03/04/rollout-2026-03-04T12-00-00-{}.jsonl"
        )
        name = session_id if agent == "claude" else thread_id
        with planted({where.format(name(n)): data for n, data in enumerate(logs)}) as top:
            for made in reports(spent_in(sessions_in(top), rule=rule, with_tools=True)):
                assert made.total.tokens.output <= made.total.most_output

    check()


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.jsonl")), ids=lambda path: "/".join(path.parts[-3:]))
def test_what_real_clients_wrote_counts_once_however_often_it_is_copied(path: Path, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        shutil.copy(path, tmp_path / name / path.name)
    once, thrice = spent_in(group(find_at(tmp_path / "a"))), spent_in(group(find_at(tmp_path)))
    assert [made.rows for made in reports(once)] == [made.rows for made in reports(thrice)]
