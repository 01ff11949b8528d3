"""What the conversation records of Claude Code share (docs/formats/claude_code.md#envelope).

Keys are camelCase on disk and renamed by rule; where the rule does not give the disk's spelling, the field
says it. Keys of API objects are snake_case on disk: those structs are plain `Named`.
"""

from msgspec import field

from tracklog.records.base import Named, Record


class Camel(Named, rename="camel"):
    """A part of a record whose keys are camelCase on disk."""


class CamelRecord(Record, rename="camel"):
    """A line whose keys are camelCase on disk."""


class ForkedFrom(Camel):
    """Where a copied record came from (`/branch`, SDK forks)."""

    session_id: str | None = None
    message_uuid: str | None = None


class Origin(Camel):
    """Who caused a prompt: a human, a finished task, a peer …"""

    kind: str | None = None
    subkind: str | None = None
    from_: str | None = field(default=None, name="from")
    name: str | None = None
    body: str | None = None
    sender_task_id: str | None = None
    from_session: str | None = None
    from_mode: str | None = None
    verified_peer_pid: int | None = None
    producer: str | None = None
    run_id: str | None = None


class Envelope(CamelRecord):
    """The fields of every record on the conversation tree."""

    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    origin_session_id: str | None = field(default=None, name="session_id")
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    user_type: str | None = None
    entrypoint: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    agent_id: str | None = None
    slug: str | None = None
    session_kind: str | None = None
    team_name: str | None = None
    agent_name: str | None = None
    is_teammate: bool | None = None
    forked_from: ForkedFrom | None = None

    @property
    def ident(self) -> str | None:
        return self.uuid

    @property
    def at(self) -> str | None:
        return self.timestamp


class Attachment(Camel, tag_field="type"):
    """One piece of context that the client added."""
