"""Fields that all conversation records of Claude Code share, and the content blocks of their messages.

Rules
  1. A block of unknown type, or of a known type in another shape, is an `UnknownPart`; the blocks around it are
     read.
  2. Inputs of tools and results of server tools are free JSON and kept as bytes.
  3. Keys of records are camelCase on disk and renamed by rule; a field whose spelling differs from the rule states
     it. Keys of API objects are snake_case on disk: those structs are plain `Named`.
"""

import re
from typing import Any

from msgspec import Raw, field

from tracklog.model.records import Named, Record, UnknownPart, opened

_EXIT_CODE = re.compile(r"\AExit code (-?\d+)(?:\n|\Z)|\n?\[Exit code: (-?\d+)\]\s*\Z")
_AGENT_ID = re.compile(r"^agentId: (\S+)", re.MULTILINE)


class Block(Named, tag_field="type"):
    """One block of a message's content."""


class Text(Block, tag="text", kw_only=True):
    """Prose of the model or of the person."""

    text: str
    citations: Raw = Raw()
    cache_control: Raw = Raw()


class Thinking(Block, tag="thinking"):
    """The model's thinking; late clients often store only its signature."""

    thinking: str = ""
    signature: str | None = None


class RedactedThinking(Block, tag="redacted_thinking"):
    """Thinking that only the API can read."""

    data: str | None = None


class ToolUse(Block, tag="tool_use", kw_only=True):
    """The model's wish to run a tool."""

    name: str
    id: str = ""
    input: Raw = Raw()
    caller: Raw = Raw()
    cache_control: Raw = Raw()

    @property
    def arguments(self) -> Any:
        """The input, parsed."""
        return opened(self.input)


class ServerToolUse(Block, tag="server_tool_use", kw_only=True):
    """A tool that the API ran itself; its result is in an assistant message."""

    id: str
    name: str
    input: Raw = Raw()
    caller: Raw = Raw()


class ServerToolResult(Block, kw_only=True):
    """What a tool of the API gave back: a list, or an object that may be an error."""

    tool_use_id: str
    content: Raw = Raw()
    caller: Raw = Raw()


class WebSearchResult(ServerToolResult, tag="web_search_tool_result"):
    """Pages found."""


class WebFetchResult(ServerToolResult, tag="web_fetch_tool_result"):
    """A page read."""


class CodeExecutionResult(ServerToolResult, tag="code_execution_tool_result"):
    """A script run."""


class BashCodeExecutionResult(ServerToolResult, tag="bash_code_execution_tool_result"):
    """A command run."""


class TextEditorResult(ServerToolResult, tag="text_editor_code_execution_tool_result"):
    """A file edited."""


class ToolSearchResult(ServerToolResult, tag="tool_search_tool_result"):
    """Tools found."""


class AdvisorResult(ServerToolResult, tag="advisor_tool_result"):
    """A second model's advice."""


class McpToolUse(Block, tag="mcp_tool_use", kw_only=True):
    """A tool of an MCP server that the API called itself."""

    id: str
    name: str
    server_name: str | None = None
    input: Raw = Raw()


class McpToolResult(Block, tag="mcp_tool_result", kw_only=True):
    """What that tool gave back."""

    tool_use_id: str
    is_error: bool | None = None
    content: Raw = Raw()


class FallbackModel(Named):
    """A model by name."""

    model: str | None = None


class Fallback(Block, tag="fallback"):
    """The rest of this message was served by another model."""

    from_: FallbackModel | None = field(default=None, name="from")
    to: FallbackModel | None = None


class CompactionBlock(Block, tag="compaction"):
    """The API compacted the conversation."""

    content: str | None = None
    encrypted_content: str | None = None


class Image(Block, tag="image"):
    """A picture; its source is base64 data, an address or a file id."""

    source: Raw = Raw()
    cache_control: Raw = Raw()


class DocumentBlock(Block, tag="document"):
    """A document given to the model."""

    source: Raw = Raw()
    title: str | None = None
    context: str | None = None
    citations: Raw = Raw()
    cache_control: Raw = Raw()


class ContainerUpload(Block, tag="container_upload"):
    """A file put into the API's sandbox."""

    file_id: str | None = None


class ToolReference(Block, tag="tool_reference", kw_only=True):
    """A deferred tool that a search found."""

    tool_name: str


class SearchResult(Block, tag="search_result"):
    """A passage offered for citation."""

    source: str | None = None
    title: str | None = None
    content: Raw = Raw()
    citations: Raw = Raw()
    cache_control: Raw = Raw()


Inner = Text | Image | DocumentBlock | ToolReference | SearchResult | UnknownPart


class ToolResult(Block, tag="tool_result"):
    """What the model read as the result of its tool call."""

    tool_use_id: str | None = None
    content: str | list[Inner | str] | None = None
    is_error: bool | None = None
    cache_control: Raw = Raw()

    @property
    def text(self) -> str:
        """The text of the result, its parts joined by newlines."""
        if isinstance(self.content, list):
            parts = (part if isinstance(part, str) else getattr(part, "text", "") for part in self.content)
            return "\n".join(part for part in parts if part)
        return self.content or ""

    @property
    def exit_code(self) -> int | None:
        """The exit code that the text states: first line `Exit code N`, or a last `[Exit code: N]`."""
        found = _EXIT_CODE.search(self.text)
        return int(found.group(1) or found.group(2)) if found else None

    @property
    def agent_id(self) -> str | None:
        """The subagent that the text names (`agentId: …`)."""
        found = _AGENT_ID.search(self.text)
        return found.group(1) if found else None


AnyBlock = (
    Text
    | Thinking
    | RedactedThinking
    | ToolUse
    | ToolResult
    | ServerToolUse
    | WebSearchResult
    | WebFetchResult
    | CodeExecutionResult
    | BashCodeExecutionResult
    | TextEditorResult
    | ToolSearchResult
    | AdvisorResult
    | McpToolUse
    | McpToolResult
    | Fallback
    | CompactionBlock
    | Image
    | DocumentBlock
    | ContainerUpload
    | ToolReference
    | SearchResult
    | UnknownPart
)
Content = str | list[AnyBlock | str]


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
