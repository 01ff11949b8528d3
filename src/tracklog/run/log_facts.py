"""Facts of a finished run from its log: final text, calls by verdict, changed files.

Rules
  1. Only lines since the beginning of the run count: a resumed session has earlier ones.
  2. The last lines may be written shortly after the client's end: they are waited for, but not for long.
  3. The cost of a resumed session is that of the requests since then, the cost of a fork that of its own requests.
  4. Requests that the stream has and the log does not (a killed client writes nothing more) were paid for. Their lower
     bound is what the stream had reported, their upper bound the most that the model can produce.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tracklog.clock import NO_TIME, moment_ms
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices, cost_pico_usd
from tracklog.ledger.pricing import RequestFilter
from tracklog.ledger.report import report
from tracklog.ledger.scan import spent_in
from tracklog.ledger.sums import added
from tracklog.live.turn_end import answer_to_the_last_prompt, says
from tracklog.model.session import Call, Request, Session
from tracklog.model.usage import Tokens, UsageRow
from tracklog.reading.session_files import SessionFiles
from tracklog.reading.session_reader import read_session

PATIENCE_S = 2.0
_PAUSE_S = 0.05
_DENIED = ("denied", "blocked")
_RAN = ("ok", "backgrounded")
_FILE_TOOLS = {
    "Edit": "file_path",
    "Write": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)


class Collected(NamedTuple):
    """The facts that the log of one run holds."""

    text: str | None = None
    n_requests: int = 0  # of the main thread
    calls: dict[str, int] = {}  # noqa: RUF012 - never changed
    denials: tuple[dict[str, Any], ...] = ()
    files_changed: tuple[str, ...] = ()
    entrypoint: str | None = None
    is_finished: bool = False  # whether the last turn was answered to its end
    waited_ms: int = 0  # for the last lines


NOTHING_COLLECTED = Collected()


def collect(
    look: Callable[[], SessionFiles | None],
    *,
    since_ms: int,
    cwd: Path,
    said: str | None,
    patience_s: float = PATIENCE_S,
) -> Collected:
    """The facts in the log once it holds what the client `said` last, or when patience ends."""
    began = time.monotonic()
    while True:
        files = look()
        session = read_session(files, is_alive=False, now=datetime.now(UTC)) if files is not None else None
        waited_s = time.monotonic() - began
        if (session is not None and _is_whole(session, said)) or waited_s >= patience_s:
            break
        time.sleep(_PAUSE_S)
    if session is None:
        return NOTHING_COLLECTED._replace(waited_ms=int(waited_s * 1000))
    return _facts_in(session, since_ms, cwd)._replace(waited_ms=int(waited_s * 1000))


def _is_whole(session: Session, said: str | None) -> bool:
    last = answer_to_the_last_prompt(session)
    if said is None or last is None:
        return said is None
    return says(last, said)


def _facts_in(session: Session, since_ms: int, cwd: Path) -> Collected:
    last = answer_to_the_last_prompt(session)
    is_ours = last is not None and _is_since(last.at, since_ms)
    calls = [call for thread in session.main.walk() for call in thread.calls if _is_own(call, since_ms)]
    requests = [one for one in session.main.requests if not one.is_inherited and _is_since(one.at, since_ms)]
    return Collected(
        text=(last.final_text or None) if last is not None and is_ours else None,
        n_requests=sum(not one.is_synthetic for one in requests),
        calls=dict(sorted(Counter(call.verdict for call in calls).items())),
        denials=tuple(_denial(call) for call in calls if call.verdict in _DENIED),
        files_changed=tuple(sorted(set(_changed_by(calls, cwd)))),
        entrypoint=session.entrypoint,
        is_finished=is_ours and last is not None and _is_finished(session, last),
    )


def _is_finished(session: Session, last: Request) -> bool:
    turn = session.turns[-1] if session.turns else None
    is_closed = turn is not None and turn.is_closed and not turn.is_interrupted  # Codex closes both kinds
    return last.error is None and (last.stop_reason == "end_turn" or is_closed)


def _is_own(call: Call, since_ms: int) -> bool:
    return not call.is_inherited and _is_since(call.called_at, since_ms)


def _is_since(at: str | None, since_ms: int) -> bool:
    ms = moment_ms(at)
    return ms != NO_TIME and ms >= since_ms


def _denial(call: Call) -> dict[str, Any]:
    return {
        "tool_name": call.name,
        "tool_use_id": call.id,
        "tool_input": call.arguments,
        "verdict": call.verdict,
        "reason": call.feedback or call.error,
    }


def _changed_by(calls: Iterable[Call], cwd: Path) -> Iterable[str]:
    """The files that tools report as changed; files written by a shell command are not known."""
    for call in calls:
        given = call.arguments
        if call.verdict not in _RAN:
            continue
        named = given.get(_FILE_TOOLS.get(call.name, "")) if isinstance(given, dict) else None
        if isinstance(named, str):
            yield os.path.join(cwd, named)
        for text in _texts(given):
            if "*** Begin Patch" in text:
                yield from (os.path.join(cwd, name.strip()) for name in _PATCHED.findall(text))


def _texts(given: Any) -> list[str]:
    values = given.values() if isinstance(given, dict) else [given]
    return [value for value in values if isinstance(value, str)]


class StreamRequest(NamedTuple):
    """A request as the stream reports it."""

    id: str
    model: str | None
    usage: Mapping[str, Any]


def row_with_requests(row: UsageRow, streamed: Iterable[StreamRequest], prices: Prices) -> UsageRow:
    """The sums with these requests added, as partial ones."""
    for one in streamed:
        tokens = _tokens(one.usage)
        most = max(prices.most_output(one.model), tokens.output)
        rates = prices.rates(one.model)
        highest = msgspec.structs.replace(tokens, output=most)
        row = msgspec.structs.replace(
            row,
            requests=row.requests + 1,
            tokens=added(row.tokens, tokens),
            partial_requests=row.partial_requests + 1,
            unpriced_requests=row.unpriced_requests + (rates is None),
            cost_pico_usd=row.cost_pico_usd + (cost_pico_usd(tokens, rates) if rates else 0),
            most_output=row.most_output + most,
            most_cost_pico_usd=row.most_cost_pico_usd + (cost_pico_usd(highest, rates) if rates else 0),
            models=sorted({*row.models, *([one.model] if one.model else [])}),
        )
    return row


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    kept = usage.get("cache_creation")
    parts = kept if isinstance(kept, Mapping) else {}
    return Tokens(
        input=_count(usage, "input_tokens"),
        output=_count(usage, "output_tokens"),
        cache_write=_count(usage, "cache_creation_input_tokens"),
        cache_write_5m=_count(parts, "ephemeral_5m_input_tokens"),
        cache_write_1h=_count(parts, "ephemeral_1h_input_tokens"),
        cache_read=_count(usage, "cache_read_input_tokens"),
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if isinstance(value, int) and 0 <= value < 1 << 40 else 0


_NOTHING = UsageRow(key="")
_OF_A_GATEWAY = (
    b"#"  # ids that are not of the API's own make get a number in the ledger: they may be used again
)


class RunUsage(NamedTuple):
    """Tokens and money of one run, by model."""

    total: UsageRow
    by_model: dict[str, UsageRow]
    n_stream_only: int = 0  # requests that only the stream reports

    @property
    def cost_micro_usd(self) -> int:
        """The best known sum."""
        return _micro(self.total.cost_pico_usd)

    @property
    def bounds(self) -> dict[str, list[int]]:
        """Lower and upper bound of tokens and cost."""
        row = self.total
        return {
            "output_tokens": [row.tokens.output, row.most_output],
            "cost_micro_usd": [_micro(row.cost_pico_usd), _micro(row.most_cost_pico_usd)],
        }


NOTHING_SPENT = RunUsage(_NOTHING, {})


def spent_since(
    own: SessionFiles,
    related: Sequence[SessionFiles],
    prices: Prices,
    *,
    since: datetime,
    streamed: Iterable[StreamRequest] = (),
) -> RunUsage:
    """The usage of a session's own requests since a time, with the requests of the stream (`streamed`) that have no line."""
    ledger = spent_in([own, *related], with_owners=bool(related))
    total = _row_of(own, ledger, prices, RequestFilter(since=since)) or _NOTHING
    wanted = {model: RequestFilter(since=since, model=model) for model in total.models}
    by_model = {model: _row_of(own, ledger, prices, one) for model, one in wanted.items()}
    spent = RunUsage(total, {model: row for model, row in by_model.items() if row is not None})
    logged = {key.partition(_OF_A_GATEWAY)[0] for key in ledger.keys()}  # noqa: SIM118 - a ledger is no dict
    return with_stream_requests(
        spent, [one for one in streamed if one.id.encode("utf-8", "replace") not in logged], prices
    )


