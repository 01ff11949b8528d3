"""Turn items: what `item_completed` carries in the newer history mode, one whole act of a turn each.

Rules
  1. For a tool, `id` is the `call_id` of the response item; acts inside a script have ids of their own.
  2. A path may be a `file://` address here. It is kept as it is.
"""

from tracklog.agents.codex.records.items import Output
from tracklog.agents.codex.records.parts import (
    NOTHING,
    AgentRef,
    AskedQuestion,
    Duration,
    FileChange,
    Free,
    ImageFailure,
    McpAppUi,
    McpResult,
    MemoryCitation,
    ParsedCommand,
    ReviewOutput,
    ReviewTarget,
    TextElement,
    Variant,
    WebSearchAction,
)
from tracklog.model.records import Named, UnknownPart


class TypedText(Named, tag="text", tag_field="type"):
    text: str
    text_elements: list[TextElement] | None = None


class PastedImage(Named, tag="image", tag_field="type"):
    image_url: str | None = None
    file_id: str | None = None
    detail: str | None = None


class LocalImage(Named, tag="local_image", tag_field="type"):
    path: str
    detail: str | None = None


class PastedAudio(Named, tag="audio", tag_field="type"):
    audio_url: str


class LocalAudio(Named, tag="local_audio", tag_field="type"):
    path: str


class MentionedSkill(Named, tag="skill", tag_field="type"):
    name: str
    path: str


class Mention(Named, tag="mention", tag_field="type"):
    name: str
    path: str


UserInput = (
    TypedText | PastedImage | LocalImage | PastedAudio | LocalAudio | MentionedSkill | Mention | UnknownPart
)


class AgentText(Named, tag="Text", tag_field="type"):
    text: str


class DynamicText(Named, tag="inputText", tag_field="type"):
    text: str


class DynamicImage(Named, tag="inputImage", tag_field="type", rename="camel"):
    image_url: str


class DynamicAudio(Named, tag="inputAudio", tag_field="type", rename="camel"):
    audio_url: str


AgentContent = AgentText | UnknownPart
DynamicContent = DynamicText | DynamicImage | DynamicAudio | UnknownPart


class Act(Named, tag_field="type", kw_only=True):
    """Any turn item."""

    id: str


class UserMessageItem(Act, tag="UserMessage", kw_only=True):
    content: list[UserInput]
    client_id: str | None = None


class HookFragment(Named, rename="camel"):
    text: str
    hook_run_id: str | None = None


class HookPromptItem(Act, tag="HookPrompt", kw_only=True):
    fragments: list[HookFragment]


class AgentMessageItem(Act, tag="AgentMessage", kw_only=True):
    content: list[AgentContent]
    phase: str | None = None
    memory_citation: MemoryCitation | None = None
    delivery: str | None = None
    questions: list[AskedQuestion] | None = None


class PlanItem(Act, tag="Plan", kw_only=True):
    text: str


class ReasoningItem(Act, tag="Reasoning", kw_only=True):
    summary_text: list[str]
    raw_content: list[str] | None = None


class CommandExecutionItem(Act, tag="CommandExecution", kw_only=True):
    command: list[str]
    status: str
    cwd: str | None = None
    parsed_cmd: list[ParsedCommand] | None = None
    source: str | None = None
    exit_code: int | None = None
    duration: Duration | None = None
    aggregated_output: str | None = None
    formatted_output: str | None = None
    stdout: str | None = None
    stderr: str | None = None
    process_id: str | None = None
    interaction_input: str | None = None
    plugin_id: str | None = None
    script_path: str | None = None


class FileChangeItem(Act, tag="FileChange", kw_only=True):
    changes: dict[str, FileChange]
    status: str | None = None
    auto_approved: bool | None = None
    stdout: str | None = None
    stderr: str | None = None


class McpError(Named):
    message: str


class McpToolCallItem(Act, tag="McpToolCall", kw_only=True, rename="camel"):
    server: str
    tool: str
    status: str
    arguments: Free = NOTHING
    result: McpResult | None = None
    error: McpError | None = None
    duration: Duration | None = None
    connector_id: str | None = None
    mcp_app_resource_uri: str | None = None
    mcp_app_ui: McpAppUi | None = None
    link_id: str | None = None
    app_name: str | None = None
    action_name: str | None = None
    plugin_id: str | None = None
    read_only_hint: bool | None = None


class DynamicToolCallItem(Act, tag="DynamicToolCall", kw_only=True):
    tool: str
    status: str
    namespace: str | None = None
    arguments: Free = NOTHING
    content_items: list[DynamicContent] | None = None
    success: bool | None = None
    error: str | None = None
    duration: Duration | None = None


class FunctionCallOutputItem(Act, tag="FunctionCallOutput", kw_only=True):
    output: Output
    name: str | None = None
    namespace: str | None = None


class CollabAgentToolCallItem(Act, tag="CollabAgentToolCall", kw_only=True):
    tool: str
    status: str
    sender_thread_id: str | None = None
    receiver_thread_ids: list[str] | None = None
    receiver_agents: list[AgentRef] | None = None
    prompt: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    agents_states: dict[str, Variant] | None = None


class SubAgentActivityItem(Act, tag="SubAgentActivity", kw_only=True):
    kind: str
    agent_thread_id: str
    agent_path: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None


class WebSearchItem(Act, tag="WebSearch", kw_only=True):
    query: str
    action: WebSearchAction | None = None
    results: Free = NOTHING


class ImageViewItem(Act, tag="ImageView", kw_only=True):
    path: str


class ImageGenerationItem(Act, tag="ImageGeneration", kw_only=True):
    status: str
    result: str | None = None
    file_id: str | None = None
    revised_prompt: str | None = None
    saved_path: str | None = None


class SleepItem(Act, tag="Sleep", kw_only=True):
    """0.141 to 0.144; later a sleep is an extension item."""

    duration_ms: int


class ExtensionItem(Act, tag="Extension", kw_only=True, rename="camel"):
    """An act of an extension: `web.search`, `image_gen.generation`, `clock.sleep`."""

    kind: str
    query: str | None = None
    action: WebSearchAction | None = None
    results: Free = NOTHING
    duration_ms: int | None = None
    status: str | None = None
    result: str | None = None
    file_id: str | None = None
    revised_prompt: str | None = None
    transparent_background: bool | None = None
    failure: ImageFailure | None = None
    saved_path: str | None = None
    input_images: Free = NOTHING
    generation_id: str | None = None


class EnteredReviewModeItem(Act, tag="EnteredReviewMode", kw_only=True):
    target: ReviewTarget
    user_facing_hint: str | None = None


class ExitedReviewModeItem(Act, tag="ExitedReviewMode", kw_only=True):
    review_output: ReviewOutput | None = None


class ContextCompactionItem(Act, tag="ContextCompaction", kw_only=True):
    """The context was compacted."""


TurnItem = (
    UserMessageItem
    | HookPromptItem
    | AgentMessageItem
    | PlanItem
    | ReasoningItem
    | CommandExecutionItem
    | FileChangeItem
    | McpToolCallItem
    | DynamicToolCallItem
    | FunctionCallOutputItem
    | CollabAgentToolCallItem
    | SubAgentActivityItem
    | WebSearchItem
    | ImageViewItem
    | ImageGenerationItem
    | SleepItem
    | ExtensionItem
    | EnteredReviewModeItem
    | ExitedReviewModeItem
    | ContextCompactionItem
)
