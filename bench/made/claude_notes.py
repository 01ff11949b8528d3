"""What Claude Code writes around the conversation: titles, modes, hooks, backups, reminders, cost.

In late versions 27 to 44 of a hundred lines are such metadata, most of them repeated after every turn.
"""

from __future__ import annotations

from collections.abc import Callable

from bench.made.claude_thread import Session, Thread
from bench.made.claude_tools import Json, ToolRun

# Pico-dollars per token (docs/accounting.md, checked against the client).
_PRICED = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_5m_tokens",
    "cache_write_1h_tokens",
)
_PRICES = {
    "claude-opus-5-5": (4_000_000, 20_000_000, 200_000, 5_000_000, 8_000_000),
    "claude-opus-4-8": (5_000_000, 25_000_000, 500_000, 6_250_000, 10_000_000),
}


def open_session(thread: Thread) -> None:
    """The first lines of a file, before any prompt."""
    session, era = thread.session, thread.session.era
    if era.subagents == "inline":
        for _ in range(session.dice.between(1, 3)):
            title = session.words.title(session.dice)
            thread.log.add({"type": "summary", "summary": title, "leafUuid": session.dice.uuid4()}, "summary")
    if era.progress:
        hook = {
            "type": "hook_progress",
            "hookEvent": "SessionStart",
            "hookName": "SessionStart:startup",
            "command": "cat notes.md",
        }
        thread.add("progress", {"data": hook, "parentToolUseID": session.id, "toolUseID": session.id})
    if era.request_metadata:
        shape = {
            "system": [{"type": "text", "text": session.words.prose(session.dice, 5_000)}],
            "tools": _tool_list(session),
        }
        about = {
            "shapeHash": session.dice.hex(64),
            "timestamp": session.clock.stamp(),
            "version": session.version,
        }
        thread.note("api-request-shape", {**about, "shape": shape})


def _tool_list(session: Session) -> list[Json]:
    schema = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
    describe = session.words.prose
    return [
        {"name": name, "description": describe(session.dice, 1_800), "input_schema": schema}
        for name in session.era.tools
    ]


def open_turn(thread: Thread) -> None:
    """What stands before a prompt: the checkpoint, and a queue that the prompt passed through."""
    session = thread.session
    if session.era.subagents == "inline":
        return
    _snapshot(thread, {}, update=False)
    if session.era.attachments and session.dice.chance(0.3):
        thread.note(
            "queue-operation",
            {"operation": "enqueue", "timestamp": session.clock.tick(), "content": session.last_prompt},
        )
        thread.note("queue-operation", {"operation": "dequeue", "timestamp": session.clock.tick()})


def start_tools(thread: Thread) -> None:
    """What the client attaches behind a prompt."""
    session, dice = thread.session, thread.session.dice
    if not session.era.attachments:
        return
    left = max(0, 200_000 - thread.meter.context)
    thread.attach("total_tokens_reminder", text=f"<total_tokens>{left} tokens left</total_tokens>")
    kind = dice.weighted(
        ("hook_success", "task_reminder", "edited_text_file", "nested_memory", "skill_listing", ""),
        (6, 4, 2, 1, 1, 6),
    )
    if kind:
        thread.attach(kind, **_ATTACHED[kind](session))


def _hook_success(session: Session) -> Json:
    out = session.words.output(session.dice, 120)
    ran = {
        "hookName": "UserPromptSubmit",
        "toolUseID": session.dice.uuid4(),
        "hookEvent": "UserPromptSubmit",
        "content": out,
    }
    return {
        **ran,
        "stdout": out,
        "stderr": "",
        "exitCode": 0,
        "command": "python3 hooks/context.py",
        "durationMs": 41,
    }


def _task_reminder(session: Session) -> Json:
    tasks = [session.words.title(session.dice) for _ in range(4)]
    items = [
        {
            "id": str(n),
            "subject": t,
            "description": t,
            "activeForm": t,
            "status": "pending",
            "blockedBy": [],
            "blocks": [],
        }
        for n, t in enumerate(tasks, 1)
    ]
    return {"content": items, "itemCount": len(items)}


def _edited_file(session: Session) -> Json:
    file = session.place.some_file()
    return {"filename": file.path, "snippet": session.place.numbered(file.lines[:40], 1)}


def _memory(session: Session) -> Json:
    path = f"{session.cwd}/CLAUDE.md"
    kept = {
        "type": "memory",
        "path": path,
        "content": session.words.prose(session.dice, 3_000),
        "contentDiffersFromDisk": False,
    }
    return {"path": path, "displayPath": "CLAUDE.md", "content": kept}


def _skills(session: Session) -> Json:
    names = [session.words.name(session.dice) for _ in range(12)]
    lines = [f"- {name}: {session.words.prose(session.dice, 300)}" for name in names]
    return {"content": "\n".join(lines), "skillCount": len(names), "isInitial": True, "names": names}


