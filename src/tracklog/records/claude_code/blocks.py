"""The content blocks of messages (docs/formats/claude_code.md#blocks).

A block of unknown type, or of a known type in another shape, is an `UnknownPart`: it spoils nothing around it.
Inputs of tools and results of server tools are free JSON and kept as bytes.
"""

import re
from typing import Any

from msgspec import Raw, field

from tracklog.records.base import Named, UnknownPart, opened

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
    """A tool that the API ran itself; its result stands in an assistant message."""

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


class Compaction(Block, tag="compaction"):
    """The API compacted the conversation."""

    content: str | None = None
    encrypted_content: str | None = None


class Image(Block, tag="image"):
    """A picture; its source is base64 data, an address or a file id."""

    source: Raw = Raw()
    cache_control: Raw = Raw()


class Document(Block, tag="document"):
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


Inner = Text | Image | Document | ToolReference | SearchResult | UnknownPart


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
    | Compaction
    | Image
    | Document
    | ContainerUpload
    | ToolReference
    | SearchResult
    | UnknownPart
)
Content = str | list[AnyBlock | str]
