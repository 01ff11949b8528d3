"""The results of reading a line: a typed record, or one of three substitutes that say what it is.

Modules that define structs do without `from __future__ import annotations`: msgspec would evaluate each annotation
from its text when the program starts, which costs more than all the rest of the start (100 ms).
"""

import re
from datetime import UTC, datetime
from typing import Any

import msgspec

_IN_UTC = re.compile(
    r"[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9](?:\.[0-9]{1,9})?Z"
)  # without counted repeats, which cost a third more


class Named(msgspec.Struct, kw_only=True, gc=False):
    """An object of a log whose keys we know by name; the others stay in the bytes (`extra_of`)."""


class Record(Named):
    """The typed reading of one line. Its fields are nouns for what is on disk."""

    @property
    def kind(self) -> str:
        """The name under which this record is counted, such as `assistant` or `system/turn_duration`."""
        return tag_of(type(self))

    @property
    def ident(self) -> str | None:
        """The record's own id, where it has one."""
        return None

    @property
    def at(self) -> str | None:
        """When it was written, as the log says it."""
        return None


class Blank(Record):
    """A line with nothing but white space."""

    @property
    def kind(self) -> str:
        return "blank"


class Unknown(Record, kw_only=True):
    """JSON that we do not know: another kind, or a known kind in another shape."""

    name: str
    why: str
    id: str | None = None
    written: str | None = None
    body: Any = None  # the parsed JSON; None if the line was too long or too deep to parse

    @property
    def kind(self) -> str:
        return self.name

    @property
    def ident(self) -> str | None:
        return self.id

    @property
    def at(self) -> str | None:
        return self.written


class Broken(Record, kw_only=True):
    """Bytes that are not JSON: the wreck of a record, or no record at all."""

    why: str

    @property
    def kind(self) -> str:
        return "broken"


class WithOddFields(Record, kw_only=True):
    """A record on its way into a piece: read without some optional fields, whose values do not fit."""

    record: Record
    odd: list[tuple[str, Any]]  # the path of each, and its value


UNKNOWN_TAG = "\0unknown"


class UnknownPart(Named, tag=UNKNOWN_TAG, tag_field="type", kw_only=True):
    """A part of a record (a content block, a turn item) of unknown kind or in an unknown shape."""

    name: str
    why: str
    body: Any = None


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A record with the bytes that it was read from. A torn line gives several, any other line one."""

    line: int
    offset: int
    length: int
    raw: bytes
    record: Record
    recovered: bool = False  # taken out of a torn line, or read in spite of damage
    repaired: str = ""  # which damage
    tolerantly: bool = False  # read by the tolerant way: it may hold unknown parts
    odd: tuple[
        tuple[str, Any], ...
    ] = ()  # optional fields that were left out: path and value, which did not fit

    @property
    def reading(self) -> str:
        """`read`, `unknown` or `broken`."""
        record = type(self.record)
        return "broken" if record is Broken else "unknown" if record is Unknown else "read"

    @property
    def at(self) -> str | None:
        """When it was written, in UTC; None where the log says no time that can be one."""
        said = self.record.at
        return said if said is None or (_IN_UTC.fullmatch(said) and _is_date(said)) else _as_utc(said)

    @property
    def why(self) -> str | None:
        """Why it is unknown or broken, or what had to be repaired."""
        return getattr(self.record, "why", None) or self.repaired or None


def tag_of(struct: type[msgspec.Struct]) -> str:
    """The tag by which the log names this struct, or the class's name where it has none."""
    return str(struct.__struct_config__.tag or struct.__name__)


def _is_date(said: str) -> bool:
    try:
        datetime.fromisoformat(said[:19])
    except ValueError:
        return False
    return True


def _as_utc(said: str) -> str | None:
    try:
        moment = datetime.fromisoformat(said)
    except ValueError:
        return None
    return utc(moment.replace(tzinfo=moment.tzinfo or UTC).timestamp())


def utc(seconds: float) -> str | None:
    """A Unix time as the logs write times elsewhere; None for what is no time."""
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def opened(raw: msgspec.Raw) -> Any:
    """The value of a part that we keep as bytes; None where it is absent or not decodable."""
    from tracklog.model.json_text import loads  # most commands open no such part

    try:
        return loads(bytes(raw))[0] if raw else None
    except (ValueError, RecursionError):
        return None
