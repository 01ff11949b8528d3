"""What was spent in many logs: the same by one process or by two, whatever becomes of the second."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.oracle.logs import (
    NOON,
    ClaudeLog,
    CodexLog,
    claude,
    codex,
    later,
    message_id,
    session_id,
    thread_id,
    tokens,
    turn_id,
    usage,
)
from tracklog.agents.discovery import find_at
from tracklog.ledger import scan
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.scan import spent_in
from tracklog.model.usage import UsageBlock
from tracklog.reading.session_files import SessionFiles, group

N_SESSIONS = 12


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> list[SessionFiles]:
    """A dozen sessions of Claude Code with a subagent each, and two of Codex."""
    top = tmp_path_factory.mktemp("homes")
    for n in range(N_SESSIONS):
        at = later(NOON, seconds=100 * n)
        log = ClaudeLog(session_id(n), at=at)
        agent = ClaudeLog(session_id(n), at=at, sidechain=True, agent="a1")
        for k in range(4):
            log.prompt()
            log.reply(message_id(100 * n + k), usage(k, n))
        log.prompt("still waiting")
        agent.reply(f"gw-{n % 3}", usage(9, n))
        plant(top, claude(log, a1=agent))
    for n in (1, 2):
        rollout = CodexLog(thread_id(n))
        rollout.turn(turn_id(n, 1))
        rollout.counted(tokens(100, n))
        plant(top, codex(rollout))
    return group([*find_at(top / ".claude"), *find_at(top / ".codex")])


def plant(top: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_bytes(data)


def told(ledger: Ledger) -> tuple[Any, ...]:
    """All that a ledger knows."""
    rows = sorted(zip(ledger.keys(), ledger.rows(), strict=True))
    files = (ledger.names, ledger.cwds, ledger.totals, ledger.awaited, ledger.problems)
    return (rows, *(sorted(known.items()) for known in files))


def size_of(sessions: list[SessionFiles]) -> int:
    return sum(file.size for session in sessions for file in session.files)


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any log is worth a second process."""
    monkeypatch.setattr(scan, "_WORTH_TWO", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)


class Forks:
    """Watches which processes are made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.children: list[int] = []
        self._fork = os.fork
        monkeypatch.setattr(os, "fork", self)

    def __call__(self) -> int:
        pid = self._fork()
        if pid:
            self.children.append(pid)
        return pid

    def are_gone(self) -> bool:
        """Whether all of them ended and were waited for."""
        for pid in self.children:
            with pytest.raises(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        return bool(self.children)


@pytest.fixture
def idle_parent(two: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process takes nothing from the pile, so that the second one surely has work."""
    parent, take = os.getpid(), scan._Pile.next
    monkeypatch.setattr(scan._Pile, "next", lambda pile: [] if os.getpid() == parent else take(pile))


@pytest.fixture
def forks(monkeypatch: pytest.MonkeyPatch) -> Forks:
    return Forks(monkeypatch)


def test_all_requests_of_all_sessions_are_told(sessions: list[SessionFiles]) -> None:
    ledger = spent_in(sessions)
    assert len(ledger) == N_SESSIONS * 5 + 2
    assert len(ledger.awaited) == N_SESSIONS
    assert [source.path for source in ledger.sources] == sorted(source.path for source in ledger.sources)


def test_the_order_of_sessions_means_nothing(sessions: list[SessionFiles]) -> None:
    backwards = [session._replace(files=session.files[::-1]) for session in sessions[::-1]]
    assert told(spent_in(backwards)) == told(spent_in(sessions))


@pytest.mark.usefixtures("two")
def test_two_processes_tell_what_one_tells(sessions: list[SessionFiles], forks: Forks) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_WORTH_TWO", 1 << 60)
        alone = told(spent_in(sessions, with_tools=True))
    assert not forks.children
    assert told(spent_in(sessions, with_tools=True)) == alone
    assert forks.are_gone()


