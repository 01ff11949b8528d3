"""The ledger: one entry for each request, whatever the order in which files tell of it."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tracklog.clock import NO_TIME
from tracklog.ledger.ledger import Ledger, merged
from tracklog.model.usage import (
    COUNT_RULES,
    NO_USAGE,
    Aside,
    Awaited,
    ClientTotals,
    CountRule,
    Loose,
    Sight,
    Source,
    UsageBlock,
    pack,
)

NAMES = ["", "claude-haiku-5-5", "nobodys-model", "cli", "sdk", "agent-1", "batch\t\tus"]
PATHS = ["a", "b", "c", "d"]
NOON = 1_772_625_600_000  # 2026-03-04T12:00:00Z
SOURCES = [Source(path, "claude", f"session-{path}", "main") for path in PATHS]
NOTHING = Sight._make([0] * len(Sight._fields))
few_examples = settings(max_examples=20, deadline=None)


def sight(file: int = 0, offset: int = 0, **known: Any) -> Sight:
    """A request as one file tells of it: one record, unless more is said."""
    made = NOTHING._replace(file=file, first_file=file, offset=offset, first_offset=offset, has_ended=True)
    made = made._replace(**{name: value for name, value in known.items() if name in Sight._fields})
    return made._replace(first_at=known.get("first_at", made.at))


CHOICES: dict[str, list[Any]] = {
    "output": [5, 0, 9, NO_USAGE],
    "at": [NOON, 5, 6, 86_400_000, NO_TIME],
    "input": [0, 1, 2, 120_000],
    "cache_write": [0, 1],
    "cache_read": [0, 2],
    "model": [0, 1, 2],
    "terms": [0, 6],
    "is_told": [False, True],
    "first_is_told": [False, True],
    "first_is_copy": [False, True],
    "first_is_beside": [False, True],
    "thread": [0, 5],
    "entrypoint": [0, 3, 4],
    "has_ended": [True, False],
}
N_CHOICES = math.prod(map(len, CHOICES.values()))


def sights(file: int, offset: int) -> st.SearchStrategy[Sight]:
    """What a file may tell of a request: few values, so that there are many ties; one draw for all, for speed."""

    def made(number: int) -> Sight:
        known = {}
        for name, choices in CHOICES.items():
            number, which = divmod(number, len(choices))
            known[name] = choices[which]
        return sight(file, offset, **known)

    return st.integers(0, N_CHOICES - 1).map(made)


BESIDE = [
    ("advisor", "claude-opus-4-5", (1, 2, 0, 0, 0, 0, 0, 0)),
    ("advisor", None, (3, 4, 1, 0, 0, 0, 0, 1)),
    ("compaction", "claude-opus-4-5", (5, 6, 0, 0, 0, 0, 0, 0)),
]
ASIDES = st.none() | st.builds(
    Aside,
    st.lists(st.sampled_from(["Bash", "Edit"]), max_size=2, unique=True).map(sorted),
    st.lists(st.sampled_from(BESIDE), max_size=1),
    st.none() | st.integers(0, 3),
)
MARKS = st.lists(st.sampled_from(["at:1", "at:2", "uuid:1", "uuid:2", "request:1"]), max_size=2, unique=True)


@st.composite
def blocks(draw: st.DrawFn, file: int) -> UsageBlock:
    """What one file may tell; keys come from a small pool, so that files share requests."""
    keys = draw(st.lists(st.sampled_from([b"k1", b"k2", b"k3", b"k4"]), max_size=4, unique=True))
    rows = [draw(sights(file, 10 * n)) for n in range(len(keys))]
    asides = {n: aside for n in range(len(keys)) if (aside := draw(ASIDES)) is not None}
    ids = draw(st.lists(st.sampled_from(["gw-1", "gw-2"]), max_size=3))
    loose = [
        Loose(id, draw(MARKS), pack(*draw(sights(file, 1000 + n))), draw(ASIDES)) for n, id in enumerate(ids)
    ]
    return UsageBlock(
        file=file,
        names=list(NAMES),
        cwd=draw(st.none() | st.just(f"/work/{file}")),
        keys=keys,
        rows=b"".join(pack(*row) for row in rows),
        asides=asides,
        loose=loose,
        totals=draw(st.none() | st.just(ClientTotals(5, 6, {}))),
        awaited=draw(st.none() | st.just(Awaited(7, 8, 1))),
        problem=draw(st.none() | st.just("damaged")),
    )


WORLDS = st.integers(1, len(PATHS)).flatmap(lambda n: st.tuples(*(blocks(file) for file in range(n))))


class Known(NamedTuple):
    """All that a ledger knows of a request, without the order that it keeps them in."""

    sight: Sight
    aside: Aside | None
    elsewhere: set[int] | None
    heirs: list[str]


def ledger_of(told: Iterable[UsageBlock], rule: CountRule = "ours") -> Ledger:
    made = Ledger(SOURCES, rule)
    for block in told:
        made.take(block)
    made.settle()
    return made


def known(ledger: Ledger) -> dict[bytes, Known]:
    found = enumerate(zip(ledger.keys(), ledger.rows(), strict=True))
    return {
        key: Known(row, ledger.asides.get(n), ledger.elsewhere.get(n), ledger.heirs_of(n))
        for n, (key, row) in found
    }


def all_of(ledger: Ledger) -> tuple[Any, ...]:
    beside = (ledger.names, ledger.cwds, ledger.totals, ledger.awaited, ledger.problems)
    return (known(ledger), *beside)


@few_examples
@given(WORLDS, st.randoms(use_true_random=False), st.sampled_from(COUNT_RULES))
def test_the_order_of_blocks_means_nothing(
    told: tuple[UsageBlock, ...], dice: random.Random, rule: CountRule
) -> None:
    shuffled = dice.sample(told, len(told))
    assert all_of(ledger_of(shuffled, rule)) == all_of(ledger_of(told, rule))


@few_examples
@given(WORLDS)
def test_blocks_that_went_to_another_process_and_back_are_the_same(told: tuple[UsageBlock, ...]) -> None:
    sent = [msgspec.msgpack.decode(msgspec.msgpack.encode(block), type=UsageBlock) for block in told]
    assert all_of(ledger_of(sent)) == all_of(ledger_of(told))


def rows_by_key(told: Sequence[UsageBlock]) -> dict[bytes, list[Sight]]:
    found: dict[bytes, list[Sight]] = {}
    for block in told:
        size = len(block.rows) // max(len(block.keys), 1)
        for n, key in enumerate(block.keys):
            (row,) = _unpacked(block.rows[n * size : (n + 1) * size])
            found.setdefault(key, []).append(row)
    return found


def _unpacked(row: bytes) -> list[Sight]:
    one = Ledger(SOURCES)
    one.take(UsageBlock(file=0, keys=[b"x"], rows=row))
    return list(one.rows())


@few_examples
@given(WORLDS)
def test_the_figures_of_a_request_are_those_of_one_record(told: tuple[UsageBlock, ...]) -> None:
    found = known(ledger_of(told))
    for key, rows in rows_by_key(told).items():
        winner = max(rows, key=lambda row: (not row.is_told, row.output, row.at, row.file, row.offset))
        first = min(rows, key=_first_rank)
        n = Sight._fields.index("first_at")
        assert found[key].sight[:n] == winner[:n]
        assert found[key].sight[n:-1] == first[n:-1]
        assert found[key].sight.has_ended == any(row.has_ended for row in rows)
        assert found[key].elsewhere == ({row.file for row in rows} if len(rows) > 1 else None)


def _first_rank(row: Sight) -> tuple[Any, ...]:
    late = (row.first_at == NO_TIME, row.first_at)
    return row.first_is_told, late, row.first_is_copy, row.first_is_beside, row.first_file, row.first_offset


@given(st.data())
def test_sights_may_be_merged_in_any_order_and_any_groups(data: st.DataObject) -> None:
    one, two, three = (data.draw(sights(file, 10 * file)) for file in range(3))
    rule = data.draw(st.sampled_from(COUNT_RULES))
    assert merged(one, two, rule) == merged(two, one, rule)
    assert merged(merged(one, two, rule), three, rule) == merged(one, merged(two, three, rule), rule)


@few_examples
@given(WORLDS)
def test_every_key_is_one_request(told: tuple[UsageBlock, ...]) -> None:
    made = ledger_of(told)
    assert len(made) == len(list(made.rows())) == len(set(made.keys()))


@pytest.mark.parametrize(
    ("rule", "output"),
    [("ours", 9), ("last-chunk", 7), ("first-chunk", 3), ("every-line", 7), ("time-and-usage", 3)],
)
def test_each_rule_has_its_own_winner(rule: CountRule, output: int) -> None:
    rows = [sight(0, output=3, at=1), sight(1, output=9, at=2), sight(2, output=7, at=3)]
    told = [UsageBlock(file=n, names=NAMES, keys=[b"k"], rows=pack(*row)) for n, row in enumerate(rows)]
    assert [row.output for row in ledger_of(told, rule).rows()] == [output]


def test_a_transcript_counts_before_a_mirror_that_says_more() -> None:
    told, own = sight(0, output=90, is_told=True, first_is_told=True, at=1), sight(1, output=5, at=2)
    both = merged(told, own)
    assert (both.output, both.file, both.first_file, both.first_at) == (5, 1, 1, 2)


def test_a_record_with_figures_counts_before_one_without() -> None:
    assert merged(sight(0, output=NO_USAGE, at=9), sight(1, output=0, at=1)).output == 0


@pytest.mark.parametrize("ends", [(True, False), (False, True)])
def test_a_request_has_ended_if_any_record_says_so(ends: tuple[bool, bool]) -> None:
    one, other = (sight(n, output=9 - n, has_ended=end) for n, end in enumerate(ends))
    assert merged(one, other).has_ended
    assert not merged(one._replace(has_ended=False), other._replace(has_ended=False)).has_ended


def test_a_record_without_a_time_is_not_the_first_one() -> None:
    assert merged(sight(0, at=NO_TIME), sight(1, at=5)).first_at == 5


def loose(id: str, file: int, *marks: str, offset: int = 0, **told: Any) -> Loose:
    return Loose(id, list(marks), pack(*sight(file, offset, **told)))


def settled(*told: Loose) -> dict[bytes, list[int]]:
    """Requests with ids of gateways, and the files that tell of each."""
    sources = [Source(str(n), "claude", f"s{n}", "main") for n in range(len(told))]
    made = Ledger(sources)
    for n, one in enumerate(told):
        made.take(UsageBlock(file=n, names=list(NAMES), loose=[one]))
    made.settle()
    rows = enumerate(zip(made.keys(), made.rows(), strict=True))
    return {key: sorted(made.elsewhere.get(n, {row.file})) for n, (key, row) in rows}


def test_ids_of_gateways_in_two_files_are_two_requests() -> None:
    assert settled(loose("gw", 0, "at:1"), loose("gw", 1, "at:2")) == {b"gw#0": [0], b"gw#1": [1]}


def test_ids_of_gateways_that_share_a_mark_are_one_request() -> None:
    assert settled(loose("gw", 0, "at:1"), loose("gw", 1, "at:1")) == {b"gw#0": [0, 1]}


def test_a_mark_alone_makes_no_request_the_same() -> None:
    assert settled(loose("gw", 0, "at:1"), loose("wg", 1, "at:1")) == {b"gw#0": [0], b"wg#0": [1]}


def test_requests_without_marks_are_never_the_same() -> None:
    assert settled(loose("gw", 0), loose("gw", 1)) == {b"gw#0": [0], b"gw#1": [1]}


def test_marks_reach_over_a_third_file() -> None:
    chain = [
        loose("gw", 0, "at:1"),
        loose("gw", 1, "at:1", "uuid:2"),
        loose("gw", 2, "uuid:2"),
        loose("gw", 3, "x"),
    ]
    assert settled(*chain) == {b"gw#0": [0, 1, 2], b"gw#1": [3]}


@given(st.lists(MARKS, max_size=8))
def test_requests_are_the_same_where_a_chain_of_marks_joins_them(marks: list[list[str]]) -> None:
    groups: list[tuple[set[str], set[int]]] = []
    for n, ours in enumerate(marks):
        joined = [group for group in groups if group[0] & set(ours)]
        groups = [group for group in groups if not group[0] & set(ours)]
        groups.append((set(ours).union(*(g[0] for g in joined)), {n}.union(*(g[1] for g in joined))))
    found = settled(*(loose("gw", n, *ours) for n, ours in enumerate(marks)))
    assert sorted(found.values()) == sorted(sorted(files) for _, files in groups)


def test_a_request_is_given_to_another_session_that_holds_it() -> None:
    rows = [sight(0, 5, at=1, thread=5, entrypoint=3), sight(2, 5, at=1)]
    names = [list(NAMES), [], ["", "others"]]
    told = [
        UsageBlock(file=n, names=names[n], keys=[b"k"], rows=pack(*row))
        for n, row in zip((0, 2), rows, strict=True)
    ]
    made = ledger_of(told)
    made.give(0, "session-c")
    (row,) = made.rows()
    assert (made.session_of(row), made.thread_of(row), made.entrypoint_of(row)) == (
        "session-c",
        "agent-1",
        "cli",
    )
    assert made.heirs_of(0) == ["session-a", "session-c"]


def test_a_request_that_stands_in_one_session_has_no_heirs() -> None:
    sources = [Source("a", "claude", "s", "main"), Source("b", "claude", "s", "agent-1", is_main=False)]
    made = Ledger(sources)
    for n in range(2):
        made.take(UsageBlock(file=n, names=list(NAMES), keys=[b"k"], rows=pack(*sight(n))))
    made.settle()
    assert (made.elsewhere, made.heirs_of(0)) == ({0: {0, 1}}, [])


def test_messages_that_a_file_tells_apart_stay_two_whatever_marks_they_share() -> None:
    told = [
        UsageBlock(
            file=0, names=list(NAMES), loose=[loose("gw", 0, "at:1"), loose("gw", 0, "at:1", offset=5)]
        ),
        UsageBlock(file=1, names=list(NAMES), loose=[loose("gw", 1, "at:1")]),
    ]
    assert len(ledger_of(told)) == 3


def test_a_third_file_joins_no_messages_that_a_file_tells_apart() -> None:
    told = [
        UsageBlock(
            file=0, names=list(NAMES), loose=[loose("gw", 0, "at:1"), loose("gw", 0, "at:2", offset=5)]
        ),
        UsageBlock(file=1, names=list(NAMES), loose=[loose("gw", 1, "at:1", "at:2")]),
    ]
    assert [len(known.elsewhere or {0}) for known in known(ledger_of(told)).values()] == [2, 1]


@pytest.mark.parametrize("n_files", [1, 5000])
def test_many_requests_of_one_gateway_id_are_settled_in_one_pass(n_files: int) -> None:
    """Apart from one another in one file, or joined by a chain of marks over thousands of files."""
    sources = [Source(f"{n:05d}", "claude", "s", "main") for n in range(n_files)]
    made, n_requests = Ledger(sources), 5000
    for n in range(n_requests):
        marks = [f"at:{n}", f"at:{n + 1}"]
        row = pack(*sight(n % n_files, n, at=n))
        made.take(UsageBlock(file=n % n_files, names=list(NAMES), loose=[Loose("gw", marks, row)]))
    made.settle()
    assert len(made) == (n_requests if n_files == 1 else 1)
