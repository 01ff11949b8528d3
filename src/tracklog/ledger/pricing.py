"""A ledger with its prices: which requests match a filter, and what their tokens cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

from tracklog.clock import NO_TIME
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices, Rates, cost_pico_usd
from tracklog.model.usage import STANDARD, Awaited, Hidden, Sight, Terms, Tokens

_FIRST_AT = Sight._fields.index("first_at")
_DAY_MS = 86_400_000  # prices change at midnight (UTC)
_QUARTER_MS = 900_000  # but some are lower at night


class RequestFilter(NamedTuple):
    """A filter for requests; None matches all."""

    since: datetime | None = None
    until: datetime | None = None
    model: str | None = None
    is_project: Callable[[str], bool] | None = None


class Books:
    """The ledger with its prices: what a request was, and what its tokens cost."""

    def __init__(
        self,
        ledger: Ledger,
        prices: Prices,
        wanted: RequestFilter,
        *,
        as_model: str | None = None,
        as_of: datetime | None = None,
    ) -> None:
        self.ledger = ledger
        self.prices = prices
        self.projects = folders(ledger)
        self._since = _ms(wanted.since)
        self._until = _ms(wanted.until)
        self._model = (wanted.model or "").lower()
        self._is_project = wanted.is_project
        self._as_model = as_model
        self._as_of = _ms(as_of)
        self.is_what_if = as_model is not None or as_of is not None
        self._rates: dict[tuple[str | None, str, int], Rates | None] = {}
        self._is_hourly: dict[tuple[str | None, str], bool] = {}
        self._most_output: dict[str | None, int] = {}
        self.asks = any(one is not None for one in wanted)
        self.asks_for_parts = any(one is not None for one in wanted[:3])  # of sessions
        self._in_project: dict[str, bool] = {}

    def is_wanted(self, sight: Sight) -> bool:
        """Whether a request matches."""
        return not self.asks or self.fits(
            sight.first_at, self.ledger.model_of(sight), self.ledger.session_of(sight)
        )

    def n_untimed(self) -> int:
        """Count the requests without a time, if the query has a period."""
        if self._since is None and self._until is None:
            return 0
        return sum(row[_FIRST_AT] == NO_TIME for row in self.ledger.raw_rows())

    def is_awaited_wanted(self, file: int, awaited: Awaited) -> bool:
        """Whether a request that left no line matches."""
        model = self.ledger.names[file][awaited.model]
        return self.fits(awaited.at, model, self.ledger.sources[file].session)

    def is_hidden_wanted(self, hidden: Hidden) -> bool:
        """Whether hidden spending matches; its time is that of its session's end."""
        at = NO_TIME if hidden.at is None else int(datetime.fromisoformat(hidden.at).timestamp() * 1000)
        return self.fits(at, hidden.model, hidden.session)

    def fits(self, at: int, model: str | None, session: str) -> bool:
        """Whether a request of this session, time and model matches."""
        if (self._since is not None and at < self._since) or (
            self._until is not None and not 0 <= at < self._until
        ):  # what says no time lies before all times
            return False
        if self._model and self._model not in (model or "").lower():
            return False
        return self.is_in_project(session)

    def is_in_project(self, session: str) -> bool:
        """Whether a session belongs to the project of the query; true without one."""
        if self._is_project is None:
            return True
        if session not in self._in_project:
            folder = self.projects.get(session)
            self._in_project[session] = folder is not None and self._is_project(folder)
        return self._in_project[session]

    def rates(self, model: str | None, terms: str, at: int) -> Rates | None:
        """Rates of a model, or of the model that the query puts in its place. Equal answers are the same object."""
        moment = at if self._as_of is None else self._as_of
        key = (model, terms, moment // (_QUARTER_MS if self.is_hourly(model, terms) else _DAY_MS))
        if key in self._rates:
            return self._rates[key]
        found = self.prices.rates(self._name(model), None if moment == NO_TIME else moment, terms_of(terms))
        self._rates[key] = found
        return found

    def is_hourly(self, model: str | None, terms: str) -> bool:
        """Whether the price of a model depends on the hour."""
        known = self._is_hourly.get((model, terms))
        if known is None:
            known = self.prices.is_hourly(self._name(model), terms_of(terms))
            self._is_hourly[model, terms] = known
        return known

    def borders(self, model: str | None, terms: str) -> list[int]:
        """The sizes of prompts at which the price of a model changes."""
        return self.prices.borders(self._name(model), terms_of(terms))

    def _name(self, model: str | None) -> str | None:
        return model if self._as_model is None else self._as_model

    def cost(self, model: str | None, tokens: Tokens, at: int, *, terms: str = "") -> int | None:
        """Cost of some tokens; None without a price."""
        rates = self.rates(model, terms, at)
        return None if rates is None else cost_pico_usd(tokens, rates)

    def most_output(self, model: str | None) -> int:
        """The longest answer that a model gives."""
        if model not in self._most_output:
            self._most_output[model] = self.prices.most_output(model)
        return self._most_output[model]


def terms_of(name: str) -> Terms:
    """The terms behind the name that a block gives them."""
    if not name:
        return STANDARD
    tier, speed, geo = name.split("\t")
    return Terms(tier or None, speed or None, geo or None)


def folders(ledger: Ledger) -> dict[str, str]:
    """The folder of each session: where its main thread began, else where it or a subagent first answered."""
    by_rank = sorted(ledger.cwds, key=lambda file: (not ledger.sources[file].is_main, file))
    found = first_folders((ledger.sources[file].session, ledger.cwds[file]) for file in by_rank)
    return found | ledger.folders


def first_folders(named: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Of sessions with folders, the first folder of each."""
    found: dict[str, str] = {}
    for session, folder in named:
        found.setdefault(session, folder)
    return found


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
