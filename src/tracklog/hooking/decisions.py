"""What a hook may decide, and how that is said: by JSON on stdout, or by exit code 2.

| decision | said by | events |
|---|---|---|
| `allow`, `deny`, `ask` | `permissionDecision` | PreToolUse |
| `allow`, `deny` | `decision.behavior` | PermissionRequest |
| `block` | **exit code 2**, the reason on stderr | those that can block: the client takes no other code for a no |
| `context` | `additionalContext` | those that listen |
| `replace_output` | `updatedToolOutput` | PostToolUse |
| `retry` | `retry` | PermissionDenied |
| `stop` | `continue: false` | all; a call that waits for PreToolUse still runs |
| `say` | `systemMessage`: for the person, not for the model | all |

Rules
  1. A decision that an event does not know is a mistake and is said (`WrongDecision`): silence would open the gate.
  2. Nothing decided is nothing printed, and exit code 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

BLOCKING = frozenset(
    {
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Stop",
        "SubagentStop",
        "PreCompact",
        "TaskCreated",
        "TaskCompleted",
        "TeammateIdle",
        "ConfigChange",
        "WorktreeCreate",
        "Elicitation",
        "ElicitationResult",
    }
)
LISTENING = frozenset(
    {
        "SessionStart",
        "Setup",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Stop",
        "SubagentStop",
        "SubagentStart",
        "Notification",
    }
)
Document = dict[str, Any]


class WrongDecision(TypeError):  # noqa: N818 - named for what it is, as everything here
    """A decision that the event does not know."""


@dataclass(frozen=True)
class Decision:
    """One thing that a hook decided; make it with the functions of this module."""

    what: str
    on: frozenset[str] | None  # the events that know it; None: all
    said: Document = field(default_factory=dict)  # in the words of the function that made it
    reason: str | None = None

    def refuse_if_wrong(self, event: str) -> None:
        """Raises WrongDecision where an event does not know it."""
        if self.on is not None and event not in self.on:
            raise WrongDecision(f"{event} knows no {self.what}: {', '.join(sorted(self.on))} do")


_ASKING = frozenset({"PreToolUse"})
_PERMITTING = frozenset({"PreToolUse", "PermissionRequest"})


def allow(
    reason: str | None = None, *, updated_input: Document | None = None, updated_permissions: Any = None
) -> Decision:
    """Lets the call run, without asking the person; with another input, if one is given."""
    said = {"updatedInput": updated_input, "updatedPermissions": updated_permissions}
    return Decision("allow", _PERMITTING, said, reason)


def deny(reason: str, *, interrupts: bool = False) -> Decision:
    """Refuses the call; the model reads the reason. `interrupts` also ends the turn (PermissionRequest)."""
    return Decision("deny", _PERMITTING, {"interrupt": interrupts or None}, reason)


def ask(reason: str | None = None, *, updated_input: Document | None = None) -> Decision:
    """Has the person asked, whatever the rules say."""
    return Decision("ask", _ASKING, {"updatedInput": updated_input}, reason)


def block(reason: str) -> Decision:
    """Says no: the call does not run, the prompt is not sent, the agent does not stop. The model reads the reason."""
    return Decision("block", BLOCKING, {}, reason)


def context(text: str) -> Decision:
    """Tells the model something."""
    return Decision("context", LISTENING, {"additionalContext": text})


def replace_output(output: Any) -> Decision:
    """Gives the model this in place of what the tool returned."""
    return Decision("replace_output", frozenset({"PostToolUse"}), {"updatedToolOutput": output})


def retry() -> Decision:
    """Lets the model try a refused call again."""
    return Decision("retry", frozenset({"PermissionDenied"}), {"retry": True})


def stop(reason: str) -> Decision:
    """Ends the turn; the person reads the reason."""
    return Decision("stop", None, {}, reason)


def say(text: str) -> Decision:
    """Shows the person a message."""
    return Decision("say", None, {}, text)


def document_of(decisions: Sequence[Decision], event: str) -> Document:
    """The stdout of some decisions, without those that an exit code expresses; may be empty."""
    document: Document = {}
    specific: Document = {}
    about_permission = [one.what for one in decisions if one.what in ("allow", "deny", "ask")]
    if len(about_permission) > 1:
        raise WrongDecision(f"one permission is decided once, not as {' and '.join(about_permission)}")
    for one in decisions:
        one.refuse_if_wrong(event)
        if one.what in _PLAINLY:
            document |= _PLAINLY[one.what](one)
        elif one.what != "block":
            specific |= _specifically(one, event)
    if specific:
        document["hookSpecificOutput"] = {"hookEventName": event, **specific}
    return document


_PLAINLY: dict[str, Callable[[Decision], Document]] = {
    "stop": lambda one: {"continue": False, "stopReason": one.reason},
    "say": lambda one: {"systemMessage": one.reason},
}


def _specifically(one: Decision, event: str) -> Document:
    said = {key: value for key, value in one.said.items() if value is not None}
    if one.what not in ("allow", "deny", "ask"):
        return said
    if event == "PermissionRequest":
        why = {"message": one.reason} if one.what == "deny" else {}
        return {"decision": {"behavior": one.what, **why, **said}}
    said = {key: value for key, value in said.items() if key == "updatedInput"}
    why = {"permissionDecisionReason": one.reason} if one.reason is not None else {}
    return {"permissionDecision": one.what, **why, **said}
