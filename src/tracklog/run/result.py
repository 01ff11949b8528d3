"""Build the result of a run: the client's own object unchanged, with our fields added, and the source of each field.

Rules
  1. The client's fields stay as they are. Ours are added, and replace none of them.
  2. A missing field comes from the next source: the stream, the Stop hook, the log, the clock. `sources` says which.
     An empty text counts as missing: interrupted in a Stop hook, Claude Code 2.1.325 gives "" for an answer that it logged.
  3. Only `completed` is a success.
  4. This module is heavy, as it loads the readers of all records and the ledger: it is loaded while the client starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from tracklog.agents.base import ClientStream
from tracklog.agents.registry import readers_of, translators_of
from tracklog.agents.supported import support_for
from tracklog.errors import UserError
from tracklog.ledger.prices.rates import Prices
from tracklog.model.run_request import RunRequest
from tracklog.model.usage import UsageRow
from tracklog.run.limits import StopReason
from tracklog.run.log_facts import (
    NOTHING_COLLECTED,
    Collected,
    RunUsage,
    StreamRequest,
    collect,
    model_usage,
    spent_since,
    with_stream_requests,
)
from tracklog.run.log_facts import NOTHING_SPENT as NOTHING_SPENT
from tracklog.run.prepare import Prepared

EndedBy = Literal["completed", "error", "timeout", "budget", "cancelled", "killed", "crashed"]
SUCCESS, AGENT_ERROR, LIMIT, INTERRUPTED = 0, 1, 124, 130
_CODES: dict[str, int] = {"completed": SUCCESS, "timeout": LIMIT, "budget": LIMIT, "cancelled": INTERRUPTED}
_MOST_DOLLARS = 1e9
_OVERLOADED_STATUS = (429, 502, 503, 504, 529)
_OVERLOADED_WORDS = (
    "overloaded",
    "rate limit",
    "rate_limit",
    "429",
    "503",
    "529",
    "at capacity",
    "too many requests",
)


@dataclass(frozen=True)
class Result:
    """The result of a run: how it ended, and all that is known of it."""

    document: dict[str, Any]

    @property
    def ended_by(self) -> EndedBy:
        """How the run ended."""
        ended_by: EndedBy = self.document["ended_by"]
        return ended_by

    @property
    def is_success(self) -> bool:
        """Whether the agent completed the work."""
        return self.ended_by == "completed"

    @property
    def text(self) -> str | None:
        """The final text."""
        text = self.document.get("result")
        return text if isinstance(text, str) else None

    @property
    def session(self) -> str | None:
        """The session that was written."""
        session = self.document.get("session_id")
        return session if isinstance(session, str) else None

    @property
    def cost_micro_usd(self) -> int | None:
        """The cost; None if it is unknown."""
        cost = self.document.get("cost_micro_usd")
        return cost if isinstance(cost, int) else None

    @property
    def why(self) -> str:
        """Why it is no success, in one line."""
        return str(self.document.get("error") or self.ended_by)

    @property
    def code(self) -> int:
        """The exit code for how it ended."""
        return _CODES.get(self.ended_by, AGENT_ERROR)

    @property
    def is_overloaded(self) -> bool:
        """Whether the API was overloaded: a retry later may succeed."""
        if self.ended_by != "error":
            return False
        if (status := self.document.get("api_error_status")) is not None:
            return status in _OVERLOADED_STATUS
        return any(word in self.why.lower() for word in _OVERLOADED_WORDS)


class Ending(NamedTuple):
    """All that is known of a run when it is over."""

    run: str
    request: RunRequest
    stream: ClientStream
    session: str | None
    transcript_path: str | None
    stop: StopReason | None
    exit_code: int | None  # negative: the signal that ended it
    took_ms: int
    stop_text: str | None  # from the payload of the Stop hook
    has_stop: bool
    collected: Collected
    spent: RunUsage | None
    last_words: str  # on stderr, or lines of stdout that are no JSON
    problems: tuple[str, ...] = ()
    left_behind: int = 0
    we_ended_it: bool = False
    is_recovered: bool = False  # the client's end was not seen, but its log has it


def ended_by(ending: Ending) -> EndedBy:
    """How the run ended; work that was finished before a stop counts as completed."""
    if ending.stop is not None:
        return ending.stop.by
    if ending.stream.is_finished:
        has_failed = ending.exit_code is not None and ending.exit_code > 0 and not ending.we_ended_it
        return "error" if ending.stream.error is not None or has_failed else "completed"
    if ending.is_recovered or (ending.exit_code == 0 and _end_elsewhere(ending)):
        return "completed"
    if ending.exit_code is not None and ending.exit_code < 0:
        return "killed"
    return "error" if ending.exit_code else "crashed"


def _end_elsewhere(ending: Ending) -> str | None:
    """The other source that shows that the work was done: the Stop hook, or the log."""
    if ending.has_stop and ending.stop_text is not None:
        return "stop_payload"
    return "log" if ending.is_recovered or ending.collected.is_finished else None


def result_of(ending: Ending) -> Result:
    """The result, from all sources."""
    said, sources = _said(ending)
    text, sources["result"] = _text(ending, said)
    said["result"] = text
    why = ended_by(ending)
    ours = {
        "agent": ending.request.agent,
        "run": ending.run,
        "transcript_path": ending.transcript_path,
        "exit_code": ending.exit_code,
        "ended_by": why,
        "error": _error(ending, why),
        "calls": ending.collected.calls,
        "denials": list(ending.collected.denials),
        "files_changed": list(ending.collected.files_changed),
        "entrypoint": ending.collected.entrypoint,
        **_money(ending, said, sources),
        "sources": sources,
        "left_behind": ending.left_behind,
        "problems": list(ending.problems),
    }
    return Result({**said, **ours})


def _said(ending: Ending) -> tuple[dict[str, Any], dict[str, str | None]]:
    """The client's own object; ours in the same shape if it gave none."""
    stream = ending.stream
    if stream.result is not None:
        return dict(stream.result), {"end": "stream", "usage": "stream"}
    is_error = ended_by(ending) != "completed"
    usage, usage_from = _usage(ending)
    document: dict[str, Any] = {
        "type": "result",
        "subtype": "error_during_execution" if is_error else "success",
        "is_error": is_error,
        "duration_ms": ending.took_ms,
        "duration_api_ms": None,
        "num_turns": ending.collected.n_requests,
        "result": None,
        "session_id": ending.session,
        "total_cost_usd": ending.spent.total.cost_pico_usd / 1e12 if ending.spent is not None else None,
        "usage": usage,
        "modelUsage": model_usage(ending.spent) if ending.spent is not None else {},
    }
    if ending.request.json_schema is not None and not is_error:
        document["structured_output"] = _parsed(stream.text or ending.collected.text)
    end = "stream" if stream.is_finished else "exit" if is_error else _end_elsewhere(ending)
    return document, {"end": end, "usage": usage_from}


