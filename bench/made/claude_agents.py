"""Subagents of Claude Code: where their records stand, and how their answer comes back.

In the main file (1.0), beside it (2.0), in a folder of the session (2.1); as the result of the call, or, where agents work
in the background, as a notification later.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from bench.made.claude_thread import Thread
from bench.made.claude_tools import Json, ToolRun
from bench.made.claude_usage import usage_of
from bench.made.tally import LogFile


@dataclass(frozen=True)
class Call:
    """A tool call that has been asked for."""

    id: str
    run: ToolRun
    uuid: str = ""  # the record that asks


def agent_log(parent: Thread, agent: str) -> LogFile:
    """The file that holds the agent's records in this era."""
    session = parent.session
    if session.era.subagents == "inline":
        return parent.log
    beside = session.folder / f"agent-{agent}.jsonl"
    inside = session.folder / session.id / "subagents" / f"agent-{agent}.jsonl"
    return LogFile(beside if session.era.subagents == "beside" else inside, session.tally)


def close_agent(thread: Thread, call: Call, parent: Thread, *, depth: int) -> None:
    """Writes the agent's file, and its meta file where the era has one."""
    session = thread.session
    thread.log.close()
    session.agent_bytes += thread.log.size
    if not session.era.agent_meta:
        return
    meta: Json = {
        "agentType": "general-purpose",
        "description": call.run.input["description"],
        "toolUseId": call.id,
        "spawnDepth": depth,
    }
    if parent.agent:
        meta["parentAgentId"] = parent.agent
    if session.era.request_metadata:
        meta |= {
            "isBuiltIn": True,
            "requestShape": "background",
            "requestNonInteractive": False,
            "finished": True,
        }
    thread.log.path.with_suffix(".meta.json").write_text(
        json.dumps(meta, separators=(",", ":")), encoding="utf-8"
    )


def mirror(parent: Thread, call: Call, agent: str, record: Json) -> None:
    """2.1.0 to 2.1.8x copied an agent's messages into the parent's file."""
    if "message" not in record:
        return
    kept = {
        key: record[key] for key in ("type", "message", "requestId", "uuid", "timestamp") if key in record
    }
    data = {
        "message": kept,
        "normalizedMessages": [],
        "type": "agent_progress",
        "prompt": "",
        "agentId": agent,
    }
    parent.add(
        "progress", {"data": data, "toolUseID": f"agent_{record['uuid'][:8]}", "parentToolUseID": call.id}
    )


def completed(parent: Thread, call: Call, agent: str, text: str, *, calls: int, took_ms: int) -> ToolRun:
    """The result carries the answer; its usage is that of the agent's last request alone."""
    last = parent.session.last_spent
    total = last.input_tokens + last.output_tokens + last.cache_read_tokens + last.cache_write_tokens
    sums = {
        "totalDurationMs": took_ms,
        "totalTokens": total,
        "totalToolUseCount": calls,
        "usage": usage_of(parent.session.era, last),
    }
    content = [{"type": "text", "text": text}]
    result = {"content": content, **sums}
    if parent.session.era.subagents != "inline":
        result |= {"status": "completed", "prompt": call.run.input["prompt"], "agentId": agent}
    return ToolRun(call.run.name, call.run.input, content, result)


def launched(parent: Thread, call: Call, agent: str, text: str) -> ToolRun:
    """The result comes at once; the answer waits until the results of the message are there."""
    asked, session = call.run.input, parent.session
    task = f"<task-id>{agent}</task-id>\n<tool-use-id>{call.id}</tool-use-id>\n<status>completed</status>"
    note = f"<task-notification>\n{task}\n<summary>Agent finished</summary>\n<result>{text}</result>\n</task-notification>"
    parent.inbox.append(note)
    said = [{"type": "text", "text": f"Async agent launched successfully.\nagentId: {agent}"}]
    result = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": agent,
        "description": asked["description"],
        "prompt": asked["prompt"],
    }
    out = f"/tmp/claude-1000/{session.folder.name}/{session.id}/tasks/{agent}.output"
    return ToolRun(
        call.run.name,
        asked,
        said,
        {**result, "resolvedModel": session.model, "outputFile": out, "canReadOutputFile": True},
    )


def deliver(thread: Thread, note: str) -> None:
    """An agent's answer reaches a turn that is under way."""
    clock = thread.session.clock
    if thread.agent is None:
        thread.note("queue-operation", {"operation": "enqueue", "timestamp": clock.tick(), "content": note})
        thread.note(
            "queue-operation",
            {"operation": "remove", "timestamp": clock.tick(), "reason": "absorbed_mid_turn"},
        )
    thread.meter.feed(len(note))
    thread.attach("queued_command", prompt=note, commandMode="task-notification")
