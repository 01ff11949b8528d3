"""Turn the facts of calls, requests and turns into values, and make branches where there is no tree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any, NamedTuple

from msgspec import Raw

from tracklog.model.assemble.times import between_ms, earlier, times_of
from tracklog.model.assemble.verdicts import Judgement, effective
from tracklog.model.events import HookRan, LogEvent, Place, PromptGiven, TaskSeen, ToolReturned
from tracklog.model.fold.thread import CallFacts, RequestFacts, TurnFacts
from tracklog.model.ids import MAIN, CallId, NodeId, RequestId, SessionId, ThreadId
from tracklog.model.records import opened
from tracklog.model.session import Branch, Call, CallResult, HookRun, Phase, Prompt, Request, Stated, Turn

_LONGEST_ERROR = 2000
_SHELLS = ("Bash", "PowerShell")
_DEFAULT_LIMIT_MS = 120_000
_BEFORE = ("PreToolUse", "PermissionRequest")


class Setting(NamedTuple):
    """The position of a call in its session."""

    session: SessionId
    agent: str
    thread: ThreadId
    turn: int | None
    on_active_branch: bool
    group: list[CallId]  # all calls of its request
    spawned: ThreadId | None
    seen: list[TaskSeen]
    writer: SessionId | None  # the other session whose call it is, if this one only holds a copy
    inherited_by: list[SessionId]


def call_value(facts: CallFacts, judged: Judgement, setting: Setting) -> Call:
    """The call with all that is known of it."""
    called, result = facts.called, effective(facts.results)
    times = times_of(facts, result, judged, is_alone=len(setting.group) < 2)
    return Call(
        id=called.call,
        session=setting.writer or setting.session,
        agent=setting.agent,
        thread=setting.thread,
        name=called.name,
        verdict=judged.verdict,
        sureness=judged.sureness,
        why=judged.why,
        evidence=judged.evidence(facts),
        outcome=judged.outcome,
        timed_out=judged.timed_out or _is_moved_by_time_limit(facts, result),
        on_active_branch=setting.on_active_branch,
        turn=setting.turn,
        request=facts.request,
        node=called.node,
        input=called.input,
        ran_input=_ran_input(facts) if facts.hooks else called.ran_input,
        called_at=called.at,
        returned_at=result.at if result else None,
        ended_at=_ended_at(setting.seen) if setting.seen else None,
        took_ms=times.took_ms,
        took_by=times.took_by,
        run_ms=times.run_ms,
        waited_ms=times.waited_ms,
        exit_code=_exit_code(facts, result, setting.seen),
        error=_error(judged, result),
        decision=result.decision if result else None,
        feedback=result.feedback if result else None,
        results=[_result(one, called.name) for one in facts.results],
        noted=next((note.report for note in reversed(facts.reports) if note.report), Raw()),
        group=setting.group,
        inherited_by=[setting.session] if setting.writer else setting.inherited_by,
        is_inherited=setting.writer is not None,
        phases=_phases(facts, result, setting.seen),
        hooks=[hook_run(hook) for hook in facts.hooks] if facts.hooks else [],
        task=result.task if result else None,
        spawned=setting.spawned,
        stated=_stated(result),
        server=called.server,
        is_server_side=called.is_server_side,
        parent_call=called.parent_call,
    )


def _ended_at(seen: list[TaskSeen]) -> str | None:
    return next((one.at for one in reversed(seen) if one.end != "running"), None)


def _ran_input(facts: CallFacts) -> Raw:
    return next((hook.ran_input for hook in facts.hooks if hook.ran_input), facts.called.ran_input)


def hook_run(hook: HookRan) -> HookRun:
    """A hook's run as a value."""
    return HookRun(
        event=hook.hook_event,
        name=hook.name,
        outcome=hook.outcome,
        command=hook.command,
        text=hook.text,
        exit_code=hook.exit_code,
        took_ms=hook.took_ms,
        at=hook.at,
        place=hook.place,
    )


def _is_moved_by_time_limit(facts: CallFacts, result: ToolReturned | None) -> bool:
    """Clients up to 2.1.197 do not say it: nobody had asked for the background, and the time was up."""
    if result is None or result.said != "backgrounded" or result.timed_out is not None:
        return False
    arguments = opened(facts.called.input)
    if not isinstance(arguments, dict) or facts.called.name not in _SHELLS:
        return False
    if arguments.get("run_in_background") is True or "manually backgrounded" in result.text[:60]:
        return False
    limit, took_ms = arguments.get("timeout"), between_ms(facts.called.at, result.at)
    limit_ms = limit if isinstance(limit, (int, float)) and limit > 0 else _DEFAULT_LIMIT_MS
    return took_ms is None or took_ms >= limit_ms


