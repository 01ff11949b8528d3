"""One session, read from its logs and priced: its conversation, its threads, its branches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tracklog.app.prices import load_prices
from tracklog.app.scope.read_sessions import Lineage, SessionQuery, SessionReader, lineage_of
from tracklog.app.talk import QUIET, Talk
from tracklog.conversation.moments import Interrupted as Interrupted  # views draw these
from tracklog.conversation.moments import Moment as Moment
from tracklog.conversation.moments import NotedEvent as NotedEvent
from tracklog.conversation.moments import PromptTurn as PromptTurn
from tracklog.conversation.moments import RequestText as RequestText
from tracklog.conversation.moments import ThreadSelection as ThreadSelection
from tracklog.home import Home, tracklog_home
from tracklog.ledger.cost_sums import CostSum as CostSum
from tracklog.ledger.cost_sums import RequestSpending as RequestSpending
from tracklog.model.session import Session

if TYPE_CHECKING:
    from tracklog.ledger.request_costs import Costs as Costs
    from tracklog.reading.tool_outputs import CallOutputs


class Conversation(NamedTuple):
    """What was said in a thread of a session, with its costs."""

    chosen: ThreadSelection
    costs: Costs
    lineage: Lineage
    outputs: CallOutputs
    is_only_here: bool  # only the archive has the session

    @property
    def session(self) -> Session:
        """The session."""
        return self.chosen.session


class ThreadTree(NamedTuple):
    """The threads of a session, and the runs that it started, with their costs."""

    session: Session
    costs: Costs
    lineage: Lineage


def show(
    asked: SessionQuery, *, thread: str | None = None, branch: str | None = None, talk: Talk = QUIET
) -> Conversation:
    """The conversation of a session: on the living branch, one that was left, or all; or of a subagent."""
    from tracklog.reading.tool_outputs import CallOutputs  # the archive comes with it

    reader, session = _read(asked, talk)
    chosen = ThreadSelection(session, thread=thread, branch=branch)
    files = [file for one in reader.files_of(session)[:1] for file in one.files]
    return Conversation(
        chosen,
        costs_of(reader, session, asked.home),
        lineage_of(session, reader, asked.home),
        CallOutputs(files, Home(tracklog_home(asked.home)).archive),
        reader.is_only_here(session),
    )


def agents(asked: SessionQuery, *, talk: Talk = QUIET) -> ThreadTree:
    """The main thread of a session and all its subagents."""
    reader, session = _read(asked, talk)
    return ThreadTree(session, costs_of(reader, session, asked.home), lineage_of(session, reader, asked.home))


def graph(asked: SessionQuery, *, talk: Talk = QUIET) -> Session:
    """The session, with its branches and compactions."""
    return _read(asked, talk)[1]


def costs_of(reader: SessionReader, session: Session, home: Path | None) -> Costs:
    """Costs of the requests of a session that was read."""
    from tracklog.ledger.request_costs import Costs  # all readers come with it

    return Costs(session, reader.files_of(session), load_prices(home))


def _read(asked: SessionQuery, talk: Talk) -> tuple[SessionReader, Session]:
    reader = asked.reader(talk)
    return reader, reader.named(asked.session)
