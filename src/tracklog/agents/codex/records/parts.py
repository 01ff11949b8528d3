"""Small objects that several Codex lines share.

Rules
  1. Keys are snake_case on disk; a class whose keys are camelCase says so (`rename="camel"`).
  2. What every known client writes is required; what came, went or may be null is optional.
  3. Tags of small objects (`type` of a web search action, of a file change) are plain strings: a new one is
     data, not another shape.
"""

import msgspec

from tracklog.model.records import Named

Free = msgspec.Raw  # belongs to another program, or is bookkeeping of the client's own: kept as bytes
NOTHING = msgspec.Raw()

Variant = str | dict[str, msgspec.Raw]  # a name, or a name with details: `"never"`, `{"granular": {…}}`


class Duration(Named):
    secs: int
    nanos: int


class GitInfo(Named):
    commit_hash: str | None = None
    branch: str | None = None
    repository_url: str | None = None


class TurnAttribution(Named):
    """Who started a turn, and which turn is the first of that chain of work."""

    turn_id: str | None = None
    turn_trigger: str | None = None
    parent_turn_id: str | None = None
    initiating_agent_path: str | None = None
    root_turn_id: str | None = None


class WebSearchAction(Named):
    """`search`, `open_page`, `find_in_page`, `other`; `openPage`, `findInPage` in extension items."""

    type: str
    query: str | None = None
    queries: list[str] | None = None
    url: str | None = None
    pattern: str | None = None


class FileChange(Named):
    """What a patch did to one file: `add`, `delete` or `update`."""

    type: str
    content: str | None = None
    unified_diff: str | None = None
    move_path: str | None = None


class ParsedCommand(Named):
    """Codex's own reading of a shell command: `read`, `list_files`, `search`, `unknown`."""

    type: str
    cmd: str
    name: str | None = None
    path: str | None = None
    query: str | None = None


class McpResult(Named, rename="camel"):
    """What an MCP server answered; the contents are the server's."""

    content: Free = NOTHING
    structured_content: Free = NOTHING
    is_error: bool | None = None
    meta: Free = msgspec.field(default=NOTHING, name="_meta")


class McpAppUi(Named, rename="camel"):
    resource_uri: str | None = None
    preferred_model_display_mode: str | None = None


class CitedMemory(Named, rename="camel"):
    path: str | None = None
    line_start: int | None = None
    line_end: int | None = None
    note: str | None = None


class MemoryCitation(Named, rename="camel"):
    entries: list[CitedMemory] | None = None
    rollout_ids: list[str] | None = None


class AskedQuestion(Named):
    """A question that the agent asks without waiting for the answer."""

    title: str | None = None
    options: list[str] | None = None


class ByteRange(Named):
    start: int
    end: int


class TextElement(Named):
    """A place in a prompt that the client drew as an element, such as `$skill`."""

    byte_range: ByteRange
    placeholder: str | None = None


class ReviewTarget(Named):
    """`uncommittedChanges`, `baseBranch`, `commit` or `custom`."""

    type: str
    branch: str | None = None
    sha: str | None = None
    title: str | None = None
    instructions: str | None = None


class CodeLocation(Named):
    absolute_file_path: str
    line_range: ByteRange


class ReviewFinding(Named):
    title: str
    body: str
    confidence_score: float
    priority: int
    code_location: CodeLocation


class ReviewOutput(Named):
    findings: list[ReviewFinding]
    overall_correctness: str
    overall_explanation: str
    overall_confidence_score: float


class ErrorReport(Named):
    message: str
    codex_error_info: Variant | None = None


class AgentRef(Named):
    """A subagent as multi-agent v1 names it."""

    thread_id: str
    agent_nickname: str | None = None
    agent_role: str | None = None
    agent_type: str | None = None  # the older name of `agent_role`
    status: Variant | None = None  # `"running"`, or `{"completed": "its last words"}`


class ImageFailure(Named, rename="camel"):
    type: str
    limit_id: str | None = None
    resets_at: int | None = None