@pytest.mark.usefixtures("two")
def test_a_thread_beside_others_starts_no_second_process(sessions: list[SessionFiles], forks: Forks) -> None:
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(spent_in, sessions).result()
    assert told(found) == told(spent_in(sessions))
    assert len(forks.children) == 1  # of the main thread


@pytest.mark.parametrize("has_fork", [True, False])
def test_a_machine_with_one_core_or_without_forks_reads_alone(
    sessions: list[SessionFiles], monkeypatch: pytest.MonkeyPatch, has_fork: bool
) -> None:
    monkeypatch.setattr(scan, "_WORTH_TWO", 0)
    monkeypatch.setattr(os, "cpu_count", lambda: 1 if has_fork else 2)
    made = Forks(monkeypatch)
    if not has_fork:
        monkeypatch.delattr(os, "fork")
    assert (len(spent_in(sessions)), made.children) == (N_SESSIONS * 5 + 2, [])


class Dying:
    """What is done instead of reading a file: the parent reads, the child ends in some way at some file."""

    def __init__(self, how: str, after: int) -> None:
        self._parent, self._read = os.getpid(), scan.Work.read
        self._how, self._left = how, after

    def __get__(self, work: Any, _owner: type) -> Any:
        return lambda number: self.read(work, number)

    def read(self, work: Any, number: int) -> UsageBlock:
        if os.getpid() != self._parent:
            self._left -= 1
            if self._left < 0:
                self._die()
        return self._read(work, number)

    def _die(self) -> None:
        if self._how == "raises":
            raise MemoryError
        if self._how == "exits":
            raise SystemExit(3)
        os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.usefixtures("idle_parent")
