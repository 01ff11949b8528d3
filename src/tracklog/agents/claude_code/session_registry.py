"""Claude Code's registry of its processes, `sessions/<pid>.json`: who is there, and what the client itself says it does.

Rules
  1. What is said is read from the fields that are there, never from the client's version: 2.0.30 has no registry, 2.1.100
     no status, and the first file that any client writes has none either.
  2. A file proves nothing: killed clients leave theirs behind, as `busy`. The process must live, and be the same.
  3. A file that is empty or torn is being written: what it said before holds until it can be read again.
  4. One process may go on with another session (`/clear`, `/resume`): the one before has then ended.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from tracklog.agents.base import RegisteredSession
from tracklog.model.states import Sign, WaitingFor, not_ahead
from tracklog.sources.files import NotReadable, open_log
from tracklog.sources.folders import list_folder
from tracklog.sources.process_start import Alive

if TYPE_CHECKING:
    from tracklog.agents.claude_code.records.side_files import Registry

# Lazy imports: readers take long to load, and most commands have read the registry before.

_NAME = re.compile(r"([0-9]{1,10})\.json")
_MOST_BYTES = 1 << 20
_MOST_REMEMBERED = 1_000  # sessions that are no longer registered
_WAITING_FOR: dict[str, WaitingFor | None] = {
    "permission prompt": "permission",
    "sandbox request": "permission",
    "worker request": "permission",
    "input needed": "answer",
    "dialog open": None,  # one that the person opened, such as /cost
}


class Registration(NamedTuple):
    """A registry file that could be read."""

    file: str  # `sessions/4410.json`
    record: Registry
    owner: int | None = None  # whose file it is
    written_ms: int | None = None

    def sign(self, *, since_ms: int = 0) -> Sign:
        """What the client says it does; a status that is older than the session counts from `since_ms` on."""
        said, record = _said(self.record), self.record
        if said is None:
            return Sign("process", "idle", max(record.started_at or 0, since_ms), where=self.file)
        at_ms = record.status_updated_at or record.updated_at or record.started_at or 0
        return said._replace(at_ms=max(at_ms, since_ms), where=self.file)

    def process(self) -> Alive:
        """Whether its process lives."""
        from tracklog.sources.processes import (
            process_of,  # slow to load, and most registrations are only read
        )

        return process_of(
            self.record.pid,
            proc_start=self.record.proc_start,
            started_at_ms=self.record.started_at,
            pid_domain=self.record.pid_domain,
            owner=self.owner,
        )


class UnreadableEntry(NamedTuple):
    """A registry file that says nothing now: being created, being written, or of another kind."""

    file: str
    why: Literal["empty", "torn", "strange", "not readable"]


def read_registration(
    name: str, content: bytes, *, owner: int | None = None, written_ms: int | None = None
) -> Registration | UnreadableEntry:
    """What a registry file of this name says."""
    file = f"sessions/{name}"
    if not content.strip():
        return UnreadableEntry(file, "empty")
    from tracklog.agents.claude_code.records.reader import REGISTRY_READER
    from tracklog.agents.claude_code.records.side_files import Registry
    from tracklog.model.records import (
        Unknown,  # slow to load: commands ask before every answer whether any is there
    )
    from tracklog.sources.lines import cut

    pieces = list(REGISTRY_READER.read(cut([content.replace(b"\n", b" ")])))
    record = pieces[0].record if len(pieces) == 1 else None
    if isinstance(record, Unknown):
        record = _of_what_fits(record.body) or record
    if isinstance(record, Registry):
        known = _NAME.fullmatch(name)
        is_its_own = known is not None and int(known[1]) == record.pid and record.session_id != ""
        return (
            Registration(file, record, owner, written_ms) if is_its_own else UnreadableEntry(file, "strange")
        )
    return UnreadableEntry(file, "torn" if record is None or record.kind == "broken" else "strange")


def _of_what_fits(body: object) -> Registry | None:
    """The registration without the fields that a later client writes in another shape; None if little is left."""
    if not isinstance(body, dict):
        return None
    from tracklog.agents.claude_code.records.side_files import Registry

    fitting = {}
    for field in msgspec.structs.fields(Registry):
        try:
            fitting[field.encode_name] = msgspec.convert(body.get(field.encode_name), field.type)
        except msgspec.ValidationError:
            continue
    try:
        return msgspec.convert(fitting, Registry)
    except msgspec.ValidationError:
        return None


class SessionRegistry:
    """Looks at one home's registry again and again, and remembers who was there."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "sessions"
        self._files: dict[str, Registration] = {}
        self._sessions: dict[str, RegisteredSession] = {}
        self._since: dict[str, int] = {}  # when a process took up the session it has now
        self.unread: list[UnreadableEntry] = []

    @property
    def is_kept(self) -> bool:
        """Whether clients of this home keep a registry: old ones do not."""
        return self._folder.is_dir()

    def refresh(self, now_ms: int) -> dict[str, RegisteredSession]:
        """All sessions that are registered now, or were at an earlier look."""
        files = self._read_files()
        for name, one in files.items():
            before = self._files.get(name)
            if before is not None and before.record.session_id != one.record.session_id:
                self._since[name] = one.record.updated_at or now_ms
        present: dict[str, RegisteredSession] = {}
        for name, one in files.items():
            seen = self._registered(name, one, now_ms)
            present[seen.id] = better(seen, present.get(seen.id))
        self._sessions = self._departed(present, now_ms) | present
        self._files = files
        self._since = {name: at for name, at in self._since.items() if name in files}
        return self._sessions

    def _read_files(self) -> dict[str, Registration]:
        found: dict[str, Registration] = {}
        self.unread = []
        for name, status in list_folder(self._folder, may_be_link=True).files.items():
            if not _NAME.fullmatch(name):
                continue  # the `.key` files beside them are none of our business
            read = _read_file(self._folder / name, status)
            if isinstance(read, UnreadableEntry):
                self.unread.append(read)
                if name in self._files:
                    found[name] = self._files[name]
            elif read is not None:
                found[name] = read
        return found

    def _registered(self, name: str, one: Registration, now_ms: int) -> RegisteredSession:
        alive = one.process()._replace(began_ms=one.record.started_at)
        sign = one.sign(since_ms=self._since.get(name, 0))
        sign = sign._replace(at_ms=not_ahead(sign.at_ms, now_ms, one.written_ms))
        record = one.record
        return RegisteredSession(
            record.session_id, alive, sign, record.pid, record.started_at, record.cwd, one.file
        )

    def _departed(self, present: dict[str, RegisteredSession], now_ms: int) -> dict[str, RegisteredSession]:
        gone = {
            session: _departure(before, present, now_ms)
            for session, before in self._sessions.items()
            if session not in present
        }
        return dict(list(gone.items())[-_MOST_REMEMBERED:])


