"""Lines of our own spool: what agents told `hook.py`, as it came.

Rules of this room
  1. The payload is an agent's, and is read as tolerantly as its logs: a payload that nobody knows is `Unknown`, and
     what was no JSON object is kept as `garbage`.
  2. Codex's hooks are told as Claude Code's are; only its older `notify` has words of its own (`TurnNotice`).
"""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, field

from tracklog.records.base import Record, Unknown, WithOddFields, utc
from tracklog.records.claude_code.hooks import HookInput
from tracklog.records.drift import Drift
from tracklog.records.json_text import loads
from tracklog.records.reading import Reader, Value, fit, unknown
from tracklog.records.shapes import Stray, joined, shape_of

NOTIFY = "notify"


class TurnNotice(Record, kw_only=True, rename="kebab"):
    """What Codex gives the program that `notify` names: a turn is over."""

    type: str
    thread_id: str | None = None
    turn_id: str | None = None
    cwd: str | None = None
    client: str | None = None
    input_messages: list[str] | None = None
    last_assistant_message: str | None = None

    @property
    def kind(self) -> str:
        return f"notify/{self.type}"


if TYPE_CHECKING:
    Payload = HookInput | TurnNotice | Unknown
else:
    Payload = Any  # msgspec takes no union of structs without tags; it never decodes this one


class Spooled(Record, kw_only=True):
    """One call of our hook."""

    at_ms: int = field(name="at")
    v: int = 1
    agent: str | None = None
    pid: int | None = None  # of the hook itself
    ppid: int | None = None  # of whoever ran it: the agent, or a shell that it started
    via: str | None = None
    payload: Payload | None = None  # None: it was garbage
    garbage: str | None = None
    n_bytes: int | None = None  # of the garbage, of which only the head is kept

    @property
    def kind(self) -> str:
        return f"spool/{self.payload.kind if self.payload is not None else 'garbage'}"

    @property
    def at(self) -> str | None:
        return utc(self.at_ms / 1000)

    @property
    def session(self) -> str | None:
        """The session that the payload names."""
        told = self.payload
        if isinstance(told, HookInput):
            return told.session_id
        return told.thread_id if isinstance(told, TurnNotice) else None


class _Envelope(msgspec.Struct, kw_only=True):
    at_ms: int = field(name="at")
    v: int = 1
    agent: str | None = None
    pid: int | None = None
    ppid: int | None = None
    via: str | None = None
    payload: Raw = Raw()
    garbage: str | None = None
    n_bytes: int | None = None


_envelope = msgspec.json.Decoder(_Envelope)
_hook_input = msgspec.json.Decoder(HookInput)
_notice = msgspec.json.Decoder(TurnNotice)
_REFUSALS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode(raw: bytes) -> Spooled:
    """The spooled call in `raw`; raises what msgspec raises where our own part of the line is of no known shape."""
    line = _envelope.decode(raw)
    return Spooled(
        at_ms=line.at_ms,
        v=line.v,
        agent=line.agent,
        pid=line.pid,
        ppid=line.ppid,
        via=line.via,
        payload=_payload(line.payload, line.via) if line.payload else None,
        garbage=line.garbage,
        n_bytes=line.n_bytes,
    )


def _payload(raw: Raw, via: str | None) -> Payload:
    try:
        return _notice.decode(raw) if via == NOTIFY else _hook_input.decode(raw)
    except _REFUSALS:
        return _read_tolerantly(raw, via)


def _read_tolerantly(raw: Raw, via: str | None) -> Payload:
    name = "notify" if via == NOTIFY else "hook"
    try:
        value, _ = loads(bytes(raw))
    except (ValueError, RecursionError) as error:
        return Unknown(name=name, why=f"a payload that cannot be read: {error}")
    if not isinstance(value, dict):
        return Unknown(name=name, why="a payload that is no JSON object", body=value)
    read = fit(value, TurnNotice if via == NOTIFY else HookInput, name)
    read = read.record if isinstance(read, WithOddFields) else read
    assert isinstance(read, (HookInput, TurnNotice, Unknown))
    return read


def _read_value(value: Value) -> Record:
    """The spooled call that a parsed object is."""
    if not _is_spooled(value):
        return unknown(value, "spool", "no line of a spool", body=value)
    try:
        return decode(msgspec.json.encode(value))
    except (*_REFUSALS, msgspec.ValidationError, UnicodeEncodeError) as error:
        return unknown(value, "spool", str(error), body=value)


def _is_spooled(value: dict[str, Any]) -> bool:
    return "v" in value and "at" in value and ("payload" in value or "garbage" in value)


class SpoolDrift(Drift):
    """Finds the strays of a spool: those of the payloads, too."""

    def strays_of(self, record: Record, value: Any) -> list[Stray]:
        found = super().strays_of(record, value)
        told = record.payload if isinstance(record, Spooled) else None
        if isinstance(told, (HookInput, TurnNotice)):
            strays = shape_of(type(told)).strays(value["payload"])
            found += [(joined("payload", path), stray) for path, stray in strays]
            again = fit(value["payload"], type(told), "payload")
            odd = again.odd if isinstance(again, WithOddFields) else []
            found += [(joined("payload", f"{path} (odd)"), stray) for path, stray in odd]
        return found


READER = Reader(
    None,
    decode,
    read_value=_read_value,
    name_of=lambda _: "spool",
    is_record=_is_spooled,
    drift=SpoolDrift,
)
