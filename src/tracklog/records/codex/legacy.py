"""What carries no `type`: the first generations' lines and documents, and Codex's two side files.

Until mid-2025 a session was one JSON document (`{session, items}`). Until 0.31 it was JSON lines without an
envelope: a meta line, response items as they are, and `state` lines in between that mark what has been written.
"""

from typing import Literal

from tracklog.records.base import Named, Record, UnknownPart, utc
from tracklog.records.codex.items import ResponseItem
from tracklog.records.codex.parts import NOTHING, Free, GitInfo


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


class HistoryLine(Record):
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
