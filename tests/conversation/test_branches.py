from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tests.conversation.test_thread_reader import reading_of
from tests.model.lines import Line, at, log, reply, result, use, user
from tracklog.conversation.branches import LIVING, PlacedTurn, Sides, VisibleBranch, seen_from, ways_of
from tracklog.model.events import LogEvent, Place
from tracklog.sessions.tables_session import OutlinedBranch, OutlinedTurn

MAIN = OutlinedBranch("main", None, True, None, "a")
Told = tuple[str, str | None]  # a record, and the one that it follows


def left(id: str, fork: str | None, parent: str = "main") -> OutlinedBranch:
    return OutlinedBranch(id, parent, False, "edit", fork)


def turns_at(*lines: int, off: Sequence[int] = ()) -> list[PlacedTurn]:
    """Turns that begin in these lines."""
    return [
        PlacedTurn(OutlinedTurn(n, f"prompt {n}", None, None, 1, 0, 0, False, seq not in off, 1, seq), seq)
        for n, seq in enumerate(lines, 1)
    ]


def sides_of(branches: Sequence[OutlinedBranch], *told: Told) -> Sides:
    """Each record is a message in a line of its own."""
    sides = Sides(branches)
    events = [
        (seq, LogEvent(place=Place("x", seq), node=node, parent=parent, is_message=True))  # type: ignore[arg-type]
        for seq, (node, parent) in enumerate(told, 1)
    ]
    sides.take(events, len(told))
    return sides


def shown(branches: Sequence[OutlinedBranch], turns: list[PlacedTurn], sides: Sides, followed: str) -> str:
    """Each line: its number if it is seen, `(n)` if another way begins with it, nothing if it is left out."""
    seen = seen_from(ways_of(branches, turns, sides), turns, sides, followed)
    heads = {one.seq for one in seen.turns if one.is_head}
    off = seen.left_lines(1, sides.n)
    words = [
        f"({seq})" if seq in heads else str(seq) for seq in range(1, sides.n + 1) if seq not in off - heads
    ]
    return " ".join(words)


def test_a_conversation_without_branches_is_all_of_its_lines() -> None:
    sides = sides_of([MAIN], ("a", None), ("b", "a"), ("c", "b"))
    turns = turns_at(1, 3)
    assert [(one.seq, len(one.turns)) for one in ways_of([MAIN], turns, sides)] == [(1, 2)]
    assert shown([MAIN], turns, sides, LIVING) == "1 2 3"
    assert VisibleBranch().left_lines(1, 9) == set()


def test_a_way_that_left_another_one_is_seen_with_what_it_came_from() -> None:
    told = [("a", None), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "d"), ("f", "c"), ("g", "b"), ("h", "b")]
    branches = [MAIN, left("c", "b"), left("e", "d", "c"), left("g", "b")]
    sides, turns = sides_of(branches, *told), turns_at(1, 3, 5, 6, 7, 8, off=(3, 5, 6, 7))
    ways = ways_of(branches, turns, sides)
    assert [[one.turn.n for one in way.turns] for way in ways] == [[1, 6], [2, 4], [3], [5]]
    assert shown(branches, turns, sides, LIVING) == "1 2 (3) (5) (6) (7) 8"
    assert shown(branches, turns, sides, "c") == "1 2 3 4 (5) 6 (7) (8)"
    assert shown(branches, turns, sides, "e") == "1 2 3 4 5 (6) (7) (8)"
    assert shown(branches, turns, sides, "g") == "1 2 (3) (5) (6) 7 (8)"


def test_two_who_write_at_the_same_time_are_told_apart_line_by_line() -> None:
    told = [("a", None), ("b", "a"), ("x", "a"), ("c", "b"), ("y", "x"), ("d", "c"), ("z", "y"), ("e", "d")]
    branches = [MAIN, left("x", "a")]
    sides, turns = sides_of(branches, *told), turns_at(1, 2, 3, off=(3,))
    assert shown(branches, turns, sides, LIVING) == "1 2 (3) 4 6 8"
    assert shown(branches, turns, sides, "x") == "1 (2) 3 5 7"


def test_a_way_that_begins_amid_a_turn_is_seen_by_who_follows_it() -> None:
    told = [("a", None), ("b", "a"), ("c", "b"), ("d", "c"), ("e", "b"), ("f", "e")]
    branches = [MAIN, left("c", "b")]
    sides, turns = sides_of(branches, *told), turns_at(1, 5)
    assert [one.seq for one in ways_of(branches, turns, sides)] == [1, 3]
    assert shown(branches, turns, sides, LIVING) == "1 2 (3) 5 6"
    assert shown(branches, turns, sides, "c") == "1 2 3 4 (5)"


