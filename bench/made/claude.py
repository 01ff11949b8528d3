"""Made Claude Code sessions: prompts, requests, tool calls, subagents, compactions, titles.

Rules of this room
  1. The order is the client's: a call stands before its result, metadata behind the turn, a boundary before its summary.
  2. Each call gets exactly one result; an agent's own records stand where its era keeps them.
"""

from __future__ import annotations

from pathlib import Path

from bench.made.claude_agents import Call, agent_log, close_agent, completed, deliver, launched, mirror
from bench.made.claude_eras import ERAS
from bench.made.claude_notes import end_turn, note_edit, note_tool, open_session, open_turn, start_tools
from bench.made.claude_thread import Session, Thread
from bench.made.claude_tools import TOOLS, Json, ToolRun
from bench.made.dice import Clock, Dice
from bench.made.tally import LogFile, Tally
from bench.made.words import Words

_CONTEXT_LIMIT = 155_000


def write_session(home: Path, dice: Dice, words: Words, *, index: int, n_bytes: int, tally: Tally) -> None:
    """Writes one session of about `n_bytes`, subagents included."""
    cwd = f"/home/dev/{words.name(Dice(f'project/{index % 12}'))}"
    clock = Clock(dice, day=index % 460)
    session = Session(dice, words, ERAS[index % len(ERAS)], clock, home / "projects", cwd, tally)
    main = Thread(session, LogFile(session.folder / f"{session.id}.jsonl", tally))
    open_session(main)
    while main.log.size + session.agent_bytes < n_bytes:
        _turn(main)
    main.log.close()
    tally.sessions += 1


def _turn(thread: Thread) -> None:
    session, dice = thread.session, thread.session.dice
    began = session.clock.epoch_ms
    session.prompt_id, session.last_prompt = dice.uuid4(), session.words.prose(dice, dice.tailed(60, 3_000))
    open_turn(thread)
    thread.say(_prompt_content(session), **session.era.user_fields)
    start_tools(thread)
    for _ in range(dice.between(*session.era.rounds)):
        _round(thread, depth=0)
    _answer(thread)
    end_turn(thread, took_ms=session.clock.epoch_ms - began)
    if thread.meter.context > _CONTEXT_LIMIT:
        _compact(thread)


def _prompt_content(session: Session) -> str | list[Json]:
    if not session.dice.chance(0.02):
        return session.last_prompt
    picture = session.dice.base64(session.dice.tailed(40_000, 300_000))
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": picture}}
    return [{"type": "text", "text": session.last_prompt}, image]


def _round(thread: Thread, *, depth: int) -> None:
    """One request with its tool calls and their results."""
    session, dice = thread.session, thread.session.dice
    calls = [_draw_call(session, depth=depth) for _ in range(dice.weighted((1, 2, 3), (74, 18, 8)))]
    uses = [
        {"type": "tool_use", "id": c.id, "name": c.run.name, "input": c.run.input, **_caller(session)}
        for c in calls
    ]
    opening = _opening_blocks(session)
    reply = thread.reply([*opening, *uses], "tool_use")
    for block in opening:
        reply.chunk(block)
    waiting: list[Call] = []
    for call, use in zip(calls, uses, strict=True):
        waiting.append(Call(call.id, call.run, reply.chunk(use)))
        if dice.chance(0.08):  # a quick tool is back before the message is whole
            _return(thread, waiting.pop(), depth=depth)
    for call in reversed(waiting) if dice.chance(0.2) else waiting:
        _return(thread, call, depth=depth)
    while thread.inbox:
        deliver(thread, thread.inbox.pop())


def _caller(session: Session) -> Json:
    return {"caller": {"type": "direct"}} if session.era.envelope_last else {}


def _draw_call(session: Session, *, depth: int) -> Call:
    dice, tools = session.dice, session.era.tools
    name = dice.weighted(list(tools), list(tools.values()))
    run = TOOLS[name](session.place) if name in TOOLS else _ask_agent(session)
    deepest = 2 if session.era.async_agents else 1  # agents that start agents came late
    if run.name in ("Agent", "Task") and depth >= deepest:
        run = TOOLS["Bash"](session.place)
    return Call(f"toolu_01{dice.alnum(22)}", run)


def _ask_agent(session: Session) -> ToolRun:
    dice, words = session.dice, session.words
    asked = {
        "description": words.title(dice),
        "prompt": words.prose(dice, dice.tailed(400, 6_000)),
        "subagent_type": "general-purpose",
    }
    return ToolRun("Agent" if session.era.envelope_last else "Task", asked, "", None)


