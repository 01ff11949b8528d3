"""The lines of a conversation on a terminal or in a pipe.

Rules of this room
  1. A line is made when it is asked for: however long a session is, the first one comes at once.
  2. On a terminal words are wrapped and a call keeps to one line; in a pipe no line is broken.
  3. Every sign has its word: colour and marks only repeat what is said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tracklog.model.ids import CallId
from tracklog.model.session import Call, Prompt, Question, Request, Turn
from tracklog.pipeline.request_costs import Costs
from tracklog.pipeline.texts import without_escapes
from tracklog.views.cli.call_outputs import CallOutputs
from tracklog.views.cli.call_words import (
    MARKS,
    answers_words,
    reason_of,
    source_words,
    stated_words,
    verdict_words,
    what_it_did,
)
from tracklog.views.cli.conversation import Chosen, Moment, Opened
from tracklog.views.cli.conversation_head import foot_lines, head_lines
from tracklog.views.cli.costs import cost_words
from tracklog.views.cli.event_words import LONGEST_REASON, client_words, event_words
from tracklog.views.cli.lineage import Lineage
from tracklog.views.cli.paper import Paper
from tracklog.views.cli.printing import count, excerpt, short, short_id
from tracklog.views.cli.times import day_and_time, took
from tracklog.views.cli.wrapping import cut, wrapped

_LONGEST_ANSWER = 200
_QUESTIONS_SHOWN = 10


def lines_of(drawing: Drawing, *, lineage: Lineage) -> Iterator[str]:
    """The head of the session, the moments that are chosen, and what was left out."""
    chosen, paper = drawing.chosen, drawing.paper
    yield from head_lines(chosen, drawing.costs.sum, lineage, paper)
    for moment in chosen.moments():
        yield from drawing.moment(moment)
    yield from foot_lines(chosen, paper, with_thinking=drawing.with_thinking)


class Drawing:
    """Draws the moments of what was chosen, one after the other."""

    def __init__(
        self,
        chosen: Chosen,
        costs: Costs,
        paper: Paper,
        outputs: CallOutputs,
        *,
        with_thinking: bool,
        with_output: bool,
    ) -> None:
        self.chosen = chosen
        self.costs = costs
        self.paper = paper
        self.with_thinking = with_thinking
        self._outputs = outputs
        self._with_output = with_output
        self._cwd = chosen.session.cwd
        self._says = False  # whether the last line was words, so that calls keep a distance
        self._questions: dict[CallId, list[Question]] = defaultdict(list)
        for question in chosen.session.questions:
            self._questions[question.call].append(question)

    def moment(self, moment: Moment) -> Iterator[str]:
        """The lines of one moment."""
        match moment:
            case Opened():
                yield from self._prompt(moment)
            case Request():
                yield from self._request(moment)
            case Call():
                yield from self._call(moment)
            case _:
                yield from self._thin(event_words(moment))

    def _prompt(self, opened: Opened) -> Iterator[str]:
        yield ""
        if opened.turn is not None:
            cost = self.costs.sum_over(self.chosen.requests_of(opened.turn))
            yield self._rule(_turn_words(opened.turn, cost_words(cost)))
        yield from self._words(_prompt_words(opened.prompt), mark="❯", bold=True)
        self._says = True

    def _request(self, request: Request) -> Iterator[str]:
        if request.is_synthetic:
            yield from self._thin(client_words(request))
            return
        if self.with_thinking and request.thinking.strip():
            yield ""
            yield from self._words(request.thinking, mark="∴", dim=True)
        if request.text.strip():
            yield ""
            yield from self._words(request.text, mark="●")
            self._says = True
        if request.grouped_by == "adjacency" and len(request.places) > 1:
            yield from self._thin(f"{len(request.places)} lines without ids, taken for one answer (inferred)")
        if request.error:
            yield from self._thin(f"! API error: {short(request.error, LONGEST_REASON)}")

    def _call(self, call: Call) -> Iterator[str]:
        if self._says:
            yield ""
            self._says = False
        yield _call_line(call, self.paper, cwd=self._cwd)
        for line in (reason_of(call), stated_words(call), *_answers(self._questions.get(call.id, []))):
            if line:
                yield self.paper.painted(cut(f"      {line}", self.paper.width), dim=True)
        yield from self._output(call)

    def _output(self, call: Call) -> Iterator[str]:
        """What came back, where it is wanted; of output that was too long for the log at least where it is."""
        result = call.result
        if result is None or not (self._with_output or result.side_file or result.text_source != "result"):
            return
        full = self._outputs.of(call)
        if full is None:
            return
        source = source_words(full.source, result.side_file, is_whole=full.is_whole)
        if source:
            words = f"output: {count(len(full.text), 'letter')} {source}"
            yield self.paper.painted(cut(f"      {words}", self.paper.width), dim=True)
        if self._with_output:
            text = without_escapes(full.text)
            for line in wrapped(text, self.paper.room(6)) if text.strip() else ():
                yield f"      {self.paper.painted(line, dim=True)}".rstrip()

    def _thin(self, words: str) -> Iterator[str]:
        if not words:
            return
        if self._says:
            yield ""
            self._says = False
        fg = "yellow" if words.startswith("!") else None
        yield self.paper.painted(cut(f"  {words}", self.paper.width), fg=fg, dim=fg is None)

    def _words(self, text: str, *, mark: str, **style: object) -> Iterator[str]:
        lead = mark
        for line in wrapped(text, self.paper.room(2)):
            yield f"{lead} {self.paper.painted(line, **style)}".rstrip()
            lead = " "

    def _rule(self, words: str) -> str:
        width = self.paper.width
        rule = f"── {words} ──"
        return self.paper.painted(rule if width is None else cut(rule.ljust(width, "─"), width), dim=True)


def _prompt_words(prompt: Prompt) -> str:
    remarks = [
        "" if prompt.origin in ("typed", "sdk") else f"({prompt.origin})",
        f"[{count(prompt.n_images, 'image')}]" if prompt.n_images else "",
        f"[{count(prompt.n_documents, 'document')}]" if prompt.n_documents else "",
    ]
    return " ".join([prompt.text, *filter(None, remarks)])


def _call_line(call: Call, paper: Paper, *, cwd: str | None) -> str:
    mark, colour = MARKS[call.verdict]
    name = short(call.name, 40)
    verdict = "" if call.verdict == "ok" and call.sureness == "stated" else verdict_words(call)
    spawned = f"agent {short_id(call.spawned)}" if call.spawned else ""
    left = "" if call.on_active_branch else "left"
    parts = (took(call.took_ms), verdict, answers_words(call), spawned, left)
    tail = " · ".join(part for part in parts if part)
    room = paper.room(4 + len(name) + 2 + (len(tail) + 3 if tail else 0))
    what = cut(what_it_did(call, cwd=cwd), room)
    head = f"  {paper.painted(mark, fg=colour)} {paper.painted(name, bold=True)}"
    return "  ".join(filter(None, [head, what])) + (
        f" · {paper.painted(tail, dim=not verdict)}" if tail else ""
    )


def _answers(questions: list[Question]) -> Iterator[str]:
    """What the person said; the first question stands in the call's own line."""
    for n, question in enumerate(questions[:_QUESTIONS_SHOWN]):
        asked = excerpt(question.question, _LONGEST_ANSWER) if n else ""
        said = f"→ {excerpt(question.answer, _LONGEST_ANSWER)}" if question.answer is not None else ""
        yield " ".join(part for part in (asked, said) if part)


def _turn_words(turn: Turn, cost: str) -> str:
    parts = [
        f"turn {turn.n}",
        day_and_time(turn.at),
        took(turn.took_ms),
        cost,
        "interrupted" if turn.is_interrupted else "",
        "" if turn.on_active_branch else "left branch",
        "copied" if turn.is_inherited else "",
    ]
    return " · ".join(part for part in parts if part)
