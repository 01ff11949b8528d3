"""The register of runs, `runs/runs.jsonl`: which session started which, and how that ended.

Rules
  1. Lines are only appended, each in one write: several tracklogs write at once, and any of them may be killed.
  2. A line that cannot be read is counted and skipped; an unknown kind is skipped. No content of the file raises.
  3. The register holds ids, paths and times. Prompts and answers are in the logs only.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tracklog.clock import moment_text
from tracklog.home import Home, open_private
from tracklog.live.run_entries import (
    Ended,
    How,
    Parent,
    RunEntry,
    RunOrigin,
    RunState,
    SessionNamed,
    Started,
    Word,
)
from tracklog.sources.files import NotReadable, open_log
from tracklog.sources.process_start import start_ticks

__all__ = [
    "Ended",
    "How",
    "Parent",
    "RunEntry",
    "RunOrigin",
    "RunState",
    "Runs",
    "SessionNamed",
    "Started",
    "note_ended",
    "note_named",
    "note_started",
    "now_text",
    "runs",
    "start_mark",
]

Name = tuple[str, str]  # agent and session

_FILE = "runs.jsonl"
_MOST_BYTES = 1 << 28  # of a larger register only the end is read
_LONGEST = 4_096  # characters of a text in it
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK


class Runs:
    """All runs in a register, in the order of their starts."""

    def __init__(self) -> None:
        self._runs: dict[str, RunEntry] = {}
        self._early: dict[
            str, list[SessionNamed | Ended]
        ] = {}  # entries of runs whose beginning was not read yet
        self._open: dict[str, None] = {}
        self._by_session: dict[Name, dict[str, None]] = {}
        self._by_parent: dict[Name, dict[str, None]] = {}
        self._by_parent_run: dict[str, dict[str, None]] = {}
        self._by_source: dict[str, dict[str, None]] = {}
        self.n_garbage = 0  # lines that could not be read

    def __iter__(self) -> Iterator[RunEntry]:
        return iter(self._runs.values())

    def __len__(self) -> int:
        return len(self._runs)

    def get(self, run: str | None) -> RunEntry | None:
        """The run with this id."""
        return self._runs.get(run) if run is not None else None

    def open(self) -> list[RunEntry]:
        """The runs without an end; some may be lost."""
        return [self._runs[id] for id in self._open]

    def by_session(self, agent: str, session: str) -> list[RunEntry]:
        """The runs that wrote a session, the first one first."""
        found = (self._runs[id] for id in self._by_session.get((agent, session), ()))
        return [run for run in found if run.session == session]

    def children_of(self, agent: str, session: str) -> list[RunEntry]:
        """The runs that were started in a session."""
        ids = dict(self._by_parent.get((agent, session), {}))
        for above in self.by_session(agent, session):
            ids |= self._by_parent_run.get(above.id, {})
        children = (self._runs[id] for id in sorted(ids, key=self._place))
        return [run for run in children if self.parent_of(run) == Parent(agent, session)]

    def going_on_from(self, agent: str, session: str) -> list[RunEntry]:
        """The runs that resumed a session, or forked it."""
        found = (self._runs[id] for id in self._by_source.get(session, ()))
        return [run for run in found if run.agent == agent]

    def parent_of(self, run: RunEntry) -> Parent | None:
        """The session in which it was started, by the name that it has now."""
        if run.started.parent is not None:
            return run.started.parent
        above = self.get(run.started.parent_run)
        is_known = above is not None and above.session is not None and above.id != run.id
        return Parent(above.agent, above.session) if is_known and above and above.session else None

    def origin_of(self, agent: str, session: str) -> RunOrigin | None:
        """What started a session: the first run that wrote it."""
        first = next(iter(self.by_session(agent, session)), None)
        return self.origin(first) if first is not None else None

    def origin(self, run: RunEntry) -> RunOrigin:
        """What started a run."""
        above, begun = self.parent_of(run), run.started
        agent, session = (above.agent, above.session) if above is not None else (None, None)
        return RunOrigin(run.id, begun.how, agent, session, begun.from_)

    def called(self, text: str) -> list[RunEntry]:
        """The newest run of each session with this name: a run's id, a session's, or the start of one."""
        if not text:
            return []
        wanted = text.lower()
        if (run := self.get(wanted)) is not None:
            return [run]
        alike = (run for run in self if run.session is not None and run.session.lower().startswith(wanted))
        newest = {(run.agent, run.session): run for run in alike}
        exact = [run for run in newest.values() if run.session is not None and run.session.lower() == wanted]
        return exact or list(newest.values())

    def take(self, word: Word) -> None:
        """Add the next line. The first beginning and the first end of a run count."""
        known = self._runs.get(word.run)
        if isinstance(word, Started):
            if known is None:
                self._begin(word)
        elif known is None:
            self._early.setdefault(word.run, []).append(word)
        elif isinstance(word, SessionNamed):
            self._put(msgspec.structs.replace(known, named=word))
        elif known.ended is None:
            self._put(msgspec.structs.replace(known, ended=word))
            self._open.pop(word.run, None)

    def _begin(self, word: Started) -> None:
        self._open[word.run] = None
        if word.parent is not None:
            self._by_parent.setdefault((word.parent.agent, word.parent.session), {})[word.run] = None
        elif word.parent_run is not None:
            self._by_parent_run.setdefault(word.parent_run, {})[word.run] = None
        if word.from_ is not None:
            self._by_source.setdefault(word.from_, {})[word.run] = None
        self._put(RunEntry(word))
        for early in self._early.pop(word.run, ()):
            self.take(early)

    def _put(self, run: RunEntry) -> None:
        self._runs[run.id] = run
        if run.session is not None:
            self._by_session.setdefault((run.agent, run.session), {})[run.id] = None

    def _place(self, run: str) -> tuple[int, str]:
        return self._runs[run].began_ms, run


class _Register:
    """A register that is read repeatedly; each read continues where the last one stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = (0, 0)  # device and inode
        self._stamp = (-1, -1)  # size and time of change
        self._offset = 0  # behind the last whole line
        self._runs = Runs()

    def refresh(self) -> Runs:
        """Read what was appended; all runs so far."""
        try:
            with open_log(self._path) as stream:
                status = os.fstat(stream.fileno())
                stamp = status.st_size, status.st_mtime_ns
                if stamp == self._stamp and self._file == (status.st_dev, status.st_ino):
                    return self._runs
                if self._file != (status.st_dev, status.st_ino) or status.st_size <= self._stamp[0]:
                    self._begin_anew(status)
                stream.seek(self._offset)
                self._take(stream.readall() or b"")
                self._stamp = stamp
        except (NotReadable, OSError):
            self._begin_anew(None)  # it is gone, or cannot be read: then nothing is known
        return self._runs

    def _begin_anew(self, status: os.stat_result | None) -> None:
        self._file = (status.st_dev, status.st_ino) if status is not None else (0, 0)
        self._offset = max(status.st_size - _MOST_BYTES, 0) if status is not None else 0
        self._stamp = (-1, -1)
        self._runs = Runs()

    def _take(self, data: bytes) -> None:
        whole, newline, _ = data.rpartition(b"\n")  # the bytes behind the last newline are being written
        self._offset += len(whole) + len(newline)
        for line in whole.split(b"\n"):
            if line and not line.isspace():
                self._take_line(line)

    def _take_line(self, line: bytes) -> None:
        try:
            word = _decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            self._runs.n_garbage += not _is_of_another_kind(line)
        else:
            self._runs.take(word)