def _opening_blocks(session: Session) -> list[Json]:
    """What a message says before it calls: thoughts, a sentence, often nothing."""
    dice, blocks = session.dice, []
    if dice.chance(0.35):
        hidden = session.era.async_agents
        thought = "" if hidden else session.words.prose(dice, dice.tailed(150, 6_000))
        blocks.append(
            {"type": "thinking", "thinking": thought, "signature": dice.base64(dice.tailed(260, 4_000))}
        )
    if dice.chance(0.4):
        blocks.append({"type": "text", "text": session.words.prose(dice, dice.tailed(70, 1_200))})
    return blocks


def _answer(thread: Thread) -> str:
    """The message that ends a turn."""
    dice = thread.session.dice
    text = thread.session.words.prose(dice, dice.tailed(350, 6_000))
    block = {"type": "text", "text": text}
    thread.reply([block], "end_turn").chunk(block)
    return text


def _return(thread: Thread, call: Call, *, depth: int) -> None:
    """Writes the result of a call, and what its era leaves around it."""
    session, run = thread.session, call.run
    if run.name in ("Agent", "Task"):
        run = _run_agent(thread, call, depth=depth + 1)
    elif session.era.progress:
        _progress(thread, call)
    note_tool(thread, run)
    verdict = {} if run.is_error is None else {"is_error": run.is_error}
    block = {"tool_use_id": call.id, "type": "tool_result", "content": run.content, **verdict}
    extra: Json = {"toolUseResult": run.result}
    if session.era.subagents == "folder":
        extra["sourceToolAssistantUUID"] = call.uuid
    if session.era.request_metadata and not run.is_error:
        extra["permissionDecision"] = {"decision": "accept", "source": "config", "reasonType": "mode"}
    thread.say([block], **extra, parent=call.uuid)
    note_edit(thread, run)


def _progress(thread: Thread, call: Call) -> None:
    dice, words = thread.session.dice, thread.session.words
    event = f"PostToolUse:{call.run.name}"
    hook = {
        "type": "hook_progress",
        "hookEvent": "PostToolUse",
        "hookName": event,
        "command": "make -s lint-changed",
    }
    thread.add("progress", {"data": hook, "toolUseID": call.id, "parentToolUseID": call.id}, parent=call.uuid)
    for n in range(dice.tailed(1, 30) if call.run.name == "Bash" else 0):
        output = words.output(dice, dice.tailed(80, 4_000))
        data = {
            "type": "bash_progress",
            "output": output[-400:],
            "fullOutput": output,
            "elapsedTimeSeconds": 2 + n,
        }
        body = {
            "data": {**data, "totalLines": output.count("\n")},
            "toolUseID": f"bash-progress-{n}",
            "parentToolUseID": call.id,
        }
        thread.add("progress", body)


def _run_agent(parent: Thread, call: Call, *, depth: int) -> ToolRun:
    """Lets a subagent work; returns the call with its answer."""
    session, dice, asked = parent.session, parent.session.dice, call.run.input
    agent = f"a{dice.hex(16)}" if session.era.agent_meta else f"a{dice.hex(6)}"
    thread = Thread(session, agent_log(parent, agent), agent=agent)
    if session.era.progress:
        thread.mirror = lambda record: mirror(parent, call, agent, record)
    began = session.clock.epoch_ms
    thread.say(asked["prompt"])
    rounds = dice.between(2, 7)
    for _ in range(rounds):
        _round(thread, depth=depth)
    text = _answer(thread)
    if session.era.subagents != "inline":
        close_agent(thread, call, parent, depth=depth)
    if session.era.async_agents:
        return launched(parent, call, agent, text)
    return completed(parent, call, agent, text, calls=rounds, took_ms=session.clock.epoch_ms - began)


def _compact(thread: Thread) -> None:
    session, before = thread.session, thread.tail
    pre, kept = thread.meter.context, session.dice.between(9_000, 20_000)
    late = (
        {"postTokens": kept, "durationMs": session.dice.between(20_000, 90_000)}
        if session.era.settled_usage
        else {}
    )
    thread.tail = None
    about = {
        "content": "Conversation compacted",
        "isMeta": False,
        "level": "info",
        "compactMetadata": {"trigger": "auto", "preTokens": pre, **late},
    }
    thread.add("system", {"logicalParentUuid": before, "subtype": "compact_boundary"}, extra=about)
    thread.meter.compact(kept)
    opening = "This session is being continued from a previous conversation that ran out of context."
    summary = f"{opening}\n\n{session.words.prose(session.dice, 7_000)}"
    thread.say(summary, isVisibleInTranscriptOnly=True, isCompactSummary=True)
