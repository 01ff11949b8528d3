"""Cases of Claude Code: what the figures of a usage object mean, and where one must not be looked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.oracle.logs import (
    DAY,
    HAIKU,
    OPUS,
    SONNET,
    ClaudeLog,
    Json,
    claude,
    message_id,
    request_id,
    session_id,
    text,
    tool_use,
    usage,
)
from tests.oracle.truth import Case, Count, HiddenSpent, Spent, Truth

ONE = session_id(1)


def cases() -> Iterator[Case]:
    """All of this page."""
    yield from cache_writes()
    yield from odd_conditions()
    yield from false_friends()
    yield from odd_numbers()
    yield advisor()
    yield compaction_iteration()
    yield web_searches()
    yield thinking()
    yield stated_cost()
    yield days_by_zone()


def _one(name: str, proves: str, used: Json, count: Count, **over: Any) -> Case:
    """A case of a single request."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), used, request=request_id(1), **over)
    return Case(name, proves, claude(log), Truth([Spent(ONE, OPUS, DAY, count)]))


def cache_writes() -> Iterator[Case]:
    """The total and its two parts, in all the ways that APIs get them wrong."""
    yield _one(
        "5m and 1h writes",
        "the parts are kept apart: their prices differ",
        usage(9, 80, write=544, w1h=313, read=12140),
        Count(9, 80, 544, 12140, 231, 313),
    )
    yield _one(
        "0/0 breakdown with a total",
        "the total counts where the parts say nothing",
        usage(9, 80, write=4839, w5m=0),
        Count(9, 80, 4839, 0),
    )
    yield _one(
        "null breakdown",
        "no parts are no reason to drop the write, or the line",
        usage(9, 80, write=2000) | {"cache_creation": None},
        Count(9, 80, 2000, 0),
    )
    yield _one(
        "breakdown larger than the total",
        "before 2.1.152 the total could be 0",
        usage(9, 80, write=0, w5m=100, w1h=200),
        Count(9, 80, 300, 0, 100, 200),
    )
    yield _one(
        "breakdown smaller than the total",
        "what no part claims was still written",
        usage(9, 80, write=6207, w5m=3000, w1h=1207),
        Count(9, 80, 6207, 0, 3000, 1207),
    )


def odd_conditions() -> Iterator[Case]:
    """Speed, tier and region change the price, never the count."""
    conditions: dict[str, Json] = {
        "speed null": {"speed": None},
        "fast and priority in the US": {"speed": "fast", "service_tier": "priority", "inference_geo": "us"},
        "batch": {"service_tier": "batch", "inference_geo": "not_available"},
        "fields nobody knows": {"fallback_credit": None, "later": {"input_tokens": 7}, "iterations": 3},
    }
    for name, more in conditions.items():
        used = usage(11, 70, write=20, read=300) | more
        yield _one(name, "the line counts like any other", used, Count(11, 70, 20, 300, 20))


FALSE = {"input_tokens": 900000, "output_tokens": 900000, "cache_read_input_tokens": 900000}


def false_friends() -> Iterator[Case]:
    """Words that look like accounts, in places where none is kept."""
    count = Count(11, 70, 20, 300, 20)
    used = usage(11, 70, write=20, read=300)
    contents = {
        '"model":null in a tool input': [tool_use("toolu_1", {"model": None, "id": None})],
        '"usage" in a tool input': [tool_use("toolu_1", {"usage": FALSE, "message": {"usage": FALSE}})],
        '"usage" in a text': [text('{"type":"assistant","message":{"usage":{"output_tokens":900000}}}')],
    }
    for name, content in contents.items():
        yield _one(name, "what a model writes is no account", used, count, content=content)
    yield usage_before_content()
    yield agent_totals()
    yield pasted_transcript()


def usage_before_content() -> Case:
    """A writer that sorts its keys; the false usage comes behind the true one."""
    log = ClaudeLog(ONE)
    log.prompt()
    content = [tool_use("toolu_1", {"usage": FALSE})]
    record = log.reply(message_id(1), usage(11, 70), request=request_id(1), content=content)
    message = dict(sorted(record["message"].items(), key=lambda item: item[0] == "content"))
    log.records[-1] = {"message": message} | record
    truth = Truth([Spent(ONE, OPUS, DAY, Count(11, 70))])
    return Case("keys in another order", "order of keys means nothing", claude(log), truth)


def agent_totals() -> Case:
    """A finished subagent: its result repeats the usage of its last request, and a total."""
    log = ClaudeLog(ONE)
    inner = ClaudeLog(ONE, sidechain=True, agent="a1")
    log.prompt()
    log.reply(message_id(1), usage(3, 9), request=request_id(1), content=[tool_use("toolu_1", name="Task")])
    told: Json = {"status": "completed", "agentId": "a1", "totalTokens": 4321, "usage": usage(5, 55, read=60)}
    log.result("toolu_1", toolUseResult=told)
    log.reply(message_id(2), usage(4, 8), request=request_id(2))
    inner.prompt("look")
    inner.reply(message_id(11), usage(5, 55, read=60), request=request_id(11), model=HAIKU)
    spent = [
        Spent(ONE, OPUS, DAY, Count(3, 9)),
        Spent(ONE, OPUS, DAY, Count(4, 8)),
        Spent(ONE, HAIKU, DAY, Count(5, 55, 0, 60)),
    ]
    proves = "an Agent result's usage and totalTokens are never added"
    return Case("totals in an agent's result", proves, claude(log, a1=inner), Truth(spent))


