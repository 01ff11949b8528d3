"""Cases of Codex: threads that begin with another thread's history."""

from __future__ import annotations

from collections.abc import Iterator

from tests.oracle.logs import CODEX, DAY, NOON, CodexLog, codex, later, thread_id, tokens, turn_id
from tests.oracle.truth import Case, Count, Spent, Truth

ONE, TWO, THREE = thread_id(1), thread_id(2), thread_id(3)
FIRST = tokens(5434, 563, cached=5000, reasoning=63)
SECOND = tokens(5705, 243, cached=5100, reasoning=16)
OWN = tokens(7000, 31, cached=6900)
PARENT_SPENT = [
    Spent(ONE, CODEX, DAY, Count(434, 563, 0, 5000, reasoning=63)),
    Spent(ONE, CODEX, DAY, Count(605, 243, 0, 5100, reasoning=16)),
]
OWN_COUNT = Count(100, 31, 0, 6900)
TEN_MINUTES = later(NOON, seconds=600)


def cases() -> Iterator[Case]:
    """All of this page."""
    yield fork_with_parent()
    yield fork_without_parent()
    yield fork_of_a_fork()
    yield fork_by_reference()
    yield fork_with_a_burst()
    yield revert()
    yield subagent_with_ordinal()
    yield subagent_with_replay()
    yield resume_copy()
    yield long_replay()


def _parent(*, named_turns: bool = True) -> CodexLog:
    log = CodexLog(ONE)
    for n, last in enumerate((FIRST, SECOND)):
        log.turn(turn_id(1, n) if named_turns else None)
        log.counted(last)
    return log


def _fork(parent: CodexLog, *, thread: int = 2) -> CodexLog:
    at = later(NOON, seconds=600 * (thread - 1))
    fork = CodexLog(thread_id(thread), at=at, forked_from_id=parent.thread)
    fork.replay(parent)
    fork.turn(turn_id(thread, 1))
    fork.counted(OWN)
    return fork


def fork_with_parent() -> Case:
    parent = _parent()
    truth = Truth([*PARENT_SPENT, Spent(TWO, CODEX, DAY, OWN_COUNT)])
    proves = "a fork begins with a copy of its parent's counts"
    return Case("Codex fork", proves, codex(parent, _fork(parent)), truth)


def fork_without_parent() -> Case:
    """The parent's file is gone: its turns are older than the fork itself, so they are not the fork's."""
    truth = Truth([Spent(TWO, CODEX, DAY, OWN_COUNT)])
    proves = "a turn older than its thread was not made in it"
    return Case("Codex fork, parent gone", proves, codex(_fork(_parent())), truth)


def fork_of_a_fork() -> Case:
    parent = _parent()
    fork = _fork(parent)
    own = [Spent(TWO, CODEX, DAY, OWN_COUNT), Spent(THREE, CODEX, DAY, OWN_COUNT)]
    proves = "each generation counts its own"
    files = codex(parent, fork, _fork(fork, thread=3))
    return Case("Codex fork of a fork", proves, files, Truth([*PARENT_SPENT, *own]))


def fork_by_reference() -> Case:
    """Since 0.145 a fork names the file it goes on from; nothing is copied, but the total goes on."""
    parent = _parent()
    base = {"thread_id": ONE, "end_ordinal_exclusive": 8, "end_byte_offset": 2000}
    fork = CodexLog(TWO, at=TEN_MINUTES, forked_from_id=ONE, history_mode="paginated", history_base=base)
    fork.total = parent.total
    fork.turn(turn_id(2, 1))
    fork.counted(OWN)
    truth = Truth([*PARENT_SPENT, Spent(TWO, CODEX, DAY, OWN_COUNT)])
    proves = "the first count of such a file is its own, though its total is not"
    return Case("Codex fork by reference", proves, codex(parent, fork), truth)