def _usage(ending: Ending) -> tuple[dict[str, Any] | None, str | None]:
    if ending.stream.usage is not None:
        return dict(ending.stream.usage), "stream"
    if ending.spent is None:
        return None, None
    return support_for(ending.request.agent).client.usage_document(ending.spent.total), "log"


def _text(ending: Ending, said: dict[str, Any]) -> tuple[str | None, str | None]:
    """The final text and its source: first the client's result, then the Stop hook, the log, the stream's last text."""
    result = said["result"] if isinstance(said.get("result"), str) else None
    # An earlier text is not the answer of a run that completed with an empty one.
    is_empty_answer = result is not None and ended_by(ending) == "completed"
    for text, source in (
        (result, "stream"),
        (ending.stream.answer, "stream"),
        (ending.stop_text, "stop_payload"),
        (ending.collected.text, "log"),
        (None if is_empty_answer else ending.stream.text, "stream"),
    ):
        if text and text.strip():
            return text, source
    return result, None if result is None else "stream"


def _error(ending: Ending, why: EndedBy) -> str | None:
    if why == "completed":
        return None
    if ending.stop is not None:
        return ending.stop.words
    if why == "killed":
        return f"the client was ended by signal {-(ending.exit_code or 0)}"
    if ending.stream.is_finished and ending.stream.error is None:
        return f"the client ended with {ending.exit_code} after its result"
    return ending.stream.error or ending.last_words or "the client ended without a word"


def _money(ending: Ending, said: dict[str, Any], sources: dict[str, str | None]) -> dict[str, Any]:
    """The cost of this run by our ledger; if the log is missing or cut off, the client's own sum, if it is of this run alone."""
    spent, stated = ending.spent, _sum(said.get("total_cost_usd"))
    is_of_this_run = sources["end"] == "stream" and ending.request.resume is None
    is_log_whole = spent is not None and not spent.n_stream_only
    row = spent.total if spent is not None else UsageRow(key="")
    unsure = {"unpriced_requests": row.unpriced_requests, "partial_requests": row.partial_requests}
    if not is_log_whole and is_of_this_run and stated is not None and ending.stream.result is not None:
        sources["cost"] = "stream"
        cost = round(stated * 1e6)
        bounds = {**spent.bounds, "cost_micro_usd": [cost, cost]} if spent is not None else None
        return {"cost_micro_usd": cost, "bounds": bounds, **unsure}
    sources["cost"] = "log" if spent is not None else None
    cost_by_log = spent.cost_micro_usd if spent is not None else None
    return {"cost_micro_usd": cost_by_log, "bounds": spent.bounds if spent is not None else None, **unsure}


