"""How a call ended: the table that gives each call exactly one verdict.

| what the log shows | verdict |
|---|---|
| an error, and a hook that forbade the call | `blocked` |
| a result that says so | `denied`, `blocked`, `interrupted`, `timed_out`, `sibling_error` |
| an error in the words of a hook that wanted a person to be asked | `denied` |
| cancelled along with the call beside it | `interrupted` if that was, else `denied` |
| the words for *No* and *Esc* alike, then an interruption that names the answer it cut, or nobody to ask | `interrupted` |
| the same words, and our own hook saw it begin, but nobody was asked | `interrupted` |
| the same words inside a subagent that was stopped | `interrupted` |
| the same words otherwise | `denied` |
| killed with exit code 137, and no answer ever read it | `interrupted`; read: `error` |
| a note of a later resume that the outcome is unknown | `lost` |
| it went on in the background | `backgrounded`, with the outcome that notices, stops and the work's own log give |
| a result, and the client's own note beside it | `ok` or `error`: the note wins over the text |
| a result of a subagent whose last words are an API error | `error` |
| a result whose own fields say `success: false` | `error` |
| a result | `ok` or `error` |
| no result, but a hook's decision or the client's note | `blocked`, or what the note says |
| no result, but our own hook saw how it ended | `ok`, `error`, `timed_out`, `interrupted`, `denied` |
| no result, and its branch was left | `abandoned` |
| no result, and the conversation went on without it | `lost` |
| no result, the process lives (or the log changed within 10 minutes) | `running` |
| no result, the process is gone | `lost` |

Rules
  1. The first row that fits decides. What the log states is `stated`; what we conclude from silence is `inferred`.
  2. Evidence lists the lines that decided, in the order of the log, the call's own line first.
  3. Nothing here knows an agent: its words were read by its translator.
  4. What our own hook received (`is_heard`) adds to a log that is silent, and never contradicts one that speaks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from tracklog.model.events import HookRan, LogEvent, Place, TaskSeen, ToolReturned
from tracklog.model.fold.thread import CallFacts
from tracklog.model.session import Outcome, Sureness, Verdict

_SAYS_IT: dict[str, Verdict] = {
    "denied": "denied",
    "blocked": "blocked",
    "interrupted": "interrupted",
    "timed_out": "timed_out",
    "sibling_error": "sibling_error",
}
_HEARD_ENDS: dict[str, Verdict] = {
    "ok": "ok",
    "error": "error",
    "timed_out": "timed_out",
    "interrupted": "interrupted",
    "denied": "denied",
}
ThreadEnd = Literal["ended", "failed", "stopped", "open"]


class Circumstances(NamedTuple):
    """Facts outside of the call that affect its verdict."""

    is_alive: bool | None = None  # the process; None: nobody knows
    alive_by: str = ""  # what says so
    is_alive_sure: bool = True
    is_fresh: bool = False  # the log changed within ten minutes of the caller's now
    is_abandoned: bool = False  # its branch was left
    seen: Sequence[TaskSeen] = ()  # what was said of its work in the background, in order
    child: ThreadEnd | None = None  # how the subagent that it spawned ended, by its own log
    child_event: LogEvent | None = None  # the line that shows it
    is_beside_interrupted: bool = False  # a call of the same answer was interrupted
    is_in_stopped_thread: bool = False  # the subagent that made the call was stopped


@dataclass(slots=True)
class Judgement:
    """A verdict, and what it rests on."""

    verdict: Verdict
    sureness: Sureness
    why: str
    because: list[LogEvent] = field(default_factory=list)
    outcome: Outcome | None = None
    timed_out: bool = False

    def evidence(self, call: CallFacts) -> list[Place]:
        """The lines that prove it, the call's own first, then in the order of the logs."""
        own = call.called.place
        if not self.because:
            return [own]
        if len(self.because) == 1:
            place = self.because[0].place
            return [own] if place == own else [own, place]
        return [own, *sorted({event.place for event in self.because} - {own})]


