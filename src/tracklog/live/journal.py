"""The journal of live events on disk, with one writer and many readers, and the snapshot of a watch.

Rules
  1. Numbers grow by one, also from one writer to the next. A reader continues behind the last number it has.
  2. An event is one line, in one write. A line that a killed writer left torn is completed with a newline, and
     skipped.
  3. The journal is bounded: a new file replaces the oldest. A reader that is too late learns which numbers are
     gone.
  4. Everything here may hold what a log holds: folders are 0700, files 0600.
  5. A snapshot keeps how far a watch got, so that the next one loses nothing and reports nothing twice. It is
     written regularly and when a watch ends; what a killed watch reported since is in its journal.
  6. A snapshot that cannot be read is ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from tracklog.home import held_lock_at, make_private_folder, open_private, write_private
from tracklog.model.states import LiveState

FILE_BYTES = 8 << 20
MOST_FILES = 4
_NAME = re.compile(r"events-(\d{12})\.jsonl")
_AT_ONCE = 1 << 20


class LiveEvent(msgspec.Struct, omit_defaults=True):
    """An event of a running session. `at` is when it happened, or when it was seen if the log does not say."""

    n: int
    at: str
    event: str
    session: str | None = None
    agent: str | None = None
    thread: str | None = None
    line: int | None = None
    path: str | None = None
    cwd: str | None = None  # the folder in which the session works
    data: dict[str, Any] = {}


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(LiveEvent).decode


@contextmanager
def kept_journal(folder: Path, *, file_bytes: int = FILE_BYTES) -> Iterator[Journal]:
    """Open the journal for writing; raises Busy if another process writes it."""
    make_private_folder(folder)
    with held_lock_at(folder / "watch.lock"):
        journal = Journal(folder, file_bytes=file_bytes)
        try:
            yield journal
        finally:
            journal.close()


class Journal:
    """Numbers events and appends them."""

    def __init__(self, folder: Path, *, file_bytes: int) -> None:
        self.folder = folder
        self._file_bytes = file_bytes
        self.next_n = last_number(folder) + 1
        files = _files(folder)
        path = files[-1][1] if files else self._path_of(self.next_n)
        self._descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self._size = os.fstat(self._descriptor).st_size
        if self._size and os.pread(self._descriptor, 1, self._size - 1) != b"\n":
            self._size += os.write(self._descriptor, b"\n")

    def write(self, event: LiveEvent) -> LiveEvent:
        """The same event, with its number."""
        event.n = self.next_n
        line = _line_of(event)
        os.write(self._descriptor, line)
        self.next_n += 1
        self._size += len(line)
        if self._size >= self._file_bytes:
            self._begin_another()
        return event

    def close(self) -> None:
        """Close the journal."""
        os.close(self._descriptor)

    def _begin_another(self) -> None:
        os.close(self._descriptor)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._descriptor, self._size = open_private(self._path_of(self.next_n), flags), 0
        for _, old in _files(self.folder)[:-MOST_FILES]:
            old.unlink(missing_ok=True)

    def _path_of(self, n: int) -> Path:
        return self.folder / f"events-{n:012d}.jsonl"


class Following:
    """Reads the events behind a number, and those that are added."""

    def __init__(self, folder: Path, after: int | None = None) -> None:
        self._folder = folder
        self.last_n = last_number(folder) if after is None else after
        self.lost: int = 0  # the number of events that were deleted before they were read
        self._path: Path | None = None
        self._offset = 0
        self._held = b""

    def more(self) -> Iterator[LiveEvent]:
        """The events that were added since the last call."""
        for path in self._unread():
            if path != self._path:
                self._path, self._offset, self._held = path, 0, b""
            yield from self._read(path)

    def _unread(self) -> list[Path]:
        files = _files(self._folder)
        first_unread = max((at for at, (n, _) in enumerate(files) if n <= self.last_n + 1), default=0)
        if self._path is not None:  # a file that was read to its end may have grown before the next began
            known = [at for at, (_, path) in enumerate(files) if path == self._path]
            first_unread = min([first_unread, *known])
        return [path for _, path in files[first_unread:]]

    def _read(self, path: Path) -> Iterator[LiveEvent]:
        while data := _bytes_at(path, self._offset):
            self._offset += len(data)
            *lines, self._held = (self._held + data).split(b"\n")
            for line in lines:
                event = _event_in(line)
                if event is not None and event.n > self.last_n:
                    self.lost += event.n - self.last_n - 1
                    self.last_n = event.n
                    yield event


def _line_of(event: LiveEvent) -> bytes:
    try:
        return _encode(event) + b"\n"
    except UnicodeEncodeError:  # half a character, in a path or in what was said
        whole = {name: _whole(getattr(event, name)) for name in event.__struct_fields__}
        return _encode(LiveEvent(**whole)) + b"\n"


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_whole(key): _whole(one) for key, one in value.items()}
    return [_whole(one) for one in value] if isinstance(value, list) else value


def _event_in(line: bytes) -> LiveEvent | None:
    try:
        return _decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _bytes_at(path: Path, offset: int) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:  # the oldest file, deleted meanwhile
        return b""
    try:
        return os.pread(descriptor, _AT_ONCE, offset)
    finally:
        os.close(descriptor)


def _files(folder: Path) -> list[tuple[int, Path]]:
    """The files of a journal with their first numbers, the oldest first."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    found = ((named, name) for name in names if (named := _NAME.fullmatch(name)))
    return sorted((int(named[1]), folder / name) for named, name in found)