def _sum(value: object) -> float | None:
    """A number of dollars, if the value is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < _MOST_DOLLARS else None


def _parsed(text: str | None) -> Any:
    try:
        return msgspec.json.decode(text or "")
    except (msgspec.DecodeError, RecursionError):
        return None


_SOON_S = 0.2  # for the log of a client that printed no result


@dataclass
class ClientOutcome:
    """The output of a client, and how it ended."""

    stream: ClientStream
    exit_code: int | None = None  # negative: the signal that ended it
    left_behind: int = 0
    stop: StopReason | None = None
    we_ended_it: bool = False
    stop_texts: list[str] = field(default_factory=list)  # from the payload of the Stop hook
    has_stop: bool = False
    has_asked: bool = False
    last_words: str = ""


class ResultBuilder:
    """Counts the cost of one child so far, and builds its result."""

    def __init__(self, prepared: Prepared, prices: Callable[[], Prices]) -> None:
        self._prepared = prepared
        self._prices = prices
        agent = prepared.request.agent  # an upgrade may replace our files before the end: all is loaded now
        readers_of(agent)
        translators_of(agent)
        support_for(agent).load()
        self._known_prices()

    def spent(self, stream: ClientStream) -> RunUsage | None:
        """The usage so far, with requests that the stream reports and the log does not have yet."""
        session = stream.session or self._prepared.session
        files = self._prepared.logs.files_of(session) if session is not None else None
        printed = dict(stream.requests)  # a copy: another thread adds to it
        requests = [StreamRequest(id, model, usage) for id, (model, usage) in printed.items()]
        if files is None:
            return with_stream_requests(NOTHING_SPENT, requests, self._known_prices()) if requests else None
        since = datetime.fromtimestamp(self._prepared.began_ms / 1000, UTC)
        return spent_since(
            files, self._prepared.related, self._known_prices(), since=since, streamed=requests
        )

    def warm_up(self, stream: ClientStream) -> None:
        """Read the log once: the first time is slow, and the client is still ending."""
        self._collected(stream, stream.session or self._prepared.session)

    def result(self, outcome: ClientOutcome, *, problems: list[str]) -> Result:
        """The result, from all sources."""
        prepared, stream = self._prepared, outcome.stream
        session = stream.session or prepared.session
        path = prepared.logs.path_of(session) if prepared.request.persists and session is not None else None
        collected = self._collected(stream, session)
        spent = self.spent(stream) if prepared.request.persists and session is not None else None
        return result_of(
            Ending(
                run=prepared.run,
                request=prepared.request,
                stream=stream,
                session=session,
                transcript_path=str(path) if path is not None else None,
                stop=outcome.stop,
                exit_code=outcome.exit_code,
                took_ms=max(time.time_ns() // 1_000_000 - prepared.began_ms, 0),
                stop_text=outcome.stop_texts[-1] if outcome.stop_texts else None,
                has_stop=outcome.has_stop,
                collected=collected,
                spent=spent,
                last_words=outcome.last_words,
                problems=(*prepared.problems, *problems, *_problems(prepared, outcome, collected, spent)),
                left_behind=outcome.left_behind,
                we_ended_it=outcome.we_ended_it,
            )
        )

    def _collected(self, stream: ClientStream, session: str | None) -> Collected:
        prepared = self._prepared
        if session is None or not prepared.request.persists:
            return NOTHING_COLLECTED
        patience = {} if stream.is_finished else {"patience_s": _SOON_S}
        return collect(
            lambda: prepared.logs.files_of(session),
            since_ms=prepared.began_ms,
            cwd=Path(prepared.request.cwd),
            said=stream.answer,
            **patience,
        )

    def _known_prices(self) -> Prices:
        """The prices; if the user's own cannot be read any more, the shipped ones, with a problem."""
        try:
            return self._prices()
        except UserError as error:
            if str(error) not in self._prepared.problems:
                self._prepared.problems.append(str(error))
            return Prices.load()


def _problems(
    prepared: Prepared, outcome: ClientOutcome, collected: Collected, spent: RunUsage | None
) -> list[str]:
    found = []
    if collected.denials and prepared.request.ask_here_s is not None and not outcome.has_asked:
        found.append("nobody was asked: this release of the client denies without asking")
    if spent is not None and spent.n_stream_only:
        found.append(f"the log is not whole: {spent.n_stream_only} of its requests stand on the stream alone")
    return found
