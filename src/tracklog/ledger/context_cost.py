"""Cost of re-sending context: each result, prompt, attachment and injected text, over all requests that read it.

Rules
  1. Each thread has a prompt of its own. What a subagent brought home is a result in the thread that called it.
  2. A thing is sent with every later request of its branch, until a compaction does not keep it.
  3. The costs of all things, of the model's own words, and of what no log holds add up to what the prompts cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, NamedTuple

from tracklog.agents.base import LogContents
from tracklog.agents.supported import support_for
from tracklog.ledger.context_window import Load, PricedUsage, PromptWindow
from tracklog.model.events import Place
from tracklog.model.ids import MAIN, CallId, NodeId, RequestId, ThreadId
from tracklog.model.session import Call, CallResult, Compaction, Note, Prompt, Request, Session, Thread
from tracklog.reading.session_files import SessionFiles
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import MAIN_KINDS, FileKind

Kind = Literal["result", "prompt", "attachment", "injected", "reply", "beginning", "unseen"]
THINGS: tuple[Kind, ...] = ("result", "prompt", "attachment", "injected")
KINDS: tuple[Kind, ...] = (*THINGS, "reply", "beginning", "unseen")
_MOST_BRANCHES = 100  # that know what came before them; in a log with more, the others begin with nothing
_PICTURE_BYTES = 6000  # as much text as a picture is in tokens (about 1,500)
_NOT_SENT = frozenset({"notice", "away_summary", "turn_summary", "schedule"})  # shown to the person alone


@dataclass(slots=True, eq=False)
class Thing(Load):
    """A context item: something that later requests sent again."""

    kind: Kind = "injected"
    name: str = ""  # of the tool, or what it is
    text: str = ""  # where it is not a call's: its words, or the name of the file
    thread: ThreadId = MAIN
    place: Place | None = None
    call: CallId | None = None
    nodes: tuple[NodeId, ...] = ()  # its records

    @property
    def cost_pico_usd(self) -> int:
        """Of all reads."""
        return self.first_pico_usd + self.again_pico_usd


class _Moment(NamedTuple):
    """Something that happened, with its order in the thread and its record."""

    order: tuple[int, int, int]
    node: NodeId | None
    what: Thing | Request | Compaction


def carried(session: Session, contents: LogContents, spent: Mapping[RequestId, PricedUsage]) -> list[Thing]:
    """Everything that the session's prompts consisted of, most expensive first; only the kinds in THINGS have a place."""
    things: list[Thing] = []
    for thread in session.threads:
        walk = _Walk(session, thread, contents, spent)
        walk.go()
        things += walk.things
    return sorted(things, key=lambda thing: (-thing.cost_pico_usd, -thing.read_tokens))


