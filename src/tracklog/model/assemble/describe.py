"""Describe a session: its title, where and how it ran, and notes along the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from tracklog.model.events import (
    CommandPrinted,
    CommandRun,
    ContextCompacted,
    LinkMade,
    LogEvent,
    MessagesRetracted,
    ModeChanged,
    PromptGiven,
    QueueChanged,
    RequestFailed,
    SessionDescribed,
    SessionTitled,
    StrangeSeen,
    TextInjected,
    TurnEnded,
    TurnInterrupted,
)
from tracklog.model.fold.log import FileFold
from tracklog.model.ids import MAIN, NodeId
from tracklog.model.session import ClientCommand, Compaction, Failure, Interruption, Note, Problem, Session
from tracklog.model.states import Life

_LONGEST_TITLE = 200
_PRECEDENCE = ("custom", "name", "ai", "summary")
E_ = TypeVar("E_", bound=LogEvent)


def describe(session: Session, folds: list[FileFold], *, life: Life, is_fresh: bool) -> None:
    """Fills in what the logs say about the session as a whole."""
    _name(session, folds)
    _place(session, folds)
    _note(session, folds)
    times = [at for fold in folds for at in (fold.first_at, fold.last_at) if at is not None]
    own = [turn.at for turn in session.turns if turn.at is not None and not turn.is_inherited]
    session.started_at = min(own if session.inherited and own else times, default=None)
    session.last_at = max(times, default=None)
    may_run = life.is_alive or (life.is_alive is None and is_fresh)
    session.state = life.state or ("unknown" if may_run else "ended")
    session.life = life


def _all(folds: Iterable[FileFold], kind: type[E_]) -> Iterator[E_]:
    for fold in folds:
        for event in fold.facts.get(kind, []):
            assert isinstance(event, kind)
            yield event


def _name(session: Session, folds: list[FileFold]) -> None:
    for event in _all(folds, SessionTitled):
        if event.source == "summary" and event.leaf is not None and not _holds(folds, event.leaf):
            if (
                event.title.strip()
            ):  # of another session, as far as one can tell: only where nothing else names this one
                session.titles["summary_elsewhere"] = event.title.strip()
            continue
        if event.title.strip():
            session.titles[event.source] = event.title.strip()
        else:
            session.titles.pop(event.source, None)
    prompts = [prompt for turn in session.turns for prompt in turn.prompts if prompt.text.strip()]
    typed = [prompt for prompt in prompts if prompt.origin not in ("slash", "shell")]
    if prompts:
        session.titles["first_prompt"] = (typed or prompts)[0].text.strip()[:_LONGEST_TITLE]
    session.title = next(
        (
            session.titles[source]
            for source in (*_PRECEDENCE, "first_prompt", "summary_elsewhere")
            if source in session.titles
        ),
        None,
    )


def _holds(folds: Iterable[FileFold], node: str) -> bool:
    return any(node in fold.graph.nodes for fold in folds)


def _place(session: Session, folds: list[FileFold]) -> None:
    mains = [fold for fold in folds if fold.path in session.main.paths] or folds
    said = sorted(_all(mains, SessionDescribed), key=lambda event: (event.at or "", event.place))
    session.cwds = _distinct(event.cwd for event in said)
    session.cwd = session.cwds[0] if session.cwds else None
    session.branch = next((event.branch for event in reversed(said) if event.branch), None)
    session.entrypoint = next((event.entrypoint for event in said if event.entrypoint), None)
    session.versions = _distinct(event.version for event in _all(folds, SessionDescribed))
    models = (request.model for request in session.requests if not request.is_synthetic)
    session.models = _distinct(models)
    modes = [(event.place, event.value) for event in _all(mains, ModeChanged) if event.what == "permission"]
    modes += [(prompt.place, prompt.permission_mode) for prompt in _prompts(mains) if prompt.permission_mode]
    session.permission_modes = _distinct(value for _, value in sorted(modes))


def _prompts(folds: Iterable[FileFold]) -> Iterator[PromptGiven]:
    threads = (fold.threads[MAIN] for fold in folds if MAIN in fold.threads)
    yield from (turn.prompt for thread in threads for turn in thread.turns if turn.prompt is not None)


def _distinct(values: Iterable[str | None]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))


def _note(session: Session, folds: list[FileFold]) -> None:
    summaries = {text.parent: text.text for text in _all(folds, TextInjected) if text.why == "summary"}
    session.compactions = [_compaction(event, summaries) for event in _all(folds, ContextCompacted)]
    session.retracted = [node for event in _all(folds, MessagesRetracted) for node in event.nodes]
    session.failures = [
        Failure(
            place=event.place,
            at=event.at,
            text=event.text,
            status=event.status,
            attempt=event.attempt,
            of_attempts=event.of_attempts,
            is_final=event.is_final,
        )
        for event in _all(folds, RequestFailed)
    ]
    session.interruptions = [
        Interruption(
            at=event.at, place=event.place, thread=event.thread or fold.thread, in_tool=event.in_tool
        )
        for fold in folds
        for event in _all([fold], TurnInterrupted)
    ]
    session.commands = [command for fold in folds for command in _commands(fold)]
    session.injected = [
        Note(what=event.why, value=event.text, at=event.at, place=event.place)
        for event in _all(folds, TextInjected)
    ]
    session.notes = sorted(_notes(folds), key=lambda note: note.place)
    session.problems = [
        Problem(place=event.place, what=f"{event.kind}: {event.problem}")
        for event in _all(folds, StrangeSeen)
    ]


def _commands(fold: FileFold) -> Iterator[ClientCommand]:
    """The commands in a log, each with what it printed before the next one."""
    said: list[CommandRun | CommandPrinted] = [*_all([fold], CommandRun), *_all([fold], CommandPrinted)]
    run: ClientCommand | None = None
    for event in sorted(said, key=lambda event: event.place):
        if isinstance(event, CommandRun):
            if run is not None:
                yield run
            run = ClientCommand(
                kind=event.kind, name=event.name, arguments=event.arguments, at=event.at, place=event.place
            )
        elif run is not None:
            run.output = event.text if run.output is None else f"{run.output}\n{event.text}"
            run.is_error |= event.is_error
    if run is not None:
        yield run


def _compaction(event: ContextCompacted, summaries: Mapping[NodeId | None, str]) -> Compaction:
    return Compaction(
        place=event.place,
        at=event.at,
        trigger=event.trigger,
        tokens_before=event.tokens_before,
        tokens_after=event.tokens_after,
        took_ms=event.took_ms,
        kept=list(event.kept),
        summary=event.summary or summaries.get(event.node, ""),
    )


def _notes(folds: list[FileFold]) -> Iterator[Note]:
    for run in _all(folds, CommandRun):
        yield Note(what=run.kind, value=run.name, detail=run.arguments, at=run.at, place=run.place)
    for printed in _all(folds, CommandPrinted):
        yield Note(what="printed", value=printed.text, at=printed.at, place=printed.place)
    for queue in _all(folds, QueueChanged):
        yield Note(what="queue", value=queue.operation, detail=queue.text, at=queue.at, place=queue.place)
    for ended in _all(folds, TurnEnded):
        if ended.is_result and ended.text:
            yield Note(what="result", value=ended.text, at=ended.at, place=ended.place)
    for link in _all(folds, LinkMade):
        yield Note(what=link.what, value=link.target, at=link.at, place=link.place)
    for mode in _all(folds, ModeChanged):
        yield Note(what=mode.what, value=mode.value, at=mode.at, place=mode.place)
