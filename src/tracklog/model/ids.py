"""The ids that the model speaks of, each a string of its own kind."""

from __future__ import annotations

from typing import NewType

SessionId = NewType("SessionId", str)
ThreadId = NewType("ThreadId", str)  # `main`, or a subagent's id
RequestId = NewType("RequestId", str)  # one call of the API: `message.id`, a Codex response
CallId = NewType("CallId", str)  # `tool_use.id` or `call_id`, verbatim
NodeId = NewType("NodeId", str)  # a record on the conversation tree
TaskId = NewType("TaskId", str)  # something that runs in the background

MAIN = ThreadId("main")


def id_start(id: str) -> str:
    """As much of an id as tells it apart: those of Codex begin with the time, so they need more."""
    return id[:13] if id[13:15] == "-7" else id[:8]