def judge(call: CallFacts, around: Circumstances) -> Judgement:
    """The one verdict of a call."""
    result = effective(call.results)
    return _by_result(call, result, around) if result is not None else _without_result(call, around)


def effective(results: Sequence[ToolReturned]) -> ToolReturned | None:
    """The result that counts: the last one, but a note that nothing is known never beats a real one."""
    if len(results) == 1:
        return results[0]
    real = [result for result in results if result.said != "outcome_unknown"] or results
    return real[-1] if real else None


def _by_result(call: CallFacts, result: ToolReturned, around: Circumstances) -> Judgement:
    said = result.said
    if call.hooks and (judged := _by_hooks(call, result)) is not None:
        return judged
    if said in _SAYS_IT:
        return Judgement(_SAYS_IT[said], _sureness(result), result.why, [result])
    if said == "cancelled":
        verdict: Verdict = "interrupted" if around.is_beside_interrupted else "denied"
        return Judgement(verdict, "stated", result.why, [result])
    if said == "rejected":
        return _rejected(call, result, around)
    if said == "cut_off":
        return _cut_off(call, result)
    if said == "outcome_unknown":
        return _by_hearsay(call) or Judgement("lost", "stated", result.why, [result])
    if said == "backgrounded":
        return _backgrounded(call, result, around)
    return _came_back(call, result, around)


def _by_hooks(call: CallFacts, result: ToolReturned) -> Judgement | None:
    said = result.said
    hooks = [hook for hook in call.hooks if _forbids(hook)]
    if hooks and said in ("error", "denied"):
        return Judgement("blocked", "stated", "a hook's decision", [result, *hooks])
    asked = [hook for hook in call.hooks if said == "error" and _asks_in_vain(hook, result)]
    if asked:
        return Judgement("denied", "stated", "a hook asked, and nobody answered", [result, *asked])
    return None


def _rejected(call: CallFacts, result: ToolReturned, around: Circumstances) -> Judgement:
    stop = call.interrupted_by
    if call.reports:
        because: list[LogEvent] = [result, *call.reports]
        return Judgement("interrupted", "stated", "it had begun: the client noted its end", because)
    if stop is not None and stop.request is not None:
        return Judgement("interrupted", "stated", "the interruption names the answer it cut", [result, stop])
    if result.is_headless or (stop is not None and stop.is_headless):
        why = "interrupted: nobody could have said no"
        return Judgement("interrupted", "inferred", why, [result, *([stop] if stop else [])])
    asked = [hook for hook in call.hooks if hook.hook_event == "PermissionRequest"]
    began = [hook for hook in call.hooks if hook.is_heard and hook.outcome == "began"]
    if began and not asked and (result.is_sidechain or stop is None):
        return Judgement("interrupted", "inferred", "it had begun, and nobody was asked", [result, *began])
    if around.is_in_stopped_thread:
        return Judgement("interrupted", "inferred", "its subagent was stopped", [result])
    sureness: Sureness = "inferred" if result.is_sidechain and not asked else "stated"
    return Judgement(
        "denied", sureness, "rejected by the person", [result, *asked, *([stop] if stop else [])]
    )


def _cut_off(call: CallFacts, result: ToolReturned) -> Judgement:
    if call.read_by is not None:
        return Judgement("error", "stated", "exit code 137, and the model read it", [result])
    return Judgement("interrupted", "inferred", "killed, and no answer ever read it", [result])


def _came_back(call: CallFacts, result: ToolReturned, around: Circumstances) -> Judgement:
    note = call.reports[-1] if call.reports else None
    if note is not None and note.is_denied:
        return Judgement("denied", "stated", "the client notes a refusal", [result, note])
    if note is not None and note.end in ("ok", "error"):
        why = f"the client notes how the {note.what} ended"
        return Judgement("ok" if note.end == "ok" else "error", "stated", why, [result, note])
    if note is not None and note.end == "killed" and result.said != "error":
        return Judgement("interrupted", "stated", "the client notes that it was killed", [result, note])
    if result.said == "ok" and around.child == "failed":
        because: list[LogEvent] = [result, *([around.child_event] if around.child_event else [])]
        return Judgement("error", "inferred", "the subagent's last words are an API error", because)
    return Judgement("error" if result.said == "error" else "ok", _sureness(result), result.why, [result])


