"""What a run has come to, by all that was heard of it and by its log: its cost by now, and its result in the end.

It is heavy: it comes with the readers of all records and the ledger. It is loaded while the client gets up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tracklog.errors import UserError
from tracklog.model.prices import Prices
from tracklog.pipeline.reading import readers_of
from tracklog.run.claude_code import ClaudeSense
from tracklog.run.codex import CodexSense
from tracklog.run.collecting import NOTHING, Collected, collect
from tracklog.run.preparing import Prepared
from tracklog.run.results import Ending, Result, result_of
from tracklog.run.spent import NOTHING as NOTHING_SPENT
from tracklog.run.spent import Spent, spent_since, with_told
from tracklog.run.stops import Stop
from tracklog.run.unlogged import Told

_SOON_S = 0.2  # for the log of a client that did not come to say its result


@dataclass
class HeardOut:
    """All that was heard of a client by the time it is over."""

    sense: ClaudeSense | CodexSense
    exit_code: int | None = None  # negative: the signal that ended it
    left_behind: int = 0
    stop: Stop | None = None
    we_ended_it: bool = False
    stop_texts: list[str] = field(default_factory=list)  # as the Stop hook was told
    has_stop: bool = False
    has_asked: bool = False
    last_words: str = ""


class Concluding:
    """Counts and concludes for one child."""

    def __init__(self, prepared: Prepared, prices: Callable[[], Prices]) -> None:
        self._prepared = prepared
        self._prices = prices
        readers_of(prepared.wish.agent)
        self._known_prices()

    def spent(self, sense: ClaudeSense | CodexSense) -> Spent | None:
        """What it has cost by now. What the stream told, and the log not yet, counts as far as it is known."""
        session = sense.session or self._prepared.session
        files = self._prepared.logs.files_of(session) if session is not None else None
        heard = dict(sense.requests) if isinstance(sense, ClaudeSense) else {}
        told = [Told(id, model, usage) for id, (model, usage) in heard.items()]
        if files is None:
            return with_told(NOTHING_SPENT, told, self._known_prices()) if told else None
        since = datetime.fromtimestamp(self._prepared.began_ms / 1000, UTC)
        return spent_since(files, self._prepared.kin, self._known_prices(), since=since, told=told)

    def rehearse(self, sense: ClaudeSense | CodexSense) -> None:
        """Reads what stands in the log by now, for nothing but to have done it once."""
        self._collected(sense, sense.session or self._prepared.session)

    def result(self, heard: HeardOut, *, problems: list[str]) -> Result:
        """All that is known, put together."""
        prepared, sense = self._prepared, heard.sense
        session = sense.session or prepared.session
        path = prepared.logs.path_of(session) if prepared.wish.persists and session is not None else None
        collected = self._collected(sense, session)
        spent = self.spent(sense) if prepared.wish.persists and session is not None else None
        return result_of(
            Ending(
                run=prepared.run,
                wish=prepared.wish,
                sense=sense,
                session=session,
                transcript_path=str(path) if path is not None else None,
                stop=heard.stop,
                exit_code=heard.exit_code,
                took_ms=max(time.time_ns() // 1_000_000 - prepared.began_ms, 0),
                stop_text=heard.stop_texts[-1] if heard.stop_texts else None,
                has_stop=heard.has_stop,
                collected=collected,
                spent=spent,
                last_words=heard.last_words,
                problems=(*prepared.problems, *problems, *_problems(prepared, heard, collected, spent)),
                left_behind=heard.left_behind,
                we_ended_it=heard.we_ended_it,
            )
        )

    def _collected(self, sense: ClaudeSense | CodexSense, session: str | None) -> Collected:
        prepared = self._prepared
        if session is None or not prepared.wish.persists:
            return NOTHING
        patience = {} if sense.is_finished else {"patience_s": _SOON_S}
        return collect(
            lambda: prepared.logs.files_of(session),
            since_ms=prepared.began_ms,
            cwd=prepared.wish.cwd,
            said=_said(sense),
            **patience,
        )

    def _known_prices(self) -> Prices:
        """The user's own prices may have been spoilt since the start: then the shipped ones, and that is said."""
        try:
            return self._prices()
        except UserError as error:
            if str(error) not in self._prepared.problems:
                self._prepared.problems.append(str(error))
            return Prices.load()


def _problems(prepared: Prepared, heard: HeardOut, collected: Collected, spent: Spent | None) -> list[str]:
    found = []
    if collected.denials and prepared.wish.ask_here_s is not None and not heard.has_asked:
        found.append("nobody was asked: this release of the client denies without asking")
    if spent is not None and spent.n_unlogged:
        found.append(f"the log is not whole: {spent.n_unlogged} of its requests stand on the stream alone")
    return found


def _said(sense: ClaudeSense | CodexSense) -> str | None:
    """What the log should hold in the end."""
    if isinstance(sense, CodexSense):
        return sense.text if sense.is_finished else None
    result = sense.result
    if result is None or result.get("is_error") or "structured_output" in result:
        return None
    text = result.get("result")
    return text if isinstance(text, str) and text else None
