"""What is put into the index and what comes out of it: plain values, the same for all agents.

Rules of this room
  1. A log is named by its number in the index (`file`), a line by its number in the log.
  2. Whatever crosses a pipe between two processes is a Struct here, and can be packed.
"""

from typing import Any, Literal

import msgspec

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


class SearchableText(msgspec.Struct, array_like=True, gc=False):
    """A text that can be searched, and where it stands."""

    line: int
    offset: int  # of the line
    n: int  # which text of the line
    role: int  # store/texts.py
    at_ms: int | None
    name: str | None  # of the tool, or of the model
    call: str | None  # the id of the call, for inputs and results
    text: str


class WordedText(msgspec.Struct, array_like=True, gc=False):
    """The same on its way into the index: in the bytes that SQLite takes, with the words beside it."""

    line: int
    offset: int
    n: int
    role: int
    at_ms: int | None
    name: str | None
    call_key: int | None  # store/keys.py
    text: bytes
    parts: str  # store/words.py


class Frame(msgspec.Struct, array_like=True):
    """A part of a log in the archive."""

    contents_offset: int
    stored_offset: int


class Archived(msgspec.Struct, array_like=True):
    """How far a log is in the archive."""

    name: str  # below the folder of the archive
    contents_bytes: int
    stored_bytes: int
    frames: list[Frame] = []  # that are new


class FileRead(msgspec.Struct, array_like=True, tag="file"):
    """What one reading of a log gave, from where the last one ended or from its beginning."""

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
    """What a log that was read says of requests, packed; and what else that depends on."""

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
    """What one part of a log gave that was looked through for secrets."""

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
    """Logs that we failed at: our mistake, said and passed over."""

    files: list[int]
    why: str


class Refused(msgspec.Struct, array_like=True, tag="refused"):
    """The disk does not take what was to be written: nothing more can be done."""

    why: str
    is_full: bool = False


class SessionRows(msgspec.Struct, array_like=True, tag="session"):
    """A session with its parts, as rows of the tables with these names; without the number of its own row."""

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
