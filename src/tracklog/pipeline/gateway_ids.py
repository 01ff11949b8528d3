"""Ids that a gateway hands out may come again for another message: which lines of a log are one message.

Rules of this room
  1. In one file an id means one message, until a prompt or a result of one of its own calls stands between, and the
     prompt's figures are others than all before.
  2. In another file it is the same message only if a record's id, a request's id, or a time with the prompt's figures is
     shared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import pairwise

import msgspec

from tracklog.model.events import PromptGiven, ToolCalled, ToolReturned
from tracklog.model.moments import NO_TIME, moment_ms
from tracklog.pipeline.claude_figures import figures_of
from tracklog.pipeline.claude_held import Held, has_more
from tracklog.records.base import Piece
from tracklog.records.claude_code.spending import Answer
from tracklog.sources.files import NotReadable
from tracklog.sources.found import LogFile


def marks_of(sights: Iterable[Held]) -> set[str]:
    """By what a message is known again in another file."""
    return {
        f"{kind}:{value}"
        for held in sights
        for kind, value in (
            ("uuid", held.line.uuid),
            ("at", _time_and_prompt(held)),
            ("request", held.line.request_id if isinstance(held.line, Answer) else None),
        )
        if value
    }


def _time_and_prompt(held: Held) -> str | None:
    """Two agents can be answered in one millisecond; their prompts differ, those of a copy do not."""
    at = held.line.timestamp
    return f"{at} {'/'.join(map(str, _prompt_of(held)))}" if at else None


def split(loose: dict[str, list[Held]], file: LogFile) -> Iterator[tuple[str, list[Held], Held]]:
    """Each message of a file, with all its lines and with the one whose figures count."""
    doubtful = {id for id, sights in loose.items() if len({_prompt_of(one) for one in sights}) > 1}
    borders = _borders(file, doubtful) if doubtful else _Borders()
    for id, sights in loose.items():
        together, prompts = sights[:1], {_prompt_of(sights[0])}
        for one, other in pairwise(sights):
            prompt = _prompt_of(other)
            if prompt not in prompts and borders.stand_between(one.offset, other.offset, id):
                yield id, together, _in_one(together)
                together, prompts = [], set()
            together.append(other)
            prompts.add(prompt)
        yield id, together, _in_one(together)


def _prompt_of(held: Held) -> tuple[int, ...]:
    message = held.line.message
    input, write, _, _, read, _, _ = figures_of(message.usage if message is not None else None)
    return input, write, read


def _in_one(sights: list[Held]) -> Held:
    best = sights[0]
    for held in sights[1:]:
        if has_more(held.line, held.output, held.is_told, best):
            best = held
    first = min(sights, key=_first_rank)
    return msgspec.structs.replace(
        best,
        first=first.line,
        first_offset=first.offset,
        first_is_told=first.is_told,
        thread=first.thread,
        has_ended=any(held.has_ended for held in sights),
        tools={tool for held in sights for tool in held.tools or ()} or None,
    )


def _first_rank(held: Held) -> tuple[bool, bool, int, int]:
    at = moment_ms(held.line.timestamp)
    return held.is_told, at == NO_TIME, at, held.offset


class _Borders:
    """The places in a file behind which another request begins: prompts, and results of a message's own calls."""

    def __init__(self) -> None:
        self.prompts: list[int] = []
        self.results: dict[str, list[int]] = {}

    def stand_between(self, one: int, other: int, id: str) -> bool:
        return any(
            bisect_right(offsets, one) < bisect_right(offsets, other)
            for offsets in (self.prompts, self.results.get(id, []))
        )


def _borders(file: LogFile, ids: set[str]) -> _Borders:
    from tracklog.model.translate.claude_code import Translator
    from tracklog.pipeline.reading import pieces_of

    translator, borders = Translator(str(file.path)), _Borders()
    asked_by: dict[str, str] = {}
    for piece in _readable(pieces_of(file)):
        for event in translator.translate(piece):
            if isinstance(event, PromptGiven):
                borders.prompts.append(piece.offset)
            elif isinstance(event, ToolCalled) and event.request in ids:
                asked_by[event.call] = str(event.request)
            elif isinstance(event, ToolReturned) and event.call in asked_by:
                borders.results.setdefault(asked_by[str(event.call)], []).append(piece.offset)
    return borders


def _readable(pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The pieces up to where the log cannot be read: the scan has met the same refusal."""
    try:
        yield from pieces
    except NotReadable:
        return
