"""From the facts of turns and requests to the values that are shown, and the branches of agents without a tree."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby

from tracklog.model.call_values import between_ms
from tracklog.model.events import PromptGiven
from tracklog.model.facts import RequestFacts, TurnFacts
from tracklog.model.ids import MAIN, NodeId, RequestId, ThreadId
from tracklog.model.session import Branch, Prompt, Request, Turn

Numbers = Mapping[int, int]  # of turns, by the identity of their facts
_COMMANDS = ("slash", "shell")


def numbered(
    turns: list[TurnFacts], index: Mapping[int, int], requests: Mapping[RequestId, RequestFacts]
) -> tuple[dict[int, TurnFacts], Numbers]:
    """The turns by number, and the number of each by identity.

    A command that no model saw is no turn, nor is what the client began by itself, such as a compaction: what it did
    belongs to the turn before.
    """
    found: dict[int, TurnFacts] = {}
    number_at: dict[int, int] = {}
    for place, turn in enumerate(turns):
        if _is_asked_for(turn, requests) or (not found and (turn.requests or turn.calls)):
            found[len(found) + 1] = turn
        elif found:
            _add(turn, to=found[len(found)])
        number_at[place] = len(found)
    return found, {facts: number_at[place] for facts, place in index.items() if number_at[place]}


def _is_asked_for(turn: TurnFacts, requests: Mapping[RequestId, RequestFacts]) -> bool:
    if turn.prompt is None or turn.prompt.origin not in _COMMANDS:
        return turn.prompt is not None
    parts = (part for id in turn.requests for part in requests[id].parts)
    return bool(turn.calls) or any(not part.is_synthetic or part.api_error is not None for part in parts)


def _add(turn: TurnFacts, *, to: TurnFacts) -> None:
    to.requests += turn.requests
    to.calls += turn.calls
    to.last_at = max(filter(None, (to.last_at, turn.last_at)), default=None)


def number_of(turn: TurnFacts | None, numbers: Numbers) -> int | None:
    """The number of the turn that something belongs to."""
    if turn is None:
        return None
    return numbers.get(id(turn if turn.moved_to is None else turn.whole))


def request_value(facts: RequestFacts, thread: ThreadId, numbers: Numbers) -> Request:
    """A request, put together from all its parts."""
    parts = facts.parts
    times = [part.at for part in parts if part.at is not None]
    texts = [part.text for part in parts if part.text]
    last = next((part for part in reversed(parts) if part.text.strip()), None)
    thoughts = [part.thinking for part in parts if part.thinking]
    models = [part.model for part in parts if part.model]
    reasons = [part.stop_reason for part in parts if part.stop_reason]
    errors = [part.api_error for part in parts if part.api_error is not None]
    return Request(
        id=facts.id,
        thread=thread,
        turn=number_of(facts.turn, numbers),
        model=models[0] if models else None,
        at=min(times, default=None),
        ended_at=max(times, default=None),
        text="\n".join(texts),
        final_text="" if last is None else last.last_text or last.text,
        thinking="\n".join(thoughts),
        stop_reason=reasons[-1] if reasons else None,
        calls=list(facts.calls),
        places=list(dict.fromkeys([part.place for part in parts])),
        node=parts[-1].node,
        error=errors[0] if errors else None,
        is_synthetic=False not in [part.is_synthetic for part in parts],
        grouped_by=facts.grouped_by,
        has_hidden_thought=True in [part.has_hidden_thought for part in parts],
    )


def turn_value(facts: TurnFacts, thread: ThreadId, n: int, texts: Mapping[RequestId, str]) -> Turn:
    """A turn with its prompt and the last words of the model; `texts` are those of the requests."""
    at = facts.first.at if facts.first else None
    stated_text = facts.ended.text if facts.ended else None
    return Turn(
        n=n,
        thread=thread,
        prompts=[_prompt(facts.prompt, facts.word)] if facts.prompt else [],
        requests=list(facts.requests),
        calls=list(facts.calls),
        at=at,
        ended_at=facts.last_at,
        text=next((texts[id] for id in reversed(facts.requests) if texts[id]), stated_text or ""),
        stated_text=stated_text,
        took_ms=between_ms(at, facts.last_at),
        stated_ms=facts.ended.took_ms if facts.ended else None,
        is_closed=facts.ended is not None,
        is_interrupted=facts.interrupted_by is not None,
    )


def _prompt(event: PromptGiven, word: str | None) -> Prompt:
    return Prompt(
        text=event.text,
        origin=event.origin,
        at=event.at,
        place=event.place,
        node=event.node or _as_node(word),
        n_images=event.n_images,
        n_documents=event.n_documents,
    )


def branches_of_turns(turns: list[TurnFacts]) -> list[Branch]:
    """The branches of an agent without a tree: turns that were taken back together are one."""
    words = [_as_node(turn.word) for turn in turns]
    living = [word for turn, word in zip(turns, words, strict=True) if turn.left_by is None]
    first, last = (living[0], living[-1]) if living else (None, None)
    found = [Branch(id=MAIN, parent=None, start=first, end=last, is_active=True)]
    for _, group in groupby(enumerate(turns), key=lambda one: id(one[1].left_by)):
        places = [place for place, turn in group if turn.left_by is not None]
        if places:
            found.append(_left(words, places[0], places[-1]))
    return found


def _left(words: list[NodeId | None], first: int, last: int) -> Branch:
    nodes = [word for word in words[first : last + 1] if word is not None]
    return Branch(
        id=nodes[0] if nodes else f"turn-{first + 1}",
        parent=MAIN,
        start=words[first - 1] if first else None,
        end=nodes[-1] if nodes else None,
        is_active=False,
        why="rewind",
        nodes=nodes,
    )


def _as_node(word: str | None) -> NodeId | None:
    return NodeId(word) if word else None