def _sureness(result: ToolReturned) -> Sureness:
    return "stated" if result.is_sure else "inferred"


def _backgrounded(call: CallFacts, result: ToolReturned, around: Circumstances) -> Judgement:
    outcome, because = _outcome(call, around)
    judgement = Judgement("backgrounded", _sureness(result), result.why, [result, *because], outcome)
    judgement.timed_out = bool(result.timed_out)
    return judgement


def _outcome(call: CallFacts, around: Circumstances) -> tuple[Outcome, list[LogEvent]]:
    """How the work in the background ended: by the client's note, by notices, by its own log."""
    notes = [note for note in call.reports if note.end != "running"]
    if notes:
        end = notes[-1].end
        return ("killed" if end == "killed" else "error" if end == "error" else "ok"), [notes[-1]]
    ends = [seen for seen in around.seen if seen.end != "running"]
    if ends:
        last = ends[-1]
        if last.end == "ok" and around.child == "failed" and around.child_event is not None:
            return "error", [last, around.child_event]
        return ("killed" if last.end == "killed" else "error" if last.end == "error" else "ok"), [last]
    if around.child in ("ended", "failed", "stopped") and around.child_event is not None:
        by_log: dict[str, Outcome] = {"ended": "ok", "failed": "error", "stopped": "killed"}
        return by_log[around.child], [around.child_event]
    if around.is_alive or (around.is_alive is None and around.is_fresh):
        return "running", []
    return "unknown", []


def _without_result(call: CallFacts, around: Circumstances) -> Judgement:
    if call.reports:
        return _by_note(call)
    hooks = [hook for hook in call.hooks if _forbids(hook)]
    if hooks:
        return Judgement("blocked", "stated", "a hook's decision", list(hooks))
    if (by_hearsay := _by_hearsay(call)) is not None:
        return by_hearsay
    if around.is_abandoned:
        return Judgement("abandoned", "stated", "no result, and its branch was left")
    if call.passed_by is not None:
        return Judgement("lost", "stated", "the conversation went on without it", [call.passed_by])
    if around.is_alive is not None:
        verdict: Verdict = "running" if around.is_alive else "lost"
        why = "the process lives" if around.is_alive else "the process is gone"
        said = f" ({around.alive_by})" if around.alive_by else ""
        return Judgement(verdict, "stated" if around.is_alive_sure else "inferred", f"no result: {why}{said}")
    if around.is_fresh:
        return Judgement("running", "inferred", "no result, and the log changed within ten minutes")
    return Judgement("lost", "inferred", "no result, and the log is at rest")


def _by_hearsay(call: CallFacts) -> Judgement | None:
    """How a call ended, as our own hook saw it, where no log says so."""
    ends = [hook for hook in call.hooks if hook.is_heard and hook.outcome in _HEARD_ENDS]
    if not ends:
        return None
    last = ends[-1]
    return Judgement(_HEARD_ENDS[last.outcome], "stated", f"our hook was told: {last.hook_event}", [last])


def _by_note(call: CallFacts) -> Judgement:
    note = call.reports[-1]
    if note.is_denied:
        return Judgement("denied", "stated", "the client notes a refusal", [note])
    verdicts: dict[str, Verdict] = {
        "ok": "ok",
        "error": "error",
        "killed": "interrupted",
        "running": "running",
    }
    return Judgement(verdicts[note.end], "stated", f"the client notes how the {note.what} ended", [note])


def _asks_in_vain(hook: HookRan, result: ToolReturned) -> bool:
    reason = result.text.strip()
    return hook.hook_event == "PreToolUse" and hook.decision == "ask" and reason != "" and reason in hook.text


def _forbids(hook: HookRan) -> bool:
    is_before = hook.hook_event in ("PreToolUse", "PermissionRequest")
    return is_before and (hook.outcome == "blocked" or hook.decision == "deny")
