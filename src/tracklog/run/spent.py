"""What one run has cost, from the log: of a session that went on only what came since, of a fork only what is its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from tracklog.model.books import Wanted
from tracklog.model.ledger import Ledger
from tracklog.model.ledger_values import Row
from tracklog.model.prices import Prices
from tracklog.model.report import report
from tracklog.pipeline.sessions import SessionFiles
from tracklog.pipeline.spending import spent_in
from tracklog.run.unlogged import Told, with_unlogged

_NOTHING = Row(key="")
_OF_A_GATEWAY = (
    b"#"  # ids that are not of the API's own make get a number in the ledger: they may be used again
)


class Spent(NamedTuple):
    """Tokens and money of one run, by model."""

    total: Row
    by_model: dict[str, Row]
    n_unlogged: int = 0  # requests that only the stream told of

    @property
    def cost_micro_usd(self) -> int:
        """The best known sum."""
        return _micro(self.total.cost_pico_usd)

    @property
    def bounds(self) -> dict[str, list[int]]:
        """Between what the truth lies."""
        row = self.total
        return {
            "output_tokens": [row.tokens.output, row.most_output],
            "cost_micro_usd": [_micro(row.cost_pico_usd), _micro(row.most_cost_pico_usd)],
        }


NOTHING = Spent(_NOTHING, {})


def spent_since(
    own: SessionFiles,
    kin: Sequence[SessionFiles],
    prices: Prices,
    *,
    since: datetime,
    told: Iterable[Told] = (),
) -> Spent:
    """What this session's own requests came to since a moment; of those that were `told`, also those without a line."""
    ledger = spent_in([own, *kin], with_owners=bool(kin))
    total = _row_of(own, ledger, prices, Wanted(since=since)) or _NOTHING
    wanted = {model: Wanted(since=since, model=model) for model in total.models}
    by_model = {model: _row_of(own, ledger, prices, one) for model, one in wanted.items()}
    spent = Spent(total, {model: row for model, row in by_model.items() if row is not None})
    logged = {key.partition(_OF_A_GATEWAY)[0] for key in ledger.keys()}  # noqa: SIM118 - a ledger is no dict
    return with_told(spent, [one for one in told if one.id.encode("utf-8", "replace") not in logged], prices)


def with_told(spent: Spent, told: Sequence[Told], prices: Prices) -> Spent:
    """The same with requests that only the stream told of."""
    by_model = dict(spent.by_model)
    for one in told:
        model = one.model or "unknown"
        by_model[model] = with_unlogged(by_model.get(model, _NOTHING), [one], prices)
    return Spent(with_unlogged(spent.total, told, prices), by_model, len(told))


def _row_of(own: SessionFiles, ledger: Ledger, prices: Prices, wanted: Wanted) -> Row | None:
    rows = report(ledger, prices, "session", zone=UTC, wanted=wanted).rows
    return next((row for row in rows if row.key == own.id), None)


def claude_usage(row: Row) -> dict[str, Any]:
    """Tokens in the words of Claude Code's result."""
    tokens = row.tokens
    return {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
        "server_tool_use": {"web_search_requests": tokens.web_searches},
    }


def codex_usage(row: Row) -> dict[str, int]:
    """Tokens in the words of Codex's `turn.completed`: there cached input is a part of the input."""
    tokens = row.tokens
    return {
        "input_tokens": tokens.prompt,
        "cached_input_tokens": tokens.cache_read,
        "output_tokens": tokens.output,
        "reasoning_output_tokens": tokens.reasoning,
    }


def model_usage(spent: Spent) -> dict[str, dict[str, Any]]:
    """By model, in the words of Claude Code's `modelUsage`."""
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
