"""Whose request it is: a fork never takes its parent's, whichever path sorts first."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.logs import NOON, ClaudeLog, Files, claude, later, message_id, session_id, usage
from tracklog.agents.discovery import find_at
from tracklog.ledger.ledger import Ledger, _descends
from tracklog.ledger.owners import _families
from tracklog.ledger.scan import spent_in
from tracklog.reading.session_files import SessionFiles, group


def planted(top: Path, files: Files) -> list[SessionFiles]:
    for name, data in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)
    return group(find_at(top / ".claude"))


def owners_in(ledger: Ledger) -> dict[str, tuple[str, list[str]]]:
    """Of each request the session that it belongs to, and all that hold it."""
    rows = enumerate(zip(ledger.keys(), ledger.rows(), strict=True))
    return {key.decode(): (ledger.session_of(row), ledger.heirs_of(n)) for n, (key, row) in rows}


def turn(log: ClaudeLog, n: int) -> None:
    log.prompt()
    log.reply(message_id(n), usage(n, n))


def forked(parent: ClaudeLog, session: str, *, at: int, is_marked: bool = False) -> ClaudeLog:
    """A session that begins with all of another's records, with their own times."""
    fork = ClaudeLog(session, at=later(NOON, seconds=at))
    for record in parent.records:
        assert isinstance(record, dict)
        mark = (
            {"forkedFrom": {"sessionId": parent.session, "messageUuid": record["uuid"]}} if is_marked else {}
        )
        fork.copy([record], **mark)
    return fork


def chain(ids: list[str], *, is_marked: bool) -> list[ClaudeLog]:
    """A session, its fork, the fork of that, and so on: each makes one request of its own."""
    logs: list[ClaudeLog] = []
    for n, id in enumerate(ids):
        log = forked(logs[-1], id, at=600 * n, is_marked=is_marked) if logs else ClaudeLog(id)
        turn(log, n)
        logs.append(log)
    return logs


@pytest.mark.parametrize("is_marked", [False, True])
@pytest.mark.parametrize("order", list(itertools.permutations([1, 2, 3])))
def test_each_generation_owns_what_it_wrote_whichever_path_sorts_first(
    tmp_path: Path, order: tuple[int, ...], is_marked: bool
) -> None:
    ids = [session_id(n) for n in order]
    sessions = planted(tmp_path, claude(*chain(ids, is_marked=is_marked)))
    for given_order in (sessions, sessions[::-1]):
        assert owners_in(spent_in(given_order)) == {
            message_id(n): (id, sorted(ids[n:]) if n < 2 else []) for n, id in enumerate(ids)
        }


def test_a_long_chain_of_forks_of_forks_is_told_apart(tmp_path: Path) -> None:
    ids = [session_id(9 - n) for n in range(8)]
    found = owners_in(spent_in(planted(tmp_path, claude(*chain(ids, is_marked=True)))))
    assert {key: owner for key, (owner, _) in found.items()} == {
        message_id(n): id for n, id in enumerate(ids)
    }


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
def test_two_forks_of_one_session_own_nothing_of_it_nor_of_each_other(
    tmp_path: Path, order: tuple[int, ...]
) -> None:
    first, second, third = (session_id(n) for n in order)
    parent = ClaudeLog(first)
    turn(parent, 1)
    forks = [forked(parent, second, at=600), forked(parent, third, at=900)]
    for n, fork in enumerate(forks):
        turn(fork, 2 + n)
    turn(parent, 4)
    assert owners_in(spent_in(planted(tmp_path, claude(parent, *forks)))) == {
        message_id(1): (first, sorted([first, second, third])),
        message_id(2): (second, []),
        message_id(3): (third, []),
        message_id(4): (first, []),
    }


def test_a_fork_whose_parent_is_gone_owns_what_it_holds(tmp_path: Path) -> None:
    _, fork = chain([session_id(1), session_id(2)], is_marked=True)
    assert owners_in(spent_in(planted(tmp_path, claude(fork)))) == {
        message_id(0): (session_id(2), []),
        message_id(1): (session_id(2), []),
    }


def test_a_fork_of_a_fork_whose_parent_is_gone_leaves_the_request_to_the_oldest_that_is_left(
    tmp_path: Path,
) -> None:
    _, second, third = chain([session_id(5), session_id(4), session_id(3)], is_marked=True)
    assert owners_in(spent_in(planted(tmp_path, claude(second, third)))) == {
        message_id(0): (session_id(4), [session_id(3), session_id(4)]),
        message_id(1): (session_id(4), [session_id(3), session_id(4)]),
        message_id(2): (session_id(3), []),
    }


def test_without_owners_only_the_session_may_be_another(tmp_path: Path) -> None:
    sessions = planted(tmp_path, claude(*chain([session_id(2), session_id(1)], is_marked=False)))
    fast, slow = spent_in(sessions, with_owners=False), spent_in(sessions)
    assert [row.output for row in fast.rows()] == [row.output for row in slow.rows()]
    assert owners_in(slow)[message_id(0)][0] == session_id(2)


def test_the_thread_and_the_way_in_go_with_a_request_that_is_given_back(tmp_path: Path) -> None:
    parent = ClaudeLog(session_id(2))
    parent.prompt()
    parent.reply(message_id(1), usage(1, 1), entrypoint="sdk-py", isSidechain=True, agentId="a9")
    fork = forked(parent, session_id(1), at=600)
    turn(fork, 2)
    ledger = spent_in(planted(tmp_path, claude(parent, fork)))
    row = next(
        row for key, row in zip(ledger.keys(), ledger.rows(), strict=True) if key == message_id(1).encode()
    )
    assert (ledger.session_of(row), ledger.thread_of(row), ledger.entrypoint_of(row)) == (
        session_id(2),
        "a9",
        "sdk-py",
    )


NAMES = st.sampled_from("abcdefgh")


@given(st.lists(st.frozensets(NAMES, min_size=1, max_size=3), max_size=8))
def test_sessions_that_share_something_over_any_steps_are_one_family(groups: list[frozenset[str]]) -> None:
    families = sorted(map(sorted, _families(groups)))
    members = [name for family in families for name in family]
    assert sorted(members) == sorted(frozenset().union(*groups))
    for group_ in groups:
        assert sum(group_ <= set(family) for family in families) == 1
    assert sorted(map(sorted, _families(groups[::-1]))) == families


@settings(max_examples=50)
@given(st.dictionaries(NAMES, NAMES), st.frozensets(NAMES), NAMES)
def test_whoever_has_an_ancestor_among_the_holders_descends_also_in_circles(
    parents: dict[str, str], holders: frozenset[str], id: str
) -> None:
    ancestors, one = [id], id
    while (one := parents.get(one, "")) and one not in ancestors:
        ancestors.append(one)
    assert _descends(id, holders, parents) is bool(holders.intersection(ancestors[1:]))