def pasted_transcript() -> Case:
    """Somebody reads a transcript: whole records stand inside a result and a prompt."""
    log, other = ClaudeLog(ONE), ClaudeLog(session_id(9))
    pasted = other.reply(message_id(99), FALSE, request=request_id(99))
    log.prompt(str(pasted))
    log.reply(message_id(1), usage(3, 9), request=request_id(1), content=[tool_use("toolu_1")])
    log.result("toolu_1", toolUseResult=pasted)
    log.reply(message_id(2), usage(4, 8), request=request_id(2))
    spent = [Spent(ONE, OPUS, DAY, Count(3, 9)), Spent(ONE, OPUS, DAY, Count(4, 8))]
    return Case("pasted transcript", "only a record's own message counts", claude(log), Truth(spent))


def odd_numbers() -> Iterator[Case]:
    """What is not a plausible count of tokens counts nothing, and takes nothing else with it."""
    good = usage(11, 70, write=20, read=300)
    odd: dict[str, Any] = {"negative": -5, "text": "12", "null": None, "fraction": 1.5, "huge": 10**30}
    for name, value in odd.items():
        used = good | {"input_tokens": value}
        log = ClaudeLog(ONE)
        log.prompt()
        log.reply(message_id(1), used, request=request_id(1))
        spent = Spent(ONE, OPUS, DAY, Count(0, 70, 20, 300, 20), "final" if value is None else "partial")
        yield Case(f"{name} number", "the others are a lower bound", claude(log), Truth([spent]))
    yield _one(
        "whole number with a point",
        "12.0 is 12",
        good | {"input_tokens": 12.0},
        Count(12, 70, 20, 300, 20),
    )
    yield _one("few fields", "what is not there is 0", {"output_tokens": 5}, Count(0, 5))


def advisor() -> Case:
    """An advisor's own sampling: billed on top, at its own model."""
    log = ClaudeLog(ONE)
    log.prompt()
    iterations = [
        {"type": "message"} | usage(10, 100, read=50),
        {"type": "advisor_message", "model": SONNET} | usage(2000, 300, write=70, w1h=30),
    ]
    used = usage(10, 100, read=50) | {"iterations": iterations}
    for n, stop in enumerate((None, "end_turn")):
        chunk = used if n else usage(10, 1, read=50)
        log.reply(message_id(1), chunk, request=request_id(1), stop=stop)
    spent = [
        Spent(ONE, OPUS, DAY, Count(10, 100, 0, 50)),
        Spent(ONE, SONNET, DAY, Count(2000, 300, 70, 0, 40, 30), kind="advisor"),
    ]
    return Case("advisor iterations", "they are added, at their own model", claude(log), Truth(spent))


def compaction_iteration() -> Case:
    """The client does not count it, the API's documentation says that it is billed: shown apart."""
    iterations = [{"type": "compaction"} | usage(50000, 900), {"type": "message"} | usage(10, 100)]
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(10, 100) | {"iterations": iterations}, request=request_id(1))
    apart = [HiddenSpent(ONE, OPUS, Count(50000, 900))]
    truth = Truth([Spent(ONE, OPUS, DAY, Count(10, 100))], hidden=apart)
    return Case("compaction iteration", "not in the totals, and not lost", claude(log), truth)


def web_searches() -> Case:
    used = usage(11, 70) | {"server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 1}}
    return _one("web searches", "searches are counted: each has a fee", used, Count(11, 70, searches=3))


def thinking() -> Case:
    used = usage(11, 700) | {"output_tokens_details": {"thinking_tokens": 650}}
    return _one("thinking", "thinking is a part of the output", used, Count(11, 700, reasoning=650))


def stated_cost() -> Case:
    """1.0.x wrote what a request cost."""
    log = ClaudeLog(ONE)
    log.prompt()
    log.reply(message_id(1), usage(11, 70), request=request_id(1), costUSD=0.0123, durationMs=900)
    log.prompt()
    log.reply(message_id(2), usage(12, 71), request=request_id(2))
    spent = [Spent(ONE, OPUS, DAY, Count(11, 70)), Spent(ONE, OPUS, DAY, Count(12, 71))]
    proves = "what a record says that it cost is kept apart from what it costs"
    return Case("old costUSD", proves, claude(log), Truth(spent, stated_micro_usd=12300))


def days_by_zone() -> Case:
    """Around midnights: UTC, east with half an hour, west over the change of the clocks."""
    log = ClaudeLog(ONE)
    log.prompt(timestamp="2026-03-07T18:00:00.000Z")
    times = ["2026-03-07T18:29:59.999Z", "2026-03-07T18:30:00.000Z", "2026-03-08T04:59:59.000Z"]
    times += ["2026-03-08T05:00:00.000Z", "2026-03-09T03:59:59.000Z", "2026-03-09T04:00:00.000Z"]
    for n, at in enumerate(times):
        log.reply(message_id(n), usage(1, 10**n), request=request_id(n), timestamp=at)
    spent = [Spent(ONE, OPUS, at[:10], Count(1, 10**n)) for n, at in enumerate(times)]
    days = {
        "UTC": {"2026-03-07": 11, "2026-03-08": 1100, "2026-03-09": 110000},
        "Asia/Kolkata": {"2026-03-07": 1, "2026-03-08": 1110, "2026-03-09": 110000},
        "America/New_York": {"2026-03-07": 111, "2026-03-08": 11000, "2026-03-09": 100000},
    }
    proves = "a day is a day of the chosen zone, also when it has 23 hours"
    return Case("midnight in three zones", proves, claude(log), Truth(spent, days=days))
