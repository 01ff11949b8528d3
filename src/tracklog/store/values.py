"""Values that are written to the index and read from it, the same for all agents.

Rules
  1. A log is identified by its number in the index (`file`), a line by its number in the log.
  2. Every value that is sent between processes is a Struct here, and can be packed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from tracklog.sources.log_file import FileStamp

if TYPE_CHECKING:
    from tracklog.sources.tail.identity import FileIdentity

State = Literal["here", "kept", "past"]


class KnownFile(msgspec.Struct, kw_only=True):
    """A log that the index knows, as it was when it was last read."""

    id: int
    path: str
    root: str
    agent: str | None
    kind: str
    session: str | None
    own_session: str | None
    state: State
    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    generation: int = 1
    contents_bytes: int = 0
    position: int = 0
    lines: int = 0
    head: bytes | None = None
    tail: bytes | None = None
    pieces_read: int = 0
    pieces_unknown: int = 0
    pieces_broken: int = 0
    recovered: int = 0
    memory: bytes | None = None
    told: bytes | None = None
    problem: str | None = None

    @property
    def stamp(self) -> FileStamp:
        """Size, times and inode of the log when it was last read."""
        return FileStamp(self.size, self.mtime_ns, self.ctime_ns, self.inode)

    @property
    def identity(self) -> FileIdentity:
        """How the log is known again by its bytes."""
        from tracklog.sources.tail.identity import (
            FileIdentity,  # answers that compare no file start without it
        )

        return FileIdentity(self.device, self.inode, self.contents_bytes, self.head, self.tail)


class SearchableText(msgspec.Struct, array_like=True, gc=False):
    """A searchable text, and its place."""

    line: int
    offset: int  # of the line
    n: int  # which text of the line
    role: int  # ROLES in store/text.py
    at_ms: int | None
    name: str | None  # of the tool, or of the model
    call: str | None  # the id of the call, for inputs and results
    text: str


class WordedText(msgspec.Struct, array_like=True, gc=False):
    """A searchable text as it goes into the index: in the bytes that SQLite accepts, with its extra words."""

    line: int
    offset: int
    n: int
    role: int
    at_ms: int | None
    name: str | None
    call_key: int | None  # call_key in store/text.py
    text: bytes
    parts: str  # parts_of in store/text.py


class Frame(msgspec.Struct, array_like=True):
    """A part of a log in the archive."""

    contents_offset: int
    stored_offset: int


class Archived(msgspec.Struct, array_like=True):
    """How much of a log the archive has, and where."""

    name: str  # below the folder of the archive
    contents_bytes: int
    stored_bytes: int
    frames: list[Frame] = []  # that are new


class FileRead(msgspec.Struct, array_like=True, tag="file"):
    """Result of reading a log, from where the last reading ended or from its beginning."""

    file: int
    starts_at: int  # the offset from which on these texts replace what was known
    contents_bytes: int
    position: int
    lines: int
    head: bytes
    tail: bytes
    counts: tuple[int, int, int, int]  # read, unknown, broken, recovered: of the whole log
    memory: bytes | None
    texts: list[WordedText]
    archived: Archived | None
    problem: str | None = None
    stamp: tuple[int, int, int, int, int] | None = (
        None  # size, times, inode, device; None: there is more to come
    )


class BlockRead(msgspec.Struct, array_like=True, tag="block"):
    """The requests in a log, packed, and the other inputs that they depend on."""

    file: int
    inputs: bytes
    body: bytes


class SecretSeen(msgspec.Struct, array_like=True, gc=False):
    """A secret in a line of a log: what it is and how often it begins there, never its value."""

    line: int
    kind: str
    hash: str  # keyed, 16 digits
    count: int


class Scanned(msgspec.Struct, array_like=True):
    """Result of scanning a part of a log for secrets."""

    file: int
    generation: int
    from_line: int  # what was known of the lines behind this one is replaced
    position: int
    lines: int
    contents_bytes: int
    seen: list[SecretSeen]
    problem: str | None = None


class OutOfReach(msgspec.Struct, array_like=True, tag="out_of_reach"):
    """A log that was read before and cannot be read now, for a reason that may pass."""

    file: int
    why: str


class UnreadLogs(msgspec.Struct, array_like=True, tag="unread"):
    """Logs that a bug of ours kept from being read: reported and skipped."""

    files: list[int]
    why: str


class Refused(msgspec.Struct, array_like=True, tag="refused"):
    """The disk refused a write: ingest cannot continue."""

    why: str
    is_full: bool = False


class SessionRows(msgspec.Struct, array_like=True, tag="session"):
    """A session with its parts, as rows by table; without the number of its own row."""

    agent: str
    session: str
    session_row: dict[str, Any]
    threads: list[tuple[Any, ...]] = []
    turns: list[tuple[Any, ...]] = []
    prompts: list[tuple[Any, ...]] = []
    requests: list[tuple[Any, ...]] = []
    calls: list[tuple[Any, ...]] = []
    branches: list[tuple[Any, ...]] = []
    problems: list[tuple[Any, ...]] = []
    unread: list[int] = []  # numbers of logs that could not be read now
