"""Read Codex's lines: all generations of transcripts with one decoder, and its two side files.

Until mid-2025 a session was one JSON document (`{session, items}`). Until 0.31 it was JSON lines without an
envelope: a meta line, bare response items, and `state` lines in between that mark what has been written.
"""

from typing import Any, Literal, get_args

import msgspec

from tracklog.agents.codex.records.envelope import Enveloped, SessionMetaLine
from tracklog.agents.codex.records.items import ResponseItem
from tracklog.agents.codex.records.parts import NOTHING, Free, GitInfo
from tracklog.agents.codex.records.turn_items import TurnItem
from tracklog.agents.reader import Reader, Value, fit, single, unknown
from tracklog.model.records import Named, Record, Unknown, UnknownPart, tag_of, utc


class MetaLine(Record):
    """The first line of a file without envelopes."""

    id: str
    timestamp: str
    instructions: str | None = None
    git: GitInfo | None = None

    @property
    def kind(self) -> str:
        return "meta"

    @property
    def ident(self) -> str | None:
        return self.id

    @property
    def at(self) -> str | None:
        return self.timestamp


class StateLine(Record):
    record_type: Literal["state"]
    previous_response_id: str | None = None

    @property
    def kind(self) -> str:
        return "state"


class DocumentSession(Named):
    id: str
    timestamp: str
    instructions: str | None = None


class Document(Record):
    """A whole session in one JSON object. It has no tokens, no times of its items and no model."""

    session: DocumentSession
    items: list[ResponseItem | UnknownPart]
    state: Free = NOTHING
    session_id: str | None = None

    @property
    def kind(self) -> str:
        return "document"

    @property
    def ident(self) -> str | None:
        return self.session.id

    @property
    def at(self) -> str | None:
        return self.session.timestamp


class CodexHistoryLine(Record):
    """A prompt that was typed, in `history.jsonl`."""

    session_id: str
    ts: int  # Unix seconds
    text: str

    @property
    def kind(self) -> str:
        return "history"

    @property
    def at(self) -> str | None:
        return utc(self.ts)

    @property
    def ident(self) -> str | None:
        return self.session_id


class SessionIndexLine(Record):
    """A name given to a thread, in `session_index.jsonl`; the last one counts, an empty one clears."""

    id: str
    thread_name: str | None
    updated_at: str

    @property
    def kind(self) -> str:
        return "session_index"

    @property
    def ident(self) -> str | None:
        return self.id

    @property
    def at(self) -> str | None:
        return self.updated_at


AnyLine = Enveloped | ResponseItem
_ENVELOPES: dict[str, Any] = {tag_of(struct): struct for struct in get_args(Enveloped)}
_BARE: dict[str, Any] = {tag_of(struct): struct for struct in get_args(ResponseItem)}
_ACTS = {tag_of(struct) for struct in get_args(TurnItem)}
_META_KEYS = {"id", "timestamp", "instructions", "git"}
_REQUIRED = {
    tag: {field.encode_name for field in msgspec.structs.fields(struct) if field.required}
    for tag, struct in _BARE.items()
}
_MESSAGE_PARTS = ["input_text", "output_text", "input_image", "input_audio"]


def read_value(value: Value) -> Record:
    """The record that a parsed object is."""
    struct, name = _struct_for(value), name_of(value)
    if struct is None:
        return _unknown(value, name, "unknown type" if "type" in value else "no type")
    record = fit(_with_typed_parts(value), struct, name)
    return _unknown(value, name, record.why) if isinstance(record, Unknown) else record


def name_of(value: Value) -> str:
    """The kind of a record by its own words, such as `response_item/message`."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return _name_of_untyped(value)
    if kind in _BARE:
        return f"bare/{kind}"
    inner = _inner(value, "payload", "type")
    if kind not in {"response_item", "event_msg"} or not isinstance(inner, str):
        return kind
    act = _inner(value, "payload", "item", "type") if inner == "item_completed" else None
    return f"{kind}/{inner}/{act}" if isinstance(act, str) and act not in _ACTS else f"{kind}/{inner}"


def is_codex(value: Value) -> bool:
    """Whether a parsed line, or a parsed document, looks like Codex's."""
    kind = value.get("type")
    if not isinstance(kind, str):
        return _name_of_untyped(value) != "untyped" or value.keys() >= {"session_id", "ts", "text"}
    if kind in _ENVELOPES:
        return isinstance(value.get("payload"), dict)
    return kind in _BARE and _is_own_item(value, kind)