def _exit_code(facts: CallFacts, result: ToolReturned | None, seen: list[TaskSeen]) -> int | None:
    for note in reversed(facts.reports):
        if note.exit_code is not None:
            return note.exit_code
    if result is not None and result.exit_code is not None:
        is_code = not result.is_code_only_of_shell or facts.called.name in _SHELLS
        return result.exit_code if is_code else None
    return next((one.exit_code for one in reversed(seen) if one.exit_code is not None), None)


def _error(judged: Judgement, result: ToolReturned | None) -> str | None:
    if judged.verdict in ("ok", "backgrounded", "running") or result is None:
        return None
    code = f"Exit code {result.exit_code}" if result.exit_code is not None else None
    return result.text[:_LONGEST_ERROR] or code


def _result(event: ToolReturned, name: str) -> CallResult:
    return CallResult(
        place=event.place,
        at=event.at,
        text=event.text,
        full_text=event.full_text,
        text_source=event.text_source,
        is_error=event.is_error,
        report=event.report,
        side_file=own_side_file(event.side_file),
        exit_code=None if event.is_code_only_of_shell and name not in _SHELLS else event.exit_code,
        took_ms=event.took_ms,
        whole_tokens=event.whole_tokens,
        whole_lines=event.whole_lines,
        envelope_bytes=event.envelope_bytes,
        n_images=event.n_images,
        is_note=event.said == "outcome_unknown",
    )


def own_side_file(path: str | None) -> str | None:
    """The name inside the session's own folder of results; other folders are none of ours."""
    if not path:
        return None
    folder, _, name = path.replace("\\", "/").rpartition("/")
    return name if folder.endswith("/tool-results") and name not in ("", ".", "..") else None


def _phases(facts: CallFacts, result: ToolReturned | None, seen: list[TaskSeen]) -> list[Phase]:
    found: list[tuple[str, LogEvent]] = [("asked", facts.called)]
    found += [(_hook_phase(hook), hook) for hook in facts.hooks if not hook.is_heard]
    found += [("progress", one) for one in (facts.first_progress, facts.last_progress) if one is not None]
    found += [("noted", note) for note in facts.reports]
    found += [("returned", one) for one in facts.results]
    if result is not None and facts.read_by is not None:
        found.append(("read", facts.read_by))
    found += [("notified", one) for one in seen]
    phases = {(what, event.place): Phase(what=what, at=event.at, place=event.place) for what, event in found}
    written = sorted(phases.values(), key=_place_and_time)
    return _with_heard(written, [hook for hook in facts.hooks if hook.is_heard]) if facts.hooks else written


def _place_and_time(phase: Phase) -> tuple[Place, str]:
    return phase.place, phase.at or ""


def _with_heard(written: list[Phase], hooks: list[HookRan]) -> list[Phase]:
    """Insert what our own hook received by its time: no log has a place for it."""
    phases = written
    for told in [phase for hook in hooks for phase in _heard_phases(hook, hooks)]:
        later = (n for n, phase in enumerate(phases) if told.at and phase.at and phase.at > told.at)
        n = next(later, len(phases))
        phases = [*phases[:n], told, *phases[n:]]
    return phases


def _heard_phases(hook: HookRan, beside: list[HookRan]) -> list[Phase]:
    """An end from our own hook also dates the begin of the call: after a permission request, that is the answer."""
    told = Phase(what=_hook_phase(hook), at=hook.at, place=hook.place)
    was_asked = any(other.outcome == "asked" for other in beside)
    began = earlier(hook.at, hook.call_took_ms) if was_asked else None
    return [told] if began is None else [Phase(what="allowed", at=began, place=hook.place), told]


def _hook_phase(hook: HookRan) -> str:
    if hook.hook_event == "PermissionRequest":
        return "permission"
    return "hook_before" if hook.hook_event in _BEFORE else "hook_after"


def _stated(result: ToolReturned | None) -> Stated | None:
    if result is None or not result.report or b"otalT" not in bytes(result.report):
        return None
    report = opened(result.report)
    if not isinstance(report, Mapping):
        return None
    usage = report.get("usage")
    return Stated(
        took_ms=_number(report.get("totalDurationMs")),
        tokens=_whole(report.get("totalTokens")),
        tool_uses=_whole(report.get("totalToolUseCount")),
        usage=usage if isinstance(usage, dict) else None,
    )


def _number(value: Any) -> float | None:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


Numbers = Mapping[int, int]  # of turns, by the identity of their facts
_COMMANDS = ("slash", "shell")


def numbered(
    turns: list[TurnFacts], index: Mapping[int, int], requests: Mapping[RequestId, RequestFacts]
) -> tuple[dict[int, TurnFacts], Numbers]:
    """The turns by number, and the number of each by identity.

    A command that no model saw is no turn, nor is what the client began by itself, such as a compaction: what it did
    belongs to the turn before.
    """
    found: dict[int, TurnFacts] = {}
    number_at: dict[int, int] = {}
    for place, turn in enumerate(turns):
        if _is_asked_for(turn, requests) or (not found and (turn.requests or turn.calls)):
            found[len(found) + 1] = turn
        elif found:
            _add(turn, to=found[len(found)])
        number_at[place] = len(found)
    return found, {facts: number_at[place] for facts, place in index.items() if number_at[place]}


