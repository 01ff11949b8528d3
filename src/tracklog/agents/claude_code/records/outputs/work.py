"""What tools report (`toolUseResult`) that run commands and read, search or change files."""

from msgspec import Raw, field

from tracklog.agents.claude_code.records.envelope import Camel
from tracklog.model.records import Named


class ToolOutput(Camel):
    """What a tool reports to programs."""


class CommitMade(Named):
    """A commit that a command made."""

    sha: str | None = None
    kind: str | None = None
    branch: str | None = None


class PushMade(Named):
    """A push that a command made."""

    branch: str | None = None


class BranchChange(Named):
    """A branch that a command merged or rebased."""

    ref: str | None = None
    action: str | None = None


class PullRequest(Named):
    """A pull request that a command touched."""

    number: int | None = None
    url: str | None = None
    action: str | None = None


class GitOperation(Named):
    """What a command did to a repository."""

    commit: CommitMade | None = None
    push: PushMade | None = None
    branch: BranchChange | None = None
    pr: PullRequest | None = None


class BashOutput(ToolOutput, kw_only=True):
    """Bash, PowerShell."""

    stdout: str
    stderr: str = ""
    interrupted: bool | None = None
    is_image: bool | None = None
    no_output_expected: bool | None = None
    raw_output_path: str | None = None
    background_task_id: str | None = None
    backgrounded_by_user: bool | None = None
    assistant_auto_backgrounded: bool | None = None
    timed_out_after_ms: float | None = None
    background_cwd_hint: str | bool | None = None
    background_ends_with_final_response: bool | None = None
    dangerously_disable_sandbox: bool | None = None
    return_code_interpretation: str | None = None
    structured_content: Raw = Raw()
    persisted_output_path: str | None = None
    persisted_output_size: int | None = None
    stale_read_file_state_hint: str | None = None
    gh_rate_limit_hint: str | None = None
    git_operation: GitOperation | None = None
    sandbox: bool | None = None
    summary: str | None = None
    token_saver_output: str | None = None
    is_error: bool | None = field(default=None, name="is_error")


class Dimensions(Camel):
    """The size of a picture."""

    original_width: int | None = None
    original_height: int | None = None
    display_width: int | None = None
    display_height: int | None = None
    width: int | None = None
    height: int | None = None


class ReadFile(Camel):
    """What was read: text, a picture, a notebook, a PDF."""

    file_path: str | None = None
    content: str | None = None
    num_lines: int | None = None
    start_line: int | None = None
    total_lines: int | None = None
    truncated_by_token_cap: bool | None = None
    base64: str | None = None
    type: str | None = None
    original_size: int | None = None
    dimensions: Dimensions | None = None
    cells: Raw = Raw()
    count: int | None = None
    output_dir: str | None = None


class ReadOutput(ToolOutput, kw_only=True):
    """Read."""

    type: str
    file: ReadFile
    source: str | None = None


class Hunk(Camel, kw_only=True):
    """A part of a diff; its lines start with a space, `-`, `+` or a backslash."""

    old_start: int
    old_lines: int
    new_start: int
    new_lines: int
    lines: list[str]


class WriteOutput(ToolOutput, kw_only=True):
    """Write."""

    file_path: str
    type: str | None = None
    content: str | None = None
    structured_patch: list[Hunk] | None = None
    original_file: str | None = None
    git_diff: Raw = Raw()
    user_modified: bool | None = None
    memdir_stamped: bool | None = None


class EditStep(Named):
    """One of several edits."""

    old_string: str | None = None
    new_string: str | None = None
    replace_all: bool | None = None


class EditOutput(ToolOutput, kw_only=True):
    """Edit, MultiEdit."""

    file_path: str
    old_string: str | None = None
    new_string: str | None = None
    original_file: str | None = None
    original_file_contents: str | None = None
    structured_patch: list[Hunk] | None = None
    edits: list[EditStep] | None = None
    user_modified: bool | None = None
    replace_all: bool | None = None
    git_diff: Raw = Raw()
    stale_recovered: bool | None = None
    memdir_stamped: bool | None = None


class NotebookEditOutput(Named, kw_only=True):
    """NotebookEdit."""

    new_source: str
    old_source: str | None = None
    cell_id: str | None = None
    cell_type: str | None = None
    language: str | None = None
    edit_mode: str | None = None
    error: str | None = None
    notebook_path: str | None = None
    original_file: str | None = None
    updated_file: str | None = None


class GlobOutput(ToolOutput, kw_only=True):
    """Glob."""

    filenames: list[str]
    num_files: int | None = None
    duration_ms: float | None = None
    truncated: bool | None = None
    total_matches: int | None = None
    count_is_complete: bool | None = None


class GrepOutput(ToolOutput, kw_only=True):
    """Grep."""

    filenames: list[str]
    mode: str | None = None
    num_files: int | None = None
    content: str | None = None
    num_lines: int | None = None
    num_matches: int | None = None
    total_files: int | None = None
    total_lines: int | None = None
    total_matches: int | None = None
    applied_limit: int | None = None
    applied_offset: int | None = None


class ReplOutput(ToolOutput, kw_only=True):
    """REPL."""

    code: str
    result: Raw = Raw()
    stdout: str | None = None
    stderr: str | None = None
    error: str | None = None
    images: Raw = Raw()
    documents: Raw = Raw()


class LspOutput(ToolOutput, kw_only=True):
    """LSP."""

    operation: str
    result: Raw = Raw()
    file_path: str | None = None
    result_count: int | None = None
    file_count: int | None = None