_ATTACHED: dict[str, Callable[[Session], Json]] = {
    "hook_success": _hook_success,
    "task_reminder": _task_reminder,
    "edited_text_file": _edited_file,
    "nested_memory": _memory,
    "skill_listing": _skills,
}


def note_edit(thread: Thread, run: ToolRun) -> None:
    """A changed file gets a backup, which the checkpoint of the turn then names."""
    session = thread.session
    if (
        run.name in ("Edit", "Write")
        and not run.is_error
        and session.era.subagents != "inline"
        and thread.agent is None
    ):
        backup = {
            "backupFileName": f"{session.dice.hex(16)}@v1",
            "version": 1,
            "backupTime": session.clock.stamp(),
        }
        _snapshot(thread, {run.input["file_path"]: backup}, update=True)


def note_tool(thread: Thread, run: ToolRun) -> None:
    """2.1.3xx keeps a list of the tools that a session has used."""
    if thread.session.era.request_metadata and thread.agent is None and run.name not in thread.tools_used:
        thread.tools_used.append(run.name)
        thread.note("tools-used", {"tools": thread.tools_used})


def _snapshot(thread: Thread, backups: Json, *, update: bool) -> None:
    message = thread.tail or thread.session.dice.uuid4()
    kept = {"messageId": message, "trackedFileBackups": backups, "timestamp": thread.session.clock.stamp()}
    record = {
        "type": "file-history-snapshot",
        "messageId": message,
        "snapshot": kept,
        "isSnapshotUpdate": update,
    }
    thread.log.add(record, "file-history-snapshot")


def end_turn(thread: Thread, *, took_ms: int) -> None:
    """The closing lines of a turn: hooks, its duration, and the metadata once more."""
    session, era = thread.session, thread.session.era
    if era.progress or era.attachments:
        hook = {
            "hookCount": 1,
            "hookInfos": [{"command": "python3 hooks/stop.py", "durationMs": 58}],
            "hookErrors": [],
        }
        outcome = {
            "preventedContinuation": False,
            "stopReason": "",
            "hasOutput": False,
            "level": "suggestion",
            "toolUseID": session.dice.uuid4(),
        }
        thread.system("stop_hook_summary", **hook, **outcome)
        thread.system("turn_duration", durationMs=took_ms, isMeta=False)
    for kind in era.turn_metadata:
        thread.note(kind, _METADATA[kind](thread))


def _cost_state(thread: Thread) -> Json:
    """The client's own sums: cumulative, subagents included."""
    session = thread.session
    sums = session.sums
    cost = (
        sum(sums[name] * price for name, price in zip(_PRICED, _PRICES[session.model], strict=True)) / 10**12
    )
    usage = {
        "inputTokens": sums["input_tokens"],
        "outputTokens": sums["output_tokens"],
        "thinkingTokens": sums["reasoning_tokens"],
        "cacheReadInputTokens": sums["cache_read_tokens"],
        "cacheCreationInputTokens": sums["cache_write_tokens"],
        "cacheCreationEphemeral5mInputTokens": sums["cache_write_5m_tokens"],
        "cacheCreationEphemeral1hInputTokens": sums["cache_write_1h_tokens"],
        "webSearchRequests": 0,
        "costUSD": cost,
    }
    took = session.clock.epoch_ms - session.started_ms
    times = {
        "totalAPIDuration": took // 2,
        "totalAPIDurationWithoutRetries": took // 2,
        "totalToolDuration": took // 4,
    }
    changed = {
        "totalLinesAdded": 10 * session.requests,
        "totalLinesRemoved": 4 * session.requests,
        "totalDuration": took,
    }
    return {
        "totalCostUSD": cost,
        **times,
        **changed,
        "startTime": session.started_ms,
        "modelUsage": {session.model: usage},
        "hasUnknownModelCost": False,
    }


_METADATA: dict[str, Callable[[Thread], Json]] = {
    "last-prompt": lambda thread: {
        "lastPrompt": thread.session.last_prompt[:200].replace("\n", " "),
        "leafUuid": thread.tail,
    },
    "ai-title": lambda thread: {"aiTitle": thread.session.title},
    "custom-title": lambda thread: {"customTitle": thread.session.title},
    "agent-name": lambda thread: {"agentName": thread.session.title},
    "mode": lambda _: {"mode": "normal"},
    "permission-mode": lambda thread: {"permissionMode": thread.session.era.user_fields["permissionMode"]},
    "bridge-session": lambda thread: {
        "bridgeSessionId": f"cse_{thread.session.id[:8]}",
        "lastSequenceNum": thread.session.requests,
    },
    "cost-state": _cost_state,
}
