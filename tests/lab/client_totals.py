"""What the client itself says that it spent, brought to one measure: what each start of it spent.

Rules of this room
  1. A start's last result counts: results of one process are sums since its beginning.
  2. 2.1.325 and Codex go on counting where the resumed session ended, and a fork begins at its parent's sum. Older
     releases of Claude Code begin at nothing each time.
  3. 2.1.325's sums leave out what a killed process spent, because it carries over what the last one wrote at its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from tests.lab.api_truth import Spent, Sums, in_sum, less
from tests.lab.clients import Version
from tests.lab.process import ClientExit
from tests.lab.run import LabRun
from tests.lab.words import Json

COUNTS_ON_SINCE = Version("2.1.300")  # between 2.1.197, which does not, and 2.1.325, which does


def claude_sums(run: LabRun) -> Sums:
    """The tokens of all starts together; how long cache writes are kept is only known to 2.1.325."""
    return in_sum(part for total, known in _results(run) for part in less(_sums(total), _sums(known)).items())


def claude_cost_usd(run: LabRun) -> dict[str, Decimal]:
    """The money of all starts together, by model."""
    costs: dict[str, Decimal] = {}
    for total, known in _results(run):
        before = _costs(known)
        for model, cost in _costs(total).items():
            costs[model] = costs.get(model, Decimal(0)) + cost - before.get(model, Decimal(0))
    return {model: cost for model, cost in costs.items() if cost}


def claude_stated_usd(run: LabRun) -> Decimal:
    """The sum of `total_cost_usd`, which 1.0.60 prints and nothing by model."""
    pairs = [(_usd(total, "total_cost_usd"), _usd(known, "total_cost_usd")) for total, known in _results(run)]
    return sum((total - known for total, known in pairs), Decimal(0))


def all_spoke(run: LabRun) -> bool:
    """Whether each start of the client printed its sums: one that was killed does not."""
    return all(_last_result(left) for left in run.exits)


def codex_sums(run: LabRun) -> dict[str, Spent]:
    """The tokens of the turns of each thread that was started by hand."""
    totals: dict[str, Spent] = {}  # by thread, as it last stood
    sums: dict[str, Spent] = {}
    for left in run.exits:
        thread, usage = _turn(left)
        if usage is not None:
            before = totals.get(thread) or totals.get(_named_in(left, totals), Spent())
            totals[thread] = _codex_tokens(usage)
            sums[thread] = sums.get(thread, Spent()) + totals[thread] - before
    return sums


def all_turns_told(run: LabRun) -> bool:
    """Whether each turn of Codex came to its end: one that was killed is missing from all later sums."""
    turns = [left for left in run.exits if _turn(left)[0]]
    return bool(turns) and all(_turn(left)[1] for left in turns)


def _results(run: LabRun) -> Iterator[tuple[Json, Json]]:
    """The result of each start, and the one that it went on from."""
    counts_on = Version(run.version) >= COUNTS_ON_SINCE
    last: dict[str, Json] = {}  # by session
    for left in run.exits:
        result = _last_result(left)
        if result:
            known = last.get(result["session_id"]) or last.get(_named_in(left, last), {})
            yield result, known if counts_on else {}
            last[result["session_id"]] = result


def _last_result(left: ClientExit) -> Json:
    return next((d for d in reversed(left.documents) if d.get("type") == "result"), {})


def _named_in(left: ClientExit, sessions: dict[str, Json] | dict[str, Spent]) -> str:
    """The session that a start was told to go on from."""
    return next((word for word in left.argv if word in sessions), "")


def _sums(result: Json) -> Sums:
    return {model: _claude_tokens(usage) for model, usage in result.get("modelUsage", {}).items()}


def _claude_tokens(usage: Json) -> Spent:
    return Spent(
        input_tokens=usage["inputTokens"],
        output_tokens=usage["outputTokens"],
        cache_write_tokens=usage["cacheCreationInputTokens"],
        cache_write_5m_tokens=usage.get("cacheCreationEphemeral5mInputTokens", 0),
        cache_write_1h_tokens=usage.get("cacheCreationEphemeral1hInputTokens", 0),
        cache_read_tokens=usage["cacheReadInputTokens"],
        web_searches=usage["webSearchRequests"],
    )


def _costs(result: Json) -> dict[str, Decimal]:
    return {model: _usd(usage, "costUSD") for model, usage in result.get("modelUsage", {}).items()}


def _usd(told: Json, name: str) -> Decimal:
    return Decimal(str(told.get(name, 0)))


def _turn(left: ClientExit) -> tuple[str, Json | None]:
    threads = [d["thread_id"] for d in left.documents if d.get("type") == "thread.started"]
    usages = [d["usage"] for d in left.documents if d.get("type") == "turn.completed"]
    return (threads or [""])[-1], (usages or [None])[-1]


def _codex_tokens(usage: Json) -> Spent:
    read, written = usage["cached_input_tokens"], usage.get("cache_write_input_tokens", 0)
    return Spent(
        input_tokens=usage["input_tokens"] - read - written,
        output_tokens=usage["output_tokens"],
        reasoning_tokens=usage.get("reasoning_output_tokens", 0),
        cache_write_tokens=written,
        cache_read_tokens=read,
    )