def _read_file(path: Path, status: os.stat_result) -> Registration | UnreadableEntry | None:
    """The file's word; None if it is no longer there."""
    try:
        with open_log(path) as stream:
            content = stream.read(_MOST_BYTES + 1) or b""
    except NotReadable:
        return UnreadableEntry(f"sessions/{path.name}", "not readable") if path.exists() else None
    except OSError:
        return UnreadableEntry(f"sessions/{path.name}", "not readable")
    if len(content) > _MOST_BYTES:
        return UnreadableEntry(f"sessions/{path.name}", "strange")
    return read_registration(
        path.name, content, owner=status.st_uid, written_ms=status.st_mtime_ns // 1_000_000
    )


def registered_session(file: Path) -> str | None:
    """The session that a registry file names, if its client lives."""
    try:
        with open_log(file) as stream:
            owner = os.fstat(stream.fileno()).st_uid
            read = read_registration(file.name, stream.read(_MOST_BYTES) or b"", owner=owner)
    except (NotReadable, OSError):
        return None
    is_it = isinstance(read, Registration) and read.process().life == "alive"
    return read.record.session_id if is_it and isinstance(read, Registration) else None


def better(one: RegisteredSession, other: RegisteredSession | None) -> RegisteredSession:
    """Of two files for one session that of the living process, else that of the later one."""
    if other is None:
        return one
    return max(
        one,
        other,
        key=lambda seen: (
            seen.alive.life == "alive",
            seen.started_ms or 0,
            seen.file,
        ),
    )


def _departure(
    before: RegisteredSession, present: dict[str, RegisteredSession], now_ms: int
) -> RegisteredSession:
    """A session that is no longer registered has ended, unless it had crashed before its file was cleared away."""
    if before.alive.life == "gone":
        return before
    is_another = any(one.file == before.file for one in present.values())
    why = f"{before.file} names another session now" if is_another else f"{before.file} was taken away"
    return before._replace(alive=Alive("gone", why, before.pid, has_left=True, at_ms=now_ms))


def _said(record: Registry) -> Sign | None:
    """The status as a sign without time; None where the client says none, or one that we do not know."""
    match record.status:
        case "busy":
            return Sign("registry", "working", 0)
        case "idle":
            return Sign("registry", "idle", 0)
        case "shell":
            return Sign("registry", "idle", 0, has_background=True)
        case "waiting":
            words = record.waiting_for
            waits = _WAITING_FOR.get(words or "", "answer")
            return Sign("registry", "waiting", 0, doing=words, waiting_for=waits)
        case _:
            return None