def test_a_branch_of_which_no_line_is_here_is_nobodys_way() -> None:
    branches = [MAIN, left("elsewhere", "nowhere")]
    sides, turns = sides_of(branches, ("a", None), ("b", "a")), turns_at(1)
    assert [one.seq for one in ways_of(branches, turns, sides)] == [1, None]
    assert shown(branches, turns, sides, "elsewhere") == shown(branches, turns, sides, LIVING) == "1 2"


def test_a_turn_that_was_retracted_is_left_and_leads_nowhere() -> None:
    sides, turns = sides_of([MAIN], ("a", None), ("b", "a"), ("c", "b")), turns_at(1, 2, 3, off=(2,))
    seen = seen_from(ways_of([MAIN], turns, sides), turns, sides, LIVING)
    assert [(one.n, one.is_on, one.is_head, one.leads_to) for one in seen.turns] == [
        (1, True, False, None),
        (2, False, True, None),
        (3, True, False, None),
    ]
    assert seen.left_lines(1, 3) == {2}


def test_branches_that_come_from_each_other_are_no_trouble() -> None:
    branches = [MAIN, left("b", "c", "c"), left("c", "b", "b")]
    sides, turns = sides_of(branches, ("a", None), ("b", "c"), ("c", "b")), turns_at(1, 2, 3, off=(2, 3))
    assert shown(branches, turns, sides, "c") == shown(branches, turns, sides, "b") == "(1) 2 3"


def test_lines_that_are_no_records_stand_where_the_one_before_them_does(tmp_path: Path) -> None:
    snapshot: Line = {
        "type": "file-history-snapshot",
        "messageId": "x",
        "snapshot": {},
        "isSnapshotUpdate": False,
    }
    reading = reading_of(
        tmp_path,
        user("a", None, "begin", timestamp=at(1)),
        snapshot,
        user("b", "a", "left", timestamp=at(2)),
        snapshot,
        reply("c", "b", "m1", use("t1", command="x"), timestamp=at(3)),
        result("d", "c", "t1", "y", timestamp=at(4)),
        user("e", "a", "right", timestamp=at(5)),
        snapshot,
    )
    sides = reading.sides([MAIN, left("b", "a")])
    assert [sides.branch_at(seq) for seq in range(1, 9)] == ["main"] * 2 + ["b"] * 4 + ["main"] * 2
    assert reading.sides([MAIN, left("b", "a")]) is sides
    with (tmp_path / "a.jsonl").open("ab") as file:
        file.write(log([user("f", "d", "left again", timestamp=at(6))]) + b"\n")
    reading.lines.look()
    assert (reading.sides([MAIN, left("b", "a")]).branch_at(9), sides.n) == ("b", 9)
    assert reading.sides([MAIN, left("e", "a")]).branch_at(9) == "main"
    (tmp_path / "a.jsonl").write_bytes(log([user("b", None, "anew")]) + b"\n")
    reading.lines.look()
    assert [reading.sides([MAIN, left("b", "a")]).branch_at(seq) for seq in (1, 2)] == ["b", "main"]


@given(
    parents=st.lists(st.integers(0, 9), min_size=2, max_size=14),
    heads=st.sets(st.integers(1, 13), max_size=4),
    cut=st.integers(0, 14),
)
def test_taken_in_two_parts_is_taken_at_once_and_every_line_is_on_its_own_way(
    parents: list[int], heads: set[int], cut: int
) -> None:
    told = [(str(n), str(parent % n) if n else None) for n, parent in enumerate(parents)]
    branches = [MAIN, *(left(str(n), told[n][1]) for n in sorted(heads) if n < len(told))]
    whole, halves = sides_of(branches, *told), Sides(branches)
    events = [
        (seq, LogEvent(place=Place("x", seq), node=node, parent=parent, is_message=True))  # type: ignore[arg-type]
        for seq, (node, parent) in enumerate(told, 1)
    ]
    halves.take(events[:cut], min(cut, len(told)))
    halves.take(events[cut:], len(told))
    lines = range(1, len(told) + 1)
    assert [halves.branch_at(seq) for seq in lines] == [whole.branch_at(seq) for seq in lines]
    for name in (LIVING, *(one.id for one in branches[1:])):
        seen = seen_from(ways_of(branches, [], whole), [], whole, name)
        assert all(seen.is_on(seq) for seq in lines if whole.branch_at(seq) == name)
