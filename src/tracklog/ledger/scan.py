"""Scan logs for usage: every file is searched once, by two processes where that pays.

Rules
  1. Files are numbered in the order of their paths, and queued: a process that is free takes the next.
  2. The second process only reads. What it found in a file it sends at once, so nothing is held twice.
  3. If it dies, what it had not sent is read here: the answer is the same, only later.
"""

from __future__ import annotations

import os
import select
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from hashlib import blake2b
from threading import current_thread, main_thread
from typing import TYPE_CHECKING

import msgspec

from tracklog.agents.base import LogToScan
from tracklog.agents.supported import support_for
from tracklog.ledger.ledger import SCAN, Ledger
from tracklog.model.ids import MAIN, SessionId
from tracklog.model.usage import CountRule, Source, UsageBlock
from tracklog.reading.session_files import SessionFiles, thread_of
from tracklog.sources.files import buffer_of
from tracklog.sources.gc_pause import no_collecting
from tracklog.sources.log_file import MAIN_KINDS, FileKind, LogFile

if TYPE_CHECKING:
    from tracklog.model.lineage.copies import Own
    from tracklog.reading.family import Kinship

OnBytes = Callable[[int], None]
_READ = MAIN_KINDS | {FileKind.SUBAGENT}
_WORTH_TWO = 48_000_000  # bytes from which on a second process pays
_CHUNK = 1 << 19  # what fits into a processor's own memory is searched fastest
_HEAD = 1 << 17  # a first line holds the whole instructions
_NUMBER = struct.Struct("<i")
_LENGTH = struct.Struct("<q")
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(UsageBlock).decode


def spent_in(
    sessions: Sequence[SessionFiles],
    *,
    rule: CountRule = "ours",
    with_tools: bool = False,
    with_owners: bool = True,
    on_bytes: OnBytes | None = None,
) -> Ledger:
    """Scan the logs of some sessions and merge their requests into a ledger.

    Without tools and owners it is faster; a request of a fork may then count for the wrong one of two sessions.
    """
    work = Work(sessions, rule, with_tools=with_tools)
    ledger = Ledger([source for source, _ in work.files], rule)
    with no_collecting():
        for block in blocks_of(work, on_bytes):
            ledger.take(block)
    ledger.settle()
    if ledger.elsewhere and (with_owners or ledger.totals):
        from tracklog.ledger.owners import settle_owners  # all readers come with it

        settle_owners(ledger, sessions)
    return ledger