def version_of(record: Record) -> str | None:
    """The client version that a record states."""
    return record.payload.cli_version if isinstance(record, SessionMetaLine) else None


def session_of(record: Record) -> str | None:
    """The thread that a record says its file, or its line of a side file, is about."""
    if isinstance(record, SessionMetaLine):
        return record.payload.id or record.payload.session_id
    if isinstance(record, (MetaLine, Document, CodexHistoryLine, SessionIndexLine)):
        return record.ident
    return None


def _struct_for(value: Value) -> Any:
    kind = value.get("type")
    if isinstance(kind, str):
        return _ENVELOPES.get(kind) or _BARE.get(kind)
    untyped = {"state": StateLine, "document": Document, "meta": MetaLine}
    return untyped.get(_name_of_untyped(value))


def _name_of_untyped(value: Value) -> str:
    if "type" in value:
        return "untyped"
    if "record_type" in value:
        return "state" if value["record_type"] == "state" else "untyped"
    if "session" in value and "items" in value:
        return "document"
    # Bare meta lines are of the past: no key will be added to them, so any other key is another agent's.
    return "meta" if {"id", "timestamp"} <= value.keys() <= _META_KEYS else "untyped"


def _inner(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _unknown(value: Value, name: str, why: str) -> Unknown:
    """Like every unknown record, with the id of the payload."""
    payload = value.get("payload")
    part = payload if isinstance(payload, dict) else value
    answer = unknown(value, name, why, body=value)
    ident = part.get("id") or part.get("call_id")
    answer.id = ident if isinstance(ident, str) else None
    return answer


def _with_typed_parts(value: Value) -> Value:
    """The same record where messages and texts say their type, which some descriptions leave out."""
    if value.get("type") == "response_item":
        return {**value, "payload": _typed_item(value.get("payload"))}
    if isinstance(items := value.get("items"), list) and "session" in value:
        return {**value, "items": [_typed_item(item) for item in items]}
    return _typed_item(value) if value.get("type") == "message" else value


def _typed_item(item: Any) -> Any:
    if not isinstance(item, dict) or item.get("type", "message") != "message" or "role" not in item:
        return item
    content = item.get("content")
    if isinstance(content, list):
        text_type = "output_text" if item["role"] == "assistant" else "input_text"
        content = [_typed_text(part, text_type) for part in content]
    return {**item, "type": "message", "content": content}


def _typed_text(part: Any, text_type: str) -> Any:
    if isinstance(part, dict) and "type" not in part and isinstance(part.get("text"), str):
        return {**part, "type": text_type}
    return part


def _is_own_item(value: Value, kind: str) -> bool:
    """Whether a bare item is Codex's: the lines of other agents, and of other APIs, look much the same."""
    if not _REQUIRED[kind] <= value.keys():
        return False
    if kind != "message":
        return "id" in value or "call_id" in value
    content = value["content"]
    types = [_inner(part, "type") for part in content] if isinstance(content, list) else []
    return bool(types) and all(part in _MESSAGE_PARTS for part in types)


def _is_record(value: Value) -> bool:
    kind = value.get("type")
    if isinstance(kind, str):
        return kind in _ENVELOPES and "payload" in value
    return _name_of_untyped(value) == "state"


def _may_be_record(value: Value) -> bool:
    """Bare items are the payloads of later clients; those of the first ones tell by an id that is not there."""
    if _is_record(value) or _name_of_untyped(value) != "untyped":
        return True
    kind = value.get("type")
    return isinstance(kind, str) and kind in _BARE and value.get("id", "absent") in (None, "")


READER = Reader(
    "codex",
    msgspec.json.Decoder(AnyLine).decode,
    read_value=read_value,
    name_of=name_of,
    is_record=_is_record,
    may_be_record=_may_be_record,
)
DOCUMENT_READER = single("codex", Document, name="document", prepare=_with_typed_parts)
HISTORY_READER = single("codex", CodexHistoryLine, name="history")
SESSION_INDEX_READER = single("codex", SessionIndexLine, name="session_index")