@pytest.mark.parametrize("how", ["raises", "exits", "is killed"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_a_second_process_that_dies_changes_nothing(
    sessions: list[SessionFiles], forks: Forks, monkeypatch: pytest.MonkeyPatch, how: str, after: int
) -> None:
    alone = _alone(sessions)
    monkeypatch.setattr(scan.Work, "read", Dying(how, after))
    assert told(spent_in(sessions)) == alone
    assert forks.are_gone()


def _alone(sessions: list[SessionFiles]) -> tuple[Any, ...]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan, "_WORTH_TWO", 1 << 60)
        return told(spent_in(sessions))


@pytest.mark.usefixtures("idle_parent")
def test_a_second_process_that_dies_while_it_sends_changes_nothing(
    sessions: list[SessionFiles], forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone, parent, send = _alone(sessions), os.getpid(), scan._send

    def half(sending: int, message: bytes) -> None:
        assert os.getpid() != parent
        send(sending, message[: len(message) // 2])
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(scan, "_send", half)
    assert told(spent_in(sessions)) == alone
    assert forks.are_gone()


@pytest.mark.usefixtures("two")
def test_a_mistake_of_ours_flies_and_leaves_no_process_behind(
    sessions: list[SessionFiles], forks: Forks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_work: Any, _number: int) -> UsageBlock:
        raise ZeroDivisionError

    monkeypatch.setattr(scan.Work, "read", fails)
    with pytest.raises(ZeroDivisionError):
        spent_in(sessions)
    assert forks.are_gone()


@pytest.mark.parametrize("worth_two", [0, 1 << 60])
def test_progress_comes_to_all_bytes(
    sessions: list[SessionFiles], monkeypatch: pytest.MonkeyPatch, worth_two: int
) -> None:
    monkeypatch.setattr(scan, "_WORTH_TWO", worth_two)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    seen: list[int] = []
    spent_in(sessions, on_bytes=seen.append)
    assert sum(seen) == size_of(sessions)


@pytest.mark.usefixtures("idle_parent")
def test_progress_comes_to_all_bytes_also_where_the_second_process_reads_all(
    sessions: list[SessionFiles],
) -> None:
    seen: list[int] = []
    spent_in(sessions, on_bytes=seen.append)
    assert sum(seen) == size_of(sessions)


@pytest.mark.usefixtures("idle_parent")
def test_the_second_process_alone_tells_everything(sessions: list[SessionFiles], forks: Forks) -> None:
    assert told(spent_in(sessions)) == _alone(sessions)
    assert forks.are_gone()


def open_files() -> set[str]:
    return set(os.listdir("/dev/fd"))


@pytest.mark.usefixtures("two")
def test_nothing_is_left_open(sessions: list[SessionFiles]) -> None:
    spent_in(sessions)
    before = open_files()
    for _ in range(3):
        spent_in(sessions)
    assert len(open_files()) == len(before)


def test_a_file_that_went_away_is_a_problem_and_the_others_count(tmp_path: Path) -> None:
    logs = [ClaudeLog(session_id(n)) for n in range(2)]
    for n, log in enumerate(logs):
        log.reply(message_id(n), usage(1, 1))
    plant(tmp_path, claude(*logs))
    found = group(find_at(tmp_path / ".claude"))
    next(iter(found[0].files)).path.unlink()
    ledger = spent_in(found)
    assert (len(ledger), len(ledger.problems)) == (1, 1)


def test_a_damaged_compressed_rollout_is_a_problem_and_no_exception(tmp_path: Path) -> None:
    rollout = CodexLog(thread_id(1))
    rollout.turn(turn_id(1, 1))
    rollout.counted(tokens(100, 1))
    packed = zstandard.ZstdCompressor().compress(rollout.bytes())
    plant(tmp_path, {f"{rollout.path}.zst": packed[:-5]})
    ledger = spent_in(group(find_at(tmp_path / ".codex")))
    assert len(ledger.problems) == 1


def test_files_of_no_bytes_and_files_beside_the_threads_are_not_read(tmp_path: Path) -> None:
    log = ClaudeLog(session_id(1))
    log.reply(message_id(1), usage(1, 1))
    files = claude(log)
    folder = f".claude/projects/-home-dev-project/{session_id(1)}"
    plant(
        tmp_path,
        files | {f"{folder}/tool-results/x.txt": log.bytes(), f"{folder}/subagents/agent-a.jsonl": b""},
    )
    ledger = spent_in(group(find_at(tmp_path / ".claude")))
    assert [source.thread for source in ledger.sources] == ["main"]


def test_of_two_files_of_one_thread_the_longer_one_says_what_is_awaited(tmp_path: Path) -> None:
    short, long = ClaudeLog(session_id(1)), ClaudeLog(session_id(1))
    short.prompt()
    long.prompt()
    long.reply(message_id(1), usage(1, 1))
    for name, log in (("a", long), ("b", short)):
        plant(tmp_path, {f".claude/projects/-{name}/{log.session}.jsonl": log.bytes()})
    assert spent_in(group(find_at(tmp_path / ".claude"))).awaited == {}


@pytest.mark.parametrize("n_files", [0, 1, 3, 5000])
def test_a_pile_holds_every_file_once_and_fits_into_a_pipe(n_files: int, tmp_path: Path) -> None:
    pile = scan._Pile(_Sizes([n % 7 + 1 for n in range(n_files)]))  # type: ignore[arg-type]
    batches = list(iter(pile.next, []))
    assert sorted(number for batch in batches for number in batch) == list(range(n_files))


class _Sizes:
    """Work of which only the sizes of files are known."""

    def __init__(self, sizes: list[int]) -> None:
        self.files = [(None, _Sized(size)) for size in sizes]
        self.size = sum(sizes)


class _Sized:
    def __init__(self, size: int) -> None:
        self.size = size


def test_the_largest_files_are_taken_first() -> None:
    sizes = [5, 90, 1, 400]
    pile = scan._Pile(_Sizes(sizes))  # type: ignore[arg-type]
    batches: Iterator[list[int]] = iter(pile.next, [])
    assert [number for batch in batches for number in batch] == [3, 1, 0, 2]
