"""The `attachment` records: context that the client adds by itself (docs/formats/claude_code.md#attachments).

One struct per kind, in the `context_*` modules. Lists and texts that only the model reads are kept as they are;
what a program may ask for (prompts, hooks, tasks, tokens) has typed fields. A new kind costs one class and its
place in a union.
"""

from __future__ import annotations

from msgspec import Raw, field

from tracklog.records.base import tag_of
from tracklog.records.claude_code.blocks import Content
from tracklog.records.claude_code.context_files import AnyFileContext
from tracklog.records.claude_code.context_hooks import AnyHookContext
from tracklog.records.claude_code.context_notes import AnyNote
from tracklog.records.claude_code.context_state import AnyStateContext
from tracklog.records.claude_code.context_tools import AnyToolContext
from tracklog.records.claude_code.envelope import Attachment, Envelope, Origin


class QueuedCommand(Attachment, tag="queued_command", kw_only=True):
    """A prompt typed while the model worked, or a notice of a finished task."""

    prompt: Content
    command_mode: str | None = None
    timestamp: str | None = None
    origin: Origin | None = None
    source_uuid: str | None = field(default=None, name="source_uuid")
    image_paste_ids: list[int] | None = None
    is_meta: bool | None = None
    queue_priority: str | None = None
    delivery_id: str | None = field(default=None, name="delivery_id")
    run_id: str | None = None
    usage: Raw = Raw()
    tools_used_delta: list[str] | None = None
    carried_by_compaction: bool | None = None
    file_attachments: Raw = Raw()
    saved_files: Raw = Raw()
    image_file_uuids: Raw = Raw()
    inlined_image_names: Raw = Raw()
    inlined_image_paths: Raw = Raw()
    forwarded_intent: Raw = Raw()
    input_source: str | None = None
    text_not_typed: bool | None = None
    typed_by_person: bool | None = None
    human_turn: bool | None = None
    from_connector: Raw = Raw()
    task_delivery: Raw = Raw()


AnyAttachment = QueuedCommand | AnyFileContext | AnyHookContext | AnyNote | AnyStateContext | AnyToolContext


class AttachmentLine(Envelope, tag="attachment", tag_field="type", kw_only=True):
    """A piece of context and where it stands in the conversation."""

    attachment: AnyAttachment
    rendered: Raw = Raw()
    rendered_in_human_turn: Raw = Raw()
    rendered_role: str | None = None
    rendered_beside_tool_result: bool | None = None

    @property
    def kind(self) -> str:
        return f"attachment/{tag_of(type(self.attachment))}"
