"""Cost of each request of a session: the ledger's figures, assigned to the session's requests.

Rules
  1. A message's id names the same request here and there. Ids that gateways hand out, and Codex's figures, which name
     no request, are joined by their place: they belong to the last request of their log that had begun. Until 0.50
     Codex wrote a count before what it counts: there, to the next one.
  2. All sessions that share history with it are read, so that a copied request is its writer's.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from tracklog.ledger.context_window import PricedUsage
from tracklog.ledger.cost_sums import (
    CostSum,
    RequestCost,
    RequestSpending,
    request_costs,
    spending_of,
    sum_of,
    sums_by_session,
)
from tracklog.ledger.ledger import Ledger
from tracklog.ledger.prices.rates import Prices
from tracklog.ledger.scan import spent_in
from tracklog.model.ids import RequestId
from tracklog.model.session import Request, Session
from tracklog.reading.session_files import SessionFiles
from tracklog.sources.line_at import line_numbers
from tracklog.sources.log_file import LogFile

_Placed = tuple[int, RequestCost]  # an offset, and the cost of the request at it


class Costs:
    """Costs of a session's requests."""

    def __init__(self, session: Session, kin: Sequence[SessionFiles], prices: Prices) -> None:
        self._session = session.id
        ledger = spent_in(kin)
        self.sum = sums_by_session(ledger, prices).get(session.id, CostSum())  # of the session's own requests
        files = [file for one in kin for file in one.files]
        self._by_request = _joined(session, ledger, list(request_costs(ledger, prices)), files)

    def of(self, request: RequestId) -> list[RequestCost]:
        """Costs of a request, in one part or several; empty for one that belongs to another session."""
        return [cost for cost in self._by_request.get(request, []) if self._is_own(cost)]

    def spending(self, request: RequestId) -> RequestSpending:
        """What a request used and cost; nothing for one that belongs to another session."""
        return spending_of(self.of(request))

    def sum_over(self, requests: Iterable[Request]) -> CostSum:
        """The sum over some of its requests."""
        return sum_of(cost for request in requests for cost in self.of(request.id))

    def spent(self) -> dict[RequestId, PricedUsage]:
        """Usage of each request; those of another session cost nothing here."""
        found = {}
        for request, costs in self._by_request.items():
            known = [(cost, spent) for cost in costs if (spent := cost.spent) is not None]
            if known:
                cost, spent = max(known, key=lambda one: one[1].tokens.prompt)
                found[request] = spent if self._is_own(cost) else PricedUsage(spent.tokens, spent.is_final)
        return found

    def _is_own(self, cost: RequestCost) -> bool:
        return cost.entry.session == self._session


def _joined(
    session: Session, ledger: Ledger, costs: Sequence[RequestCost], files: Iterable[LogFile]
) -> dict[RequestId, list[RequestCost]]:
    known = {request.id for request in session.requests}
    found: dict[RequestId, list[RequestCost]] = defaultdict(list)
    loose: dict[str, list[_Placed]] = defaultdict(list)
    for sight, cost in zip(
        ledger.rows(), costs, strict=False
    ):  # behind them: those that were only waited for
        if RequestId(cost.entry.key) in known:
            found[RequestId(cost.entry.key)].append(cost)
        else:
            loose[ledger.sources[sight.file].path].append((sight.offset, cost))
    begun = _begun(session)
    for file in files:
        path = str(file.path)
        if path in begun and path in loose:
            for request, cost in _by_place(file, begun[path], loose[path]):
                found[request].append(cost)
    return found


def _begun(session: Session) -> dict[str, list[tuple[int, RequestId]]]:
    """At which line each request began, by log, in order."""
    begun: dict[str, list[tuple[int, RequestId]]] = defaultdict(list)
    for request in session.requests:
        if not request.is_synthetic:
            begun[request.places[0].path].append((request.places[0].line, request.id))
    for places in begun.values():
        places.sort()
    return begun


def _by_place(
    file: LogFile, begun: Sequence[tuple[int, RequestId]], costs: Iterable[_Placed]
) -> Iterator[tuple[RequestId, RequestCost]]:
    """Figures with the request of the same log that they belong to."""
    found = list(costs)
    numbers = line_numbers(file, (offset for offset, _ in found))
    placed = [(numbers[offset], cost) for offset, cost in found if offset in numbers]
    if not placed:
        return  # it is not readable: the reader of the session reports it
    lines = [line for line, _ in begun]
    comes_first = min(line for line, _ in placed) < lines[0]
    for line, cost in placed:
        at = bisect_right(lines, line) - (0 if comes_first else 1)
        yield begun[min(max(at, 0), len(begun) - 1)][1], cost