class Work:
    """The files to scan, and how. `kinship` is that of these sessions, if its logs were read before."""

    def __init__(
        self,
        sessions: Sequence[SessionFiles],
        rule: CountRule,
        *,
        with_tools: bool,
        kinship: Kinship | None = None,
    ) -> None:
        self.files = sources_of(sessions)
        self.size = sum(file.size for _, file in self.files)
        self._rule: CountRule = rule
        self._with_tools = with_tools
        self._buffer = buffer_of(_CHUNK)
        agents = {source.agent for source, _ in self.files}
        self._scans = {agent: support_for(agent).usage.scan for agent in agents}
        self._own, self._families = _histories(sessions, kinship)
        self._newest: dict[tuple[str, str], int] = {}  # of the files of one thread, the longest
        for number in sorted(range(len(self.files)), key=lambda number: self.files[number][1].size):
            source = self.files[number][0]
            self._newest[source.session, source.thread] = number

    def read(self, number: int) -> UsageBlock:
        """Scan one file."""
        source, file = self.files[number]
        is_newest = self._newest[source.session, source.thread] == number
        own, family = self._own.get(source.path), self._families.get(source.session)
        log = LogToScan(number, source, file, self._rule, self._with_tools, is_newest, own, family)
        return self._scans[source.agent](log, self._buffer)

    def inputs(self, number: int) -> bytes:
        """Hash of all that `read` knows besides the bytes of a file: where it differs, the block is stale."""
        source, _ = self.files[number]
        is_newest = self._newest[source.session, source.thread] == number
        own = self._own.get(source.path)
        copies = own.inherited if own is not None else []
        known = (SCAN, source[1:], is_newest, self._families.get(source.session), copies)
        return blake2b(repr(known).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def settle_folders(ledger: Ledger, sessions: Iterable[SessionFiles]) -> None:
    """Note in the ledger where each session began, for agents whose scan sees only later folders.

    It reads the heads of logs, so only where projects are asked for. An index knows the folders of its sessions.
    """
    for session in sessions:
        folder = support_for(session.agent).usage.first_folder(session.mains)
        if folder is not None:
            ledger.folders[session.id] = folder


def sources_of(sessions: Sequence[SessionFiles]) -> list[tuple[Source, LogFile]]:
    """The logs that hold requests, in the order of their paths, each with its source."""
    named = [
        (_source(file, session), file)
        for session in sessions
        for file in session.files
        if file.kind in _READ and file.size
    ]
    return sorted(named, key=lambda one: one[0].path)


def _source(file: LogFile, session: SessionFiles) -> Source:
    thread = thread_of(file)
    if support_for(session.agent).logs.has_id_per_thread and thread.lower() == session.id.lower():
        thread = MAIN
    return Source(str(file.path), session.agent, session.id, thread, thread == MAIN)


def _histories(
    sessions: Sequence[SessionFiles], known: Kinship | None
) -> tuple[dict[str, Own], dict[str, str]]:
    """Find the lines that logs repeat of other threads, where their heads say so, and the family of each session."""
    sharing = with_shared_usage(sessions)
    buffer = buffer_of(_HEAD)
    heirs = [session for session in sharing if _may_repeat_usage(session, buffer)]
    if not heirs:
        return {}, {}
    from tracklog.reading.family import Kinship, families  # all readers come with it

    kin = families(sharing)
    if known is not None:
        kin = {name: known if _is_of_same(one, known) else one for name, one in kin.items()}
    own: dict[str, Own] = {}
    for session in heirs:
        related = kin.get((session.agent, session.id)) or Kinship([session])
        own |= related.descent(SessionId(session.id)).own
    names = {id: min(one.id for one in related.sessions) for (_, id), related in kin.items()}
    return own, names


def _is_of_same(one: Kinship, other: Kinship) -> bool:
    return set(one.sessions) == set(other.sessions)


def with_shared_usage(sessions: Iterable[SessionFiles]) -> list[SessionFiles]:
    """The sessions of agents whose logs repeat the usage of others in their family."""
    return [session for session in sessions if support_for(session.agent).usage.shares_usage_in_family]


def _may_repeat_usage(session: SessionFiles, buffer: memoryview) -> bool:
    usage = support_for(session.agent).usage
    return any(usage.may_repeat_usage(file, buffer) for file in session.files)


def blocks_of(work: Work, on_bytes: OnBytes | None) -> Iterator[UsageBlock]:
    """Scan all files, in any order."""
    if work.size < _WORTH_TWO or not _may_fork():
        for number in range(len(work.files)):
            yield _told(work, number, on_bytes)
        return
    yield from _shared(work, on_bytes)


def _may_fork() -> bool:
    """Whether a second process helps: not from a thread, for another one may hold a lock that it would wait for."""

    is_alone = current_thread() is main_thread()
    return is_alone and (os.cpu_count() or 1) > 1 and hasattr(os, "fork")


def _told(work: Work, number: int, on_bytes: OnBytes | None) -> UsageBlock:
    block = work.read(number)
    _tell(work, number, on_bytes)
    return block


def _tell(work: Work, number: int, on_bytes: OnBytes | None) -> None:
    if on_bytes is not None:
        on_bytes(work.files[number][1].size)


def _shared(work: Work, on_bytes: OnBytes | None) -> Iterator[UsageBlock]:
    done: set[int] = set()
    with closing(_Pile(work)) as pile, closing(_Reader(work, pile)) as other:
        is_left = True
        while is_left:
            for block in other.sent(is_waiting=False):
                done.add(block.file)
                _tell(work, block.file, on_bytes)
                yield block
            batch = pile.next()
            is_left = bool(batch)
            for number in batch:
                done.add(number)
                yield _told(work, number, on_bytes)
        for block in other.sent(is_waiting=True):
            done.add(block.file)
            _tell(work, block.file, on_bytes)
            yield block
    for number in sorted(set(range(len(work.files))) - done):
        yield _told(work, number, on_bytes)


class _Pile:
    """A queue of batches of files, the largest first, in a pipe that both processes read."""

    _MOST = 1000  # batches: their numbers fit into the smallest pipe

    def __init__(self, work: Work) -> None:
        by_size = sorted(range(len(work.files)), key=lambda number: -work.files[number][1].size)
        least = max(work.size // self._MOST, 1)
        self._batches: list[list[int]] = [[]]
        held = 0
        for number in by_size:
            if held >= least:
                self._batches.append([])
                held = 0
            self._batches[-1].append(number)
            held += work.files[number][1].size
        self._reading, writing = os.pipe()
        os.write(writing, b"".join(_NUMBER.pack(n) for n in range(len(self._batches))))
        os.close(writing)

    def next(self) -> list[int]:
        """The next batch; nothing when all are taken."""
        token = os.read(self._reading, _NUMBER.size)
        return self._batches[_NUMBER.unpack(token)[0]] if len(token) == _NUMBER.size else []

    def close(self) -> None:
        """Close the pipe, when all are read."""
        os.close(self._reading)


class _Reader:
    """A second process that takes from the queue and sends what it found."""

    def __init__(self, work: Work, pile: _Pile) -> None:
        self._receiving, sending = os.pipe()
        self._held = bytearray()
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._receiving)
            _read_and_send(work, pile, sending)
        os.close(sending)

    def sent(self, *, is_waiting: bool) -> Iterator[UsageBlock]:
        """The blocks that have arrived; if waiting, all that will arrive."""
        while is_waiting or select.select([self._receiving], [], [], 0)[0]:
            part = os.read(self._receiving, 1 << 20)
            if not part:
                return
            self._held += part
            yield from self._whole()

    def _whole(self) -> Iterator[UsageBlock]:
        start = 0
        while len(self._held) - start >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._held, start)
            end = start + _LENGTH.size + length
            if end > len(self._held):
                break
            yield _decode(memoryview(self._held)[start + _LENGTH.size : end])
            start = end
        del self._held[:start]

    def close(self) -> None:
        """Waits for the process to be gone; if it still reads, it ends when it wants to send."""
        os.close(self._receiving)
        os.waitpid(self._pid, 0)


def _read_and_send(work: Work, pile: _Pile, sending: int) -> None:
    """Run the second process. It always ends here: the first process reads what was not sent."""
    status = 1
    try:
        while batch := pile.next():
            for number in batch:
                body = _encode(work.read(number))
                _send(sending, _LENGTH.pack(len(body)) + body)
        status = 0
    finally:
        os._exit(status)


def _send(sending: int, message: bytes) -> None:
    view = memoryview(message)
    while view:
        view = view[os.write(sending, view) :]