class _Walk:
    """Walk through a thread in the order of its log."""

    def __init__(
        self, session: Session, thread: Thread, contents: LogContents, spent: Mapping[RequestId, PricedUsage]
    ) -> None:
        self._session = session
        self._thread = thread
        self._contents = contents
        self._spent = spent
        self._calls = {call.id: call for call in thread.calls}
        self._rank = {path: n for n, path in enumerate(thread.paths)}
        is_main = thread is session.main
        self._owns_its_files = is_main or self._rank.keys().isdisjoint(session.main.paths)
        left = [branch for branch in session.branches if is_main and not branch.is_active]
        self._parents = {branch.id: branch.parent for branch in left}
        self._branch_of = {node: branch.id for branch in left for node in branch.nodes}
        self._branch: str | None = None  # of the last moment; None is the active one
        self._beginning = Thing(kind="beginning", thread=thread.id)
        self._unseen = Thing(kind="unseen", thread=thread.id)
        self._windows: dict[str | None, PromptWindow] = {None: PromptWindow(self._beginning, self._unseen)}
        self.things: list[Thing] = [self._beginning, self._unseen]

    def go(self) -> None:
        """Add every item to its prompt, and charge each request with what its prompt holds."""
        moments = [*self._things(), *self._requests()]
        if self._owns_its_files:
            moments += [*self._additions(), *self._compactions()]
        moments.sort(key=lambda one: one.order)
        for moment in moments:
            self._pass(moment, self._window(moment.node))
        for window in self._windows.values():
            window.settle()

    def _pass(self, moment: _Moment, window: PromptWindow) -> None:
        match moment.what:
            case Thing() as thing:
                self.things.append(thing)
                window.enter(thing)
            case Request() as request:
                reply = self._reply(request)
                self.things.append(reply)
                window.ask(self._spent.get(request.id), reply)
            case Compaction() as compaction:
                kept = set(compaction.kept)
                window.compact(lambda load: isinstance(load, Thing) and not kept.isdisjoint(load.nodes))

    def _window(self, node: NodeId | None) -> PromptWindow:
        """The prompt of the branch that holds a record; what has no record belongs to the last branch."""
        if node is not None:
            self._branch = self._branch_of.get(node)
        if self._branch not in self._windows:
            self._windows[self._branch] = self._branched(self._parents.get(self._branch or ""))
        return self._windows[self._branch]

    def _branched(self, parent: str | None) -> PromptWindow:
        if len(self._windows) > _MOST_BRANCHES:
            return PromptWindow(self._beginning, self._unseen)
        return self._windows.get(parent, self._windows[None]).branch()

    def _things(self) -> Iterator[_Moment]:
        for turn in self._thread.turns:
            for prompt in turn.prompts:
                yield self._came(_prompt_thing(prompt), prompt.place, prompt.node)
        for call in self._thread.calls:
            for result in call.results:
                yield self._came(_result_thing(call, result), result.place)

    def _additions(self) -> Iterator[_Moment]:
        printed = (note for note in self._session.notes if note.what == "printed")
        for note in (*self._session.injected, *printed):
            if (
                note.place.path in self._rank
                and note.what not in _NOT_SENT
                and self._is_on_the_tree(note.place)
            ):
                yield self._came(_note_thing(note), note.place)
        for one in self._contents.attached:
            if one.place.path in self._rank:
                thing = Thing(n_bytes=one.n_bytes, kind="attachment", name=one.what, text=one.name)
                yield self._came(thing, one.place)

    def _is_on_the_tree(self, place: Place) -> bool:
        """Whether a record belongs to the tree: old clients write subagents into the main log, outside of it."""
        return not self._contents.nodes or place in self._contents.nodes

    def _requests(self) -> Iterator[_Moment]:
        turns = {turn.n: turn for turn in self._thread.turns}
        for request in self._thread.requests:
            turn = turns.get(request.turn) if request.turn is not None else None
            opened = turn.prompts[0].node if turn is not None and turn.prompts else None
            if not request.is_synthetic:
                yield _Moment(self._order(request.places[0], 0), request.node or opened, request)

    def _compactions(self) -> Iterator[_Moment]:
        for compaction in self._session.compactions:
            if compaction.place.path in self._rank:
                node = self._contents.nodes.get(compaction.place)
                yield _Moment(self._order(compaction.place, 1), node, compaction)

    def _reply(self, request: Request) -> Thing:
        """The model's own text, with the inputs of its tool calls."""
        inputs = (self._calls[id].input for id in request.calls if id in self._calls)
        nodes = (self._contents.nodes.get(place) for place in request.places)
        return Thing(
            n_bytes=_n_bytes(request.text + request.thinking) + sum(len(bytes(one)) for one in inputs),
            kind="reply",
            thread=request.thread,
            place=request.places[0],
            nodes=tuple(node for node in nodes if node is not None),
        )

    def _came(self, thing: Thing, place: Place, node: NodeId | None = None) -> _Moment:
        node = self._contents.nodes.get(place) or node
        thing.thread, thing.place = self._thread.id, place
        thing.nodes = (node,) if node is not None else ()
        return _Moment(self._order(place, 2), node, thing)

    def _order(self, place: Place, kind: int) -> tuple[int, int, int]:
        return (self._rank.get(place.path, len(self._rank)), place.line, kind)


def _prompt_thing(prompt: Prompt) -> Thing:
    n_pictures = prompt.n_images + prompt.n_documents
    return Thing(
        n_bytes=_n_bytes(prompt.text, n_pictures), kind="prompt", name=prompt.origin, text=prompt.text
    )


def _result_thing(call: Call, result: CallResult) -> Thing:
    n_bytes = _n_bytes(result.text, result.n_images) + result.envelope_bytes
    return Thing(n_bytes=n_bytes, kind="result", name=call.name, call=call.id)


def _note_thing(note: Note) -> Thing:
    return Thing(n_bytes=_n_bytes(note.value), kind="injected", name=note.what, text=note.value)


def _n_bytes(text: str, n_pictures: int = 0) -> int:
    return len(text.encode("utf-8", "surrogatepass")) + n_pictures * _PICTURE_BYTES


_THREADS = MAIN_KINDS | {FileKind.SUBAGENT}


def contents_of(session: SessionFiles) -> LogContents:
    """The contents of all its logs; agents without a tree have none that the session does not hold."""
    contents = LogContents({}, [])
    known: set[str] = set()
    for file in session.files:
        if file.kind in _THREADS:
            with suppress(NotReadable):  # the reader of the session reports it
                support_for(file.agent).usage.add_contents(file, contents, known)
    return contents