def with_stream_requests(spent: RunUsage, streamed: Sequence[StreamRequest], prices: Prices) -> RunUsage:
    """The same with requests that only the stream reports."""
    by_model = dict(spent.by_model)
    for one in streamed:
        model = one.model or "unknown"
        by_model[model] = row_with_requests(by_model.get(model, _NOTHING), [one], prices)
    return RunUsage(row_with_requests(spent.total, streamed, prices), by_model, len(streamed))


def _row_of(own: SessionFiles, ledger: Ledger, prices: Prices, wanted: RequestFilter) -> UsageRow | None:
    rows = report(ledger, prices, "session", zone=UTC, wanted=wanted).rows
    return next((row for row in rows if row.key == own.id), None)


def model_usage(spent: RunUsage) -> dict[str, dict[str, Any]]:
    """Usage by model, in the shape of Claude Code's `modelUsage`."""
    return {
        model: {
            "inputTokens": row.tokens.input,
            "outputTokens": row.tokens.output,
            "cacheReadInputTokens": row.tokens.cache_read,
            "cacheCreationInputTokens": row.tokens.cache_write,
            "webSearchRequests": row.tokens.web_searches,
            "costUSD": None if row.unpriced_requests else row.cost_pico_usd / 1e12,
        }
        for model, row in spent.by_model.items()
    }


def _micro(pico: int) -> int:
    return (pico + 500_000) // 1_000_000
