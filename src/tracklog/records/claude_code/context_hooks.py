"""Attachments about hooks: since about 2.1.9x their runs are logged so."""

from msgspec import Raw, field

from tracklog.records.claude_code.envelope import Attachment, Camel


class HookRun(Attachment):
    """A hook that ran."""

    hook_name: str | None = None
    hook_event: str | None = None
    tool_use_id: str | None = field(default=None, name="toolUseID")
    command: str | None = None
    content: Raw = Raw()
    stdout: str | None = None
    stderr: str | None = None
    exit_code: int | None = None
    duration_ms: float | None = None
    account_memory_batch: Raw = Raw()


class HookSuccess(HookRun, tag="hook_success"):
    """It went well."""


class HookAdditionalContext(HookRun, tag="hook_additional_context"):
    """It added context."""


class HookSystemMessage(HookRun, tag="hook_system_message"):
    """It had a message for the person."""


class HookNonBlockingError(HookRun, tag="hook_non_blocking_error"):
    """It failed, and the work went on."""


class BlockingError(Camel):
    """The words of a hook that blocked."""

    blocking_error: str | None = None
    command: str | None = None


class HookBlockingError(HookRun, tag="hook_blocking_error"):
    """It blocked."""

    blocking_error: BlockingError | None = None


class HookErrorDuringExecution(HookRun, tag="hook_error_during_execution"):
    """It could not be run."""


class HookCancelled(HookRun, tag="hook_cancelled"):
    """It was cancelled."""

    timed_out: bool | None = None
    timeout_ms: float | None = None


class HookPermissionDecision(HookRun, tag="hook_permission_decision"):
    """It allowed or refused a call."""

    decision: str | None = None


class HookStoppedContinuation(HookRun, tag="hook_stopped_continuation"):
    """It ended the turn."""

    message: str | None = None


class AsyncHookResponse(HookRun, tag="async_hook_response"):
    """It answered later."""

    process_id: str | None = None
    response: Raw = Raw()
    tool_name: str | None = None


class HookDeferredTool(HookRun, tag="hook_deferred_tool"):
    """It put a call off."""

    tool_name: str | None = None
    tool_input: Raw = Raw()
    permission_mode: str | None = None


class AsyncHookResponseBatch(Attachment, tag="async_hook_response_batch"):
    """Several answered later."""

    hooks: Raw = Raw()


AnyHookContext = (
    HookSuccess | HookAdditionalContext | HookSystemMessage | HookNonBlockingError | HookBlockingError
    | HookErrorDuringExecution | HookCancelled | HookPermissionDecision | HookStoppedContinuation
    | AsyncHookResponse | HookDeferredTool | AsyncHookResponseBatch
)  # fmt: skip
