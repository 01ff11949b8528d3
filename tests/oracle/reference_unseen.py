"""What a transcript does not hold: answers that are due, and spending that only the client's sums reveal (rule 9)."""

from __future__ import annotations

from collections import defaultdict

from tests.oracle.reading import Found, Json, inside, whole
from tests.oracle.reference_chunks import NO_TIME, day_of, moment, session_of, text_in
from tests.oracle.reference_requests import Request
from tests.oracle.truth import NOTHING, Count, HiddenSpent, Spent

_INTERRUPTED = "[Request interrupted by user]"
_NO_PROMPT = (
    "[Request interrupted by user for tool use]",
    "<command-name>",
    "<command-message>",
    "<local-command",
)
_CAVEAT = ("<local-command-caveat>", "Caveat: The messages below")


def awaited(files: list[list[Found]]) -> list[Spent]:
    """Logs that end with a prompt, or with the results of all calls: the answer is due, and not on disk."""
    spent = []
    for file in files:
        spoken = [f.value for f in file if _is_spoken(f.value)]
        last = spoken[-1] if spoken else {}
        is_due = last.get("type") == "user" and not _is_said_by_client(last, file) and not _open_calls(spoken)
        if is_due and not _says_it_is_over(file):
            day = day_of(moment(last.get("timestamp")))
            spent.append(Spent(session_of(file), None, day, NOTHING, "missing", "awaited"))
    return spent


_OVER = ("max_turns_reached", "hook_stopped_continuation", "structured_output")


def _says_it_is_over(file: list[Found]) -> bool:
    """Late clients note each request before they send it; others why they send no more."""
    answers = [f.line for f in file if f.value.get("type") == "assistant"]
    asked = [f.line for f in file if f.value.get("type") == "api-request"]
    if asked:
        return max(answers, default=0) > asked[-1]
    ends = [f.line for f in file if inside(f.value, "attachment", "type") in _OVER]
    return max(ends, default=0) > max(answers, default=0)


def _is_said_by_client(last: Json, file: list[Found]) -> bool:
    """Commands and their outputs, which no model is asked about."""
    parents = [f.value for f in file if f.value.get("uuid") == last.get("parentUuid")]
    is_output = any(_words(parent).startswith(_CAVEAT) for parent in parents)
    return is_output or _words(last).startswith(_NO_PROMPT)


def _is_spoken(record: Json) -> bool:
    is_aside = record.get("isMeta") or record.get("isCompactSummary") or _words(record) == _INTERRUPTED
    return record.get("type") in ("user", "assistant") and not is_aside


def _words(record: Json) -> str:
    content = inside(record, "message", "content")
    blocks = content if isinstance(content, list) else [{"text": content}]
    return next((b["text"] for b in blocks if isinstance(inside(b, "text"), str)), "")


def _open_calls(spoken: list[Json]) -> set[str]:
    calls: set[str] = set()
    for record in spoken:
        content = inside(record, "message", "content")
        for block in content if isinstance(content, list) else []:
            if inside(block, "type") == "tool_use":
                calls.add(text_in(block.get("id")))
            calls.discard(text_in(inside(block, "tool_use_id")))
    return calls


def hidden(files: list[list[Found]], requests: list[Request]) -> list[HiddenSpent]:
    """What the client's running sums hold more than the transcripts: R9, each sum against what stood before it."""
    most: dict[tuple[str, str], Count] = defaultdict(Count)
    for file in files:
        for found in file:
            if found.value.get("type") == "cost-state":
                for model, count in _revealed(found, file, requests).items():
                    key = session_of(file), model
                    most[key] = Count(*map(max, most[key], count))
    own = {key: count.minus(_of_parents(key, most, requests)) for key, count in most.items()}
    return [HiddenSpent(*key, count) for key, count in sorted(own.items()) if count != NOTHING]


def _revealed(state: Found, file: list[Found], requests: list[Request]) -> dict[str, Count]:
    session = session_of(file)
    before = [moment(f.value.get("timestamp")) for f in file if f.line < state.line]
    until = max(before, default=NO_TIME)
    seen: dict[str, Count] = defaultdict(Count)
    for request in requests:
        if any(c.session == session and c.at <= until for c in request.chunks):
            for one in request.spent():
                seen[one.model or ""] = seen[one.model or ""].plus(one.tokens)
    stated = state.value.get("modelUsage")
    return {
        model: count.minus(seen[model])
        for model, count in _stated(stated if isinstance(stated, dict) else {}).items()
    }


def _stated(models: Json) -> dict[str, Count]:
    stated: dict[str, Count] = defaultdict(Count)
    for name, used in models.items():
        model = name.removesuffix("[1m]")
        stated[model] = stated[model].plus(
            Count(
                input=whole(inside(used, "inputTokens")),
                output=whole(inside(used, "outputTokens")),
                write=whole(inside(used, "cacheCreationInputTokens")),
                read=whole(inside(used, "cacheReadInputTokens")),
                searches=whole(inside(used, "webSearchRequests")),
            )
        )
    return stated


def _of_parents(key: tuple[str, str], most: dict[tuple[str, str], Count], requests: list[Request]) -> Count:
    """What was hidden already in the sessions that this one inherited requests from."""
    session, model = key
    parents = {r.first.session for r in requests if any(c.session == session for c in r.chunks)} - {session}
    return max((most.get((parent, model), NOTHING) for parent in parents), default=NOTHING, key=sum)
