"""What was spent by the word of the scripted API: sums over its own log, in the fields of `tracklog usage`.

Rules of this room
  1. An answer is charged when it was sent to its end. One that broke off is charged for something between what its
     beginning said and what its end would have said.
  2. What the client never writes down is named by its kind (`NEVER_WRITTEN`); what a killed client had no time to write
     is named by its play (`DIED_WITH`). Nothing else may be absent from the logs.
  3. Whether a request is on disk is read from the raw bytes of the logs: nothing of tracklog is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tests.lab.loopback import Exchange
from tests.lab.run import LabRun
from tests.lab.words import Json

NEVER_WRITTEN = {
    "claude": {
        "helper": "titles, topics and paths in commands; 2.1.325 makes none without a screen",
        "summary": "/compact, and compaction that the client decides on",
        "web_search": "the request behind the tool WebSearch",
    },
    "codex": {"helper": "the title of a session before a screen"},
}
DIED_WITH = {
    ("claude", "1.0.60", "kill_agent"): "a subagent's lines are written when it is done",
    ("claude", "2.0.30", "kill_agent"): "a subagent's lines are written when it is done",
}
LEFT_RUNNING = "sitting_left_running"  # a background task answers while the client is already closing


@dataclass(frozen=True)
class Spent:
    """Requests and their tokens."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    cache_write_tokens: int = 0
    cache_write_5m_tokens: int = 0
    cache_write_1h_tokens: int = 0
    cache_read_tokens: int = 0
    web_searches: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(**{name: value + getattr(other, name) for name, value in vars(self).items()})

    def __sub__(self, other: Spent) -> Spent:
        return Spent(**{name: value - getattr(other, name) for name, value in vars(self).items()})

    def __bool__(self) -> bool:
        return any(vars(self).values())


Sums = dict[str, Spent]  # by model


def in_sum(parts: Iterable[tuple[str, Spent]]) -> Sums:
    """The parts of each model in one."""
    sums: Sums = {}
    for model, spent in parts:
        sums[model] = sums.get(model, Spent()) + spent
    return sums


def less(sums: Sums, known: Sums) -> Sums:
    """What of the sums is not known; models of which nothing is left are left out."""
    rest = {model: spent - known.get(model, Spent()) for model, spent in sums.items()}
    return {model: spent for model, spent in rest.items() if spent}


def sums_of(run: LabRun, exchanges: Iterable[Exchange]) -> Sums:
    """What these requests are charged, if each was answered to its end."""
    charged = charged_by_anthropic if run.agent == "claude" else charged_by_openai
    return in_sum(part for e in exchanges for part in charged(e))


def charged_by_anthropic(exchange: Exchange) -> Iterator[tuple[str, Spent]]:
    """The request, and whom the model asked for advice: that is in none of the request's own figures."""
    usage = exchange.meant
    searches = (usage.get("server_tool_use") or {}).get("web_search_requests", 0)
    yield exchange.model, _anthropic_tokens(usage, requests=1, web_searches=searches)
    for share in usage.get("iterations", ()):
        if share["type"] == "advisor_message":
            yield share["model"], _anthropic_tokens(share)


def _anthropic_tokens(usage: Json, *, requests: int = 0, web_searches: int = 0) -> Spent:
    lives = usage["cache_creation"] or {}
    for_5m, for_1h = lives.get("ephemeral_5m_input_tokens", 0), lives.get("ephemeral_1h_input_tokens", 0)
    return Spent(
        requests=requests,
        input_tokens=usage["input_tokens"],
        output_tokens=usage["output_tokens"],
        cache_write_tokens=max(usage["cache_creation_input_tokens"], for_5m + for_1h),
        cache_write_5m_tokens=for_5m,
        cache_write_1h_tokens=for_1h,
        cache_read_tokens=usage["cache_read_input_tokens"],
        web_searches=web_searches,
    )


def begun(exchanges: Iterable[Exchange]) -> Sums:
    """What the beginnings of these answers of Anthropic's said: all that is known of one that was cut."""
    return in_sum((e.model, _anthropic_tokens(e.began, requests=1)) for e in exchanges)


def charged_by_openai(exchange: Exchange) -> Iterator[tuple[str, Spent]]:
    """The request; what was cached is a part of its input there, and none of it here."""
    usage = exchange.meant
    details = usage["input_tokens_details"]
    read, written = details["cached_tokens"], details.get("cache_write_tokens", 0)
    yield (
        exchange.model,
        Spent(
            requests=1,
            input_tokens=usage["input_tokens"] - read - written,
            output_tokens=usage["output_tokens"],
            reasoning_tokens=usage["output_tokens_details"]["reasoning_tokens"],
            cache_write_tokens=written,
            cache_read_tokens=read,
        ),
    )


def on_disk(run: LabRun) -> list[Exchange]:
    """The requests of which a log tells. Codex logs only what was answered to its end."""
    if run.agent == "codex":
        return [e for e in completed(run) if e.kind not in NEVER_WRITTEN["codex"]]
    written = {message["id"] for _, message in _answers(run)}
    return [e for e in run.exchanges if e.message_id in written and e.outcome != "error"]


def completed(run: LabRun) -> list[Exchange]:
    """The requests that were answered to their end: these are charged for certain."""
    return [e for e in run.exchanges if e.outcome == "complete"]


def hidden(run: LabRun) -> list[Exchange]:
    """The requests that were charged and of which no log has a record."""
    told = {e.n for e in on_disk(run)}
    return [e for e in completed(run) if e.n not in told]


def sent_in_vain(run: LabRun) -> list[Exchange]:
    """The requests of the story that were sent and of which no log has a record, however they ended."""
    told = {e.n for e in on_disk(run)}
    return [e for e in run.exchanges if e.kind == "story" and e.n not in told]


def unfinished(run: LabRun) -> list[Exchange]:
    """The requests on disk whose end is not: no record says why the model stopped, or the stream broke."""
    if run.agent == "codex":
        return []
    ended = {_mark(m["id"], m["usage"]) for _, m in _answers(run) if m["stop_reason"]}
    return [e for e in on_disk(run) if e.outcome != "complete" or _mark(e.message_id, e.meant) not in ended]


def _mark(message_id: str, usage: Json) -> tuple[str, int]:
    """What tells requests apart whose ids a gateway made: the script lets no two of them read the same cache."""
    return message_id, usage["cache_read_input_tokens"]


def owners(run: LabRun) -> dict[str, str]:
    """The session that each message was first written for: of those that hold it, the one that was started first."""
    started = list(
        dict.fromkeys(d["session_id"] for e in run.exits for d in e.documents if "session_id" in d)
    )
    holders: dict[str, set[str]] = {}
    for line, message in _answers(run):
        holders.setdefault(message["id"], set()).add(line["sessionId"])
    return {message: min(sessions, key=started.index) for message, sessions in holders.items()}


def sums_by_session(run: LabRun) -> dict[str, Spent]:
    """What the requests on disk are charged, by the session that made them."""
    owner = owners(run)
    parts = ((owner[e.message_id], spent) for e in on_disk(run) for _, spent in charged_by_anthropic(e))
    return in_sum(parts)


def _answers(run: LabRun) -> Iterator[tuple[Json, Json]]:
    """The lines of Claude Code's logs that hold an answer, or a part of one."""
    for line in run.lines():
        message = line.get("message") or {}
        if line.get("type") == "assistant" and message.get("usage"):
            yield line, message
