"""Response items: what the model said and what it was shown.

They are the payload of `response_item`, the entries of a compaction's `replacement_history`, the lines of the
first JSONL generation (there they are bare, hence they are records) and the items of the one-document files.

Rules
  1. `arguments` of a function call is a string that ought to hold JSON. The string is the fact; `parsed` is
     None when it does not keep the promise.
  2. A content item that we do not know becomes an unknown part; the item around it is still read.
  3. What links a call to its output, and what either holds, may be lacking: where a value does not fit, the rest of the
     item still is a call, or a result.
  4. Nothing on disk says whether a call went well: see the turn items and the end events.
"""

from typing import Any

import msgspec

from tracklog.agents.codex.records.parts import NOTHING, Free, WebSearchAction
from tracklog.model.json_text import loads
from tracklog.model.records import Named, Record, UnknownPart, tag_of


class InputText(Named, tag="input_text", tag_field="type"):
    text: str


class OutputText(Named, tag="output_text", tag_field="type"):
    text: str
    annotations: Free = NOTHING
    logprobs: Free = NOTHING


class InputImage(Named, tag="input_image", tag_field="type"):
    image_url: str | None = None  # `data:` or an address; null where the picture was taken out
    file_id: str | None = None
    detail: str | None = None


class InputAudio(Named, tag="input_audio", tag_field="type"):
    audio_url: str


class EncryptedContent(Named, tag="encrypted_content", tag_field="type"):
    encrypted_content: str


class SummaryText(Named, tag="summary_text", tag_field="type"):
    text: str


class ReasoningText(Named, tag="reasoning_text", tag_field="type"):
    text: str


class PlainText(Named, tag="text", tag_field="type"):
    text: str


Content = InputText | OutputText | InputImage | InputAudio | EncryptedContent | UnknownPart
Summary = SummaryText | UnknownPart
Thought = ReasoningText | PlainText | UnknownPart
Output = str | list[Content] | dict[str, msgspec.Raw]  # an object only in damaged or foreign logs


class Provenance(Named):
    type: str | None = None
    hook: bool | None = None
    namespace: str | None = None


class ContentMetadata(Named):
    provenance: Provenance | None = None
    source_tool_namespace: str | None = None


class Passthrough(Named):
    """What Codex sends along with an item and gets back: the best link from an item to its turn."""

    turn_id: str | None = None
    create_time: int | float | None = None  # Unix seconds
    content_item_kinds: list[str] | None = None
    content_item_metadata: list[ContentMetadata] | None = None
    executed_tool_calls: Free = NOTHING


class Item(Record, tag_field="type", kw_only=True):
    """Any response item."""

    id: str | None = None
    passthrough: Passthrough | None = msgspec.field(
        default=None, name="internal_chat_message_metadata_passthrough"
    )
    metadata: Passthrough | None = None  # the same, under its first name

    @property
    def kind(self) -> str:
        return f"bare/{tag_of(type(self))}"

    @property
    def ident(self) -> str | None:
        return self.id or getattr(self, "call_id", None)

    @property
    def turn_id(self) -> str | None:
        """The turn that the item says it belongs to (clients of mid-2026 on)."""
        said = self.passthrough or self.metadata
        return said.turn_id if said is not None else None


class Message(Item, tag="message", kw_only=True):
    role: str
    content: str | list[Content]  # a string only in the one-document files
    phase: str | None = None  # `commentary`, `final_answer`
    status: str | None = None
    encrypted_content: str | None = None


class AgentMailItem(Item, tag="agent_message", kw_only=True):
    """Mail from one agent to another."""

    author: str
    recipient: str
    content: list[Content]


class Reasoning(Item, tag="reasoning", kw_only=True):
    summary: list[Summary]
    content: list[Thought] | None = None
    encrypted_content: str | None = None
    duration_ms: int | None = None  # the one-document files only
    status: str | None = None


class FunctionCall(Item, tag="function_call", kw_only=True):
    name: str | None = None
    arguments: str | None = None  # null where they were taken out
    call_id: str | None = None
    namespace: str | None = None
    encrypted_function_args: list[str] | None = None
    encrypted_content: str | None = None
    status: str | None = None

    @property
    def parsed(self) -> Any:
        """The arguments as JSON, or None."""
        try:
            return loads(self.arguments.encode())[0] if self.arguments is not None else None
        except (ValueError, RecursionError):
            return None