_decode = msgspec.json.Decoder(Word).decode
_kind_of = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_known: dict[Path, _Register] = {}


def runs(home: Home) -> Runs:
    """All runs in the register of this home; a read continues where the last one stopped."""
    path = home.runs / _FILE
    if path not in _known:
        _known[path] = _Register(path)
    return _known[path].refresh()


def note_started(home: Home, started: Started) -> None:
    """Append that a run begins. Raises OSError."""
    _append(home, started)


def note_named(home: Home, named: SessionNamed) -> None:
    """Append which session a run writes. Raises OSError."""
    _append(home, named)


def note_ended(home: Home, ended: Ended) -> None:
    """Append that a run is over. Raises OSError."""
    _append(home, ended)


def now_text() -> str:
    """The present time, as the register writes it."""
    return moment_text(time.time_ns() // 1_000_000) or ""


def start_mark(pid: int) -> str | None:
    """A mark that distinguishes a process from a later one with the same pid; None if it is gone."""
    if (ticks := start_ticks(pid)) is not None:
        return str(ticks)
    import psutil  # only here: commands that read the register do without

    try:
        began = datetime.fromtimestamp(psutil.Process(pid).create_time(), UTC)
    except (psutil.Error, ValueError, OverflowError, OSError):
        return None
    return began.strftime("%a %b %d %H:%M:%S %Y")


def _append(home: Home, word: Word) -> None:
    home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
    home.runs.mkdir(mode=0o700, exist_ok=True)
    line = _encoded(word) + b"\n"
    descriptor = open_private(home.runs / _FILE, _APPEND)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "is no regular file", str(home.runs / _FILE))
        if status.st_size and os.pread(descriptor, 1, status.st_size - 1) != b"\n":
            line = b"\n" + line  # a process was killed within a line
        if os.write(descriptor, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(home.runs / _FILE))
    finally:
        os.close(descriptor)


def _encoded(word: Word) -> bytes:
    """A line of the register; odd bytes in a path are replaced, and long texts are cut."""
    return msgspec.json.encode(_cut(msgspec.to_builtins(word)))


def _cut(value: object) -> object:
    if isinstance(value, str):
        return value[:_LONGEST].encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _cut(one) for key, one in value.items()}
    return value


def _is_of_another_kind(line: bytes) -> bool:
    """Whether it is an entry of a later release: an object with a `what` that is none of ours."""
    try:
        what = _kind_of(line).get("what")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return what is not None and bytes(what) not in (b'"started"', b'"named"', b'"ended"')