def last_number(folder: Path) -> int:
    """The number of the last event; 0 in a new journal."""
    for first, path in reversed(_files(folder)):
        numbers = [event.n for line in path.read_bytes().split(b"\n") if (event := _event_in(line))]
        return max(numbers, default=first - 1)
    return 0


_SNAPSHOT_NAME = "before.json"


class ReportedState(msgspec.Struct, frozen=True, array_like=True):
    """The reported part of a state: a state is another one if one of these differs."""

    state: str
    waiting_for: str | None = None
    call: str | None = None
    doing: str | None = None  # where no call says it


class WatchSnapshot(msgspec.Struct):
    """How far a watch got: what it reported, and how much of each file it read."""

    n: int = 0  # the last event
    sizes: dict[str, int] = {}  # of each log, by path: how far it was reported
    spool: str = ""  # the position in the spool, as SpoolTail gives it
    states: dict[str, ReportedState] = {}  # of each session, by `agent:id`
    lines: set[tuple[str, int, str]] = set()  # lines that were reported behind that: path, number and time


_decode_snapshot = msgspec.json.Decoder(WatchSnapshot).decode


def reported_state(state: LiveState) -> ReportedState:
    """The part of a state to report. Without words where there is a call: `exec_command` in Codex's log is `Bash` in hooks."""
    return ReportedState(state.state, state.waiting_for, state.call, None if state.call else state.doing)


def key_of(agent: str | None, session: str | None) -> str:
    """The key of a session in a snapshot."""
    return f"{agent}:{session}"


def read_before(folder: Path, behind: Iterable[LiveEvent]) -> WatchSnapshot | None:
    """The snapshot of an earlier watch, with the later events of its journal; None if there is none."""
    try:
        before = _decode_snapshot((folder / _SNAPSHOT_NAME).read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    for event in behind:
        if event.n <= before.n:
            continue
        if event.path is not None and event.line is not None:
            before.lines.add((event.path, event.line, event.at))
        if event.event == "state_changed":
            facts = event.data
            call = facts.get("call")
            before.states[key_of(event.agent, event.session)] = ReportedState(
                str(facts.get("state")), facts.get("waiting_for"), call, None if call else facts.get("doing")
            )
    return before


def write_before(folder: Path, before: WatchSnapshot) -> None:
    """Write a snapshot, without logs whose paths are no text."""
    sizes = {path: size for path, size in before.sizes.items() if _is_text(path)}
    states = {key: state for key, state in before.states.items() if _is_text(repr(state) + key)}
    kept = WatchSnapshot(before.n, sizes, before.spool, states)
    try:
        write_private(folder / _SNAPSHOT_NAME, msgspec.json.encode(kept))
    except UnicodeEncodeError:
        write_private(
            folder / _SNAPSHOT_NAME, msgspec.json.encode(WatchSnapshot(before.n, sizes, before.spool))
        )


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