def _is_asked_for(turn: TurnFacts, requests: Mapping[RequestId, RequestFacts]) -> bool:
    if turn.prompt is None or turn.prompt.origin not in _COMMANDS:
        return turn.prompt is not None
    parts = (part for id in turn.requests for part in requests[id].parts)
    return bool(turn.calls) or any(not part.is_synthetic or part.api_error is not None for part in parts)


def _add(turn: TurnFacts, *, to: TurnFacts) -> None:
    to.requests += turn.requests
    to.calls += turn.calls
    to.last_at = max(filter(None, (to.last_at, turn.last_at)), default=None)


def number_of(turn: TurnFacts | None, numbers: Numbers) -> int | None:
    """The number of the turn that something belongs to."""
    if turn is None:
        return None
    return numbers.get(id(turn if turn.moved_to is None else turn.whole))


def request_value(facts: RequestFacts, thread: ThreadId, numbers: Numbers) -> Request:
    """A request, put together from all its parts."""
    parts = facts.parts
    times = [part.at for part in parts if part.at is not None]
    texts = [(part.place, part.text) for part in parts if part.text]
    last = next((part for part in reversed(parts) if part.text.strip()), None)
    thoughts = [part.thinking for part in parts if part.thinking]
    models = [part.model for part in parts if part.model]
    reasons = [part.stop_reason for part in parts if part.stop_reason]
    errors = [part.api_error for part in parts if part.api_error is not None]
    return Request(
        id=facts.id,
        thread=thread,
        turn=number_of(facts.turn, numbers),
        model=models[0] if models else None,
        at=min(times, default=None),
        ended_at=max(times, default=None),
        text="\n".join(text for _, text in texts),
        text_blocks=texts,
        final_text="" if last is None else last.last_text or last.text,
        thinking="\n".join(thoughts),
        stop_reason=reasons[-1] if reasons else None,
        calls=list(facts.calls),
        places=list(dict.fromkeys([part.place for part in parts])),
        node=parts[-1].node,
        error=errors[0] if errors else None,
        is_synthetic=False not in [part.is_synthetic for part in parts],
        grouped_by=facts.grouped_by,
        has_hidden_thought=True in [part.has_hidden_thought for part in parts],
    )


def turn_value(facts: TurnFacts, thread: ThreadId, n: int, texts: Mapping[RequestId, str]) -> Turn:
    """A turn with its prompt and the last words of the model; `texts` are those of the requests."""
    at = facts.first.at if facts.first else None
    stated_text = facts.ended.text if facts.ended else None
    return Turn(
        n=n,
        thread=thread,
        prompts=[_prompt(facts.prompt, facts.word)] if facts.prompt else [],
        requests=list(facts.requests),
        calls=list(facts.calls),
        at=at,
        ended_at=facts.last_at,
        text=next((texts[id] for id in reversed(facts.requests) if texts[id]), stated_text or ""),
        stated_text=stated_text,
        took_ms=between_ms(at, facts.last_at),
        stated_ms=facts.ended.took_ms if facts.ended else None,
        is_closed=facts.ended is not None,
        is_interrupted=facts.interrupted_by is not None,
    )


def _prompt(event: PromptGiven, word: str | None) -> Prompt:
    return Prompt(
        text=event.text,
        origin=event.origin,
        at=event.at,
        place=event.place,
        node=event.node or _as_node(word),
        n_images=event.n_images,
        n_documents=event.n_documents,
    )


def branches_of_turns(turns: list[TurnFacts]) -> list[Branch]:
    """The branches of an agent without a tree: turns that were taken back together are one."""
    words = [_as_node(turn.word) for turn in turns]
    living = [word for turn, word in zip(turns, words, strict=True) if turn.left_by is None]
    first, last = (living[0], living[-1]) if living else (None, None)
    found = [Branch(id=MAIN, parent=None, start=first, end=last, is_active=True)]
    for _, group in groupby(enumerate(turns), key=lambda one: id(one[1].left_by)):
        places = [place for place, turn in group if turn.left_by is not None]
        if places:
            found.append(_left(words, places[0], places[-1]))
    return found


def _left(words: list[NodeId | None], first: int, last: int) -> Branch:
    nodes = [word for word in words[first : last + 1] if word is not None]
    return Branch(
        id=nodes[0] if nodes else f"turn-{first + 1}",
        parent=MAIN,
        start=words[first - 1] if first else None,
        end=nodes[-1] if nodes else None,
        is_active=False,
        why="rewind",
        nodes=nodes,
    )


def _as_node(word: str | None) -> NodeId | None:
    return NodeId(word) if word else None