def fork_with_a_burst() -> Case:
    """The fork's first count is repeated within its second, as after a change of a rate limit."""
    parent = _parent()
    base = {"thread_id": ONE, "end_ordinal_exclusive": 8, "end_byte_offset": 2000}
    fork = CodexLog(TWO, at=TEN_MINUTES, forked_from_id=ONE, history_mode="paginated", history_base=base)
    fork.total = parent.total
    fork.turn(turn_id(2, 1))
    fork.counted(OWN)
    counted = fork.records[-1]
    assert not isinstance(counted, bytes)
    fork.records.append(counted | {"timestamp": later(counted["timestamp"], seconds=0.2)})
    truth = Truth([*PARENT_SPENT, Spent(TWO, CODEX, DAY, OWN_COUNT)])
    proves = "two counts in one second are no proof of a copy"
    return Case("Codex fork, count repeated at once", proves, codex(parent, fork), truth)


def revert() -> Case:
    """A reverted thread: same thread id, another file, which goes on from the middle of the first."""
    parent = _parent()
    base = {"thread_id": ONE, "end_ordinal_exclusive": 4, "end_byte_offset": 1000}
    again = CodexLog(ONE, at=TEN_MINUTES, history_mode="paginated", history_base=base)
    again.total = FIRST
    again.turn(turn_id(1, 5))
    again.counted(SECOND)  # the same figures and the same total as in the turn that was reverted
    path = again.path.replace(".jsonl", f"_{TWO}.jsonl")
    truth = Truth([*PARENT_SPENT, PARENT_SPENT[1]])
    proves = "a turn made again is another turn, also when it costs the same"
    return Case("reverted thread", proves, codex(parent) | {path: again.bytes()}, truth)


def subagent_with_ordinal() -> Case:
    parent = _parent()
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": ONE, "depth": 1}}}
    agent = CodexLog(
        TWO,
        at=TEN_MINUTES,
        ordinals=True,
        source=spawned,
        session_id=ONE,
        parent_thread_id=ONE,
        subagent_history_start_ordinal=5,
    )
    agent.turn(turn_id(1, 0))
    agent.count(last=FIRST, total=FIRST)  # ordinal 4: inherited
    agent.total = FIRST
    agent.turn(turn_id(2, 1))
    agent.counted(OWN)
    truth = Truth([*PARENT_SPENT, Spent(ONE, CODEX, DAY, OWN_COUNT)])
    proves = "lines below the stated ordinal are inherited; a subagent counts in its session"
    return Case("Codex subagent, ordinal", proves, codex(parent, agent), truth)


def subagent_with_replay() -> Case:
    """A subagent that was given the full history, before ordinals were stated."""
    parent = _parent()
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": ONE, "depth": 1}}}
    agent = CodexLog(TWO, at=TEN_MINUTES, source=spawned, forked_from_id=ONE, parent_thread_id=ONE)
    agent.replay(parent)
    agent.turn(turn_id(2, 1))
    agent.counted(OWN)
    truth = Truth([*PARENT_SPENT, Spent(ONE, CODEX, DAY, OWN_COUNT)])
    proves = "a subagent's copy of the history is its parent's spending"
    return Case("Codex subagent, replay", proves, codex(parent, agent), truth)


def resume_copy() -> Case:
    """0.36: resuming wrote a new file: own meta, a copy with the old one's meta, no turn ids, no forked_from_id."""
    parent = _parent(named_turns=False)
    resumed = CodexLog(TWO, at=TEN_MINUTES)
    resumed.replay(parent)
    resumed.turn()
    resumed.counted(OWN)
    truth = Truth([*PARENT_SPENT, Spent(TWO, CODEX, DAY, OWN_COUNT)])
    proves = "a second session_meta tells whose counts follow"
    return Case("resume copy of 0.36", proves, codex(parent, resumed), truth)


def long_replay() -> Case:
    """Copying took several seconds: no two counts share one."""
    parent = _parent()
    fork = CodexLog(TWO, at=TEN_MINUTES, forked_from_id=ONE)
    fork.replay(parent)
    for n, record in enumerate(fork.records):
        assert not isinstance(record, bytes)
        fork.records[n] = record | {"timestamp": later(TEN_MINUTES, seconds=n)}
    fork.turn(turn_id(2, 1))
    fork.counted(OWN)
    truth = Truth([*PARENT_SPENT, Spent(TWO, CODEX, DAY, OWN_COUNT)])
    proves = "a replay is known by its turns, not by its speed"
    return Case("Codex fork, slow copy", proves, codex(parent, fork), truth)
