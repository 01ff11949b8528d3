"""Which events we listen to: those that states and calls are told by, and not the chatty ones.

Which release of Claude Code knows which event was read from the clients' own lists (docs/hooks.md). Up to 2.1.100 a
client that does not know one event of a settings file ignores the whole file, with everything else that stands in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tracklog.errors import UserError

CLAUDE = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "StopFailure",
    "SessionEnd",
)
CLAUDE_OLDEST = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "Notification", "SubagentStop", "Stop")
CLAUDE_ALL = (
    *CLAUDE,
    "Setup",
    "UserPromptExpansion",
    "PostToolBatch",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
)
NEVER = (
    "WorktreeCreate",
)  # what such a hook prints is the path of the worktree: one that is silent breaks it
CODEX = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
    "SessionEnd",
)
CODEX_ALL = (*CODEX, "PreModelRequest", "PreCompact", "PostCompact")
_SETS = {
    "claude": {"default": CLAUDE, "oldest": CLAUDE_OLDEST, "all": CLAUDE_ALL},
    "codex": {"default": CODEX, "oldest": CODEX, "all": CODEX_ALL},
}


def chosen_events(agent: str, words: Sequence[str]) -> list[str]:
    """The events that a person means by names and sets (`default`, `oldest`, `all`), in the order we list them."""
    meant: set[str] = set()
    for word in words or ("default",):
        meant.update(_SETS[agent].get(word, (word,)))
    every = _SETS[agent]["all"]
    return [event for event in every if event in meant]


def refuse_unknown_events(words: Sequence[str]) -> None:
    """Names that no agent knows: one of them can make a client ignore all its settings."""
    known = {*CLAUDE_ALL, *CODEX_ALL, *_SETS["claude"]}
    for word in words:
        if word in NEVER:
            raise UserError(f"{word} is not for listening: the client waits for an answer of its hook")
        if word not in known:
            raise UserError(f"no such event: {word!r}; `tracklog hooks install --help` names them")