class FunctionCallOutput(Item, tag="function_call_output", kw_only=True):
    output: Output | None = None
    call_id: str | None = None  # since 2026 an output may answer no call
    name: str | None = None
    namespace: str | None = None
    status: str | None = None


class FunctionCallResult(Item, tag="function_call_result", kw_only=True):
    """`function_call_output` as some descriptions have it; no client was seen to write it."""

    call_id: str | None = None
    result: Output | None = None

    @property
    def output(self) -> Output | None:
        return self.result


class CustomToolCall(Item, tag="custom_tool_call", kw_only=True):
    """A call whose input is text: a patch, or a script."""

    name: str | None = None
    input: str | None = None
    call_id: str | None = None
    namespace: str | None = None
    status: str | None = None
    encrypted_content: str | None = None


class CustomToolCallOutput(Item, tag="custom_tool_call_output", kw_only=True):
    output: Output | None = None
    call_id: str | None = None
    name: str | None = None


class ShellAction(Named):
    type: str
    command: list[str]
    timeout_ms: int | None = None
    working_directory: str | None = None
    env: dict[str, str] | None = None
    user: str | None = None


class LocalShellCall(Item, tag="local_shell_call", kw_only=True):
    status: str
    action: ShellAction
    call_id: str | None = None
    encrypted_content: str | None = None


class LocalShellCallOutput(Item, tag="local_shell_call_output", kw_only=True):
    """Written by the first client only; later ones answer with `function_call_output`."""

    output: Output | None = None
    call_id: str | None = None
    status: str | None = None


class WebSearchCall(Item, tag="web_search_call", kw_only=True):
    """Runs on the server: no call id, no output item."""

    status: str | None = None
    action: WebSearchAction | None = None
    encrypted_content: str | None = None


class ToolSearchCall(Item, tag="tool_search_call", kw_only=True):
    execution: str
    arguments: Free = NOTHING
    call_id: str | None = None
    status: str | None = None
    encrypted_content: str | None = None


class ToolSearchOutputItem(Item, tag="tool_search_output", kw_only=True):
    execution: str
    tools: Free = NOTHING
    call_id: str | None = None
    status: str | None = None


class ImageGenerationCall(Item, tag="image_generation_call", kw_only=True):
    status: str
    result: str  # base64
    revised_prompt: str | None = None
    encrypted_content: str | None = None


class AdditionalTools(Item, tag="additional_tools", kw_only=True):
    """The tools that are listed at the start of a model's context."""

    role: str
    tools: Free = NOTHING


class ConfigurationReasoning(Named):
    effort: str | None = None


class ConfigurationUpdate(Item, tag="configuration_update", kw_only=True):
    reasoning: ConfigurationReasoning


class GhostCommit(Named):
    id: str
    parent: str | None = None
    preexisting_untracked_files: list[str] | None = None
    preexisting_untracked_dirs: list[str] | None = None


class GhostSnapshot(Item, tag="ghost_snapshot", kw_only=True):
    """A snapshot for undo, 0.51 to 0.125."""

    ghost_commit: GhostCommit


class CompactionItem(Item, tag="compaction", kw_only=True):
    encrypted_content: str


class CompactionSummary(CompactionItem, tag="compaction_summary", kw_only=True):
    """The name of `compaction` from 0.59 to 0.71."""


class ContextCompaction(Item, tag="context_compaction", kw_only=True):
    encrypted_content: str | None = None


ResponseItem = (
    Message
    | AgentMailItem
    | Reasoning
    | FunctionCall
    | FunctionCallOutput
    | FunctionCallResult
    | CustomToolCall
    | CustomToolCallOutput
    | LocalShellCall
    | LocalShellCallOutput
    | WebSearchCall
    | ToolSearchCall
    | ToolSearchOutputItem
    | ImageGenerationCall
    | AdditionalTools
    | ConfigurationUpdate
    | GhostSnapshot
    | CompactionItem
    | CompactionSummary
    | ContextCompaction
)
