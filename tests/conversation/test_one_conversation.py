"""`show` and the page of a session list the same things in the same order."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from tests.conversation.test_thread_page import NOW, read_in, write_home
from tests.model.lines import Line, at, reply, result, use, user
from tracklog.agents.discovery import roots_at
from tracklog.app.demo import write_sample
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.read_sessions import SessionReader
from tracklog.conversation.branches import seen_from
from tracklog.conversation.moments import (
    Interrupted,
    Moment,
    PromptTurn,
    RequestText,
    ThreadSelection,
)
from tracklog.conversation.session import OpenThreads, placed_turns, sides_of, ways_through
from tracklog.conversation.thread_reader import ThreadReading
from tracklog.conversation.window import ShownRow, ThreadContext, is_quiet, window
from tracklog.home import Home
from tracklog.model.events import Place
from tracklog.model.ids import MAIN
from tracklog.model.session import Call, Compaction, Failure, Note, Session, Stray
from tracklog.model.states import NOT_LOOKED
from tracklog.store.database import Database, writing
from tracklog.store.scope import scope_of

Listed = tuple[int | None, str]  # the line, and what it is
_BOTH = {"prompt", "answer", "call", "compaction", "interruption", "failure", "result"}
_COMMANDS = ("slash", "shell")


def on_the_page(rows: list[ShownRow]) -> list[Listed]:
    """What the page shows, without what `show` counts or leaves to other commands."""
    seen = [one.row for one in rows if not (is_quiet(one) or one.is_left or one.row.is_aside)]
    kinds = [(row.seq, "prompt" if row.kind == "command" else row.kind) for row in seen]
    return [one for one in kinds if one[1] in _BOTH]


def in_show(moments: list[Moment], reading: ThreadReading) -> Iterator[Listed]:
    """What `show` prints; words of a request that follow each other are one thing there."""

    def at_line(place: Place | None, kind: str) -> Listed:
        return (reading.lines.seq_of(place.path, place.line) if place else None, kind)

    for moment in moments:
        match moment:
            case PromptTurn():
                yield at_line(moment.prompt.place, "prompt")
            case RequestText() if moment.request.is_synthetic and moment.request.error:
                yield at_line(moment.request.places[0], "failure")
            case RequestText():
                blocks = moment.request.text_blocks
                yield from (
                    at_line(place, "answer") for place, text in blocks if text.strip() and text in moment.text
                )
            case Call():
                yield at_line(moment.evidence[0], "call")
            case Compaction():
                yield at_line(moment.place, "compaction")
            case Failure():
                yield at_line(moment.place, "failure")
            case Interrupted():
                yield at_line(moment.place, "interruption")
            case Stray():
                yield at_line(moment.place, "result")
            case Note() if moment.what in _COMMANDS:
                yield at_line(moment.place, "prompt")


def both(root: Path, home: Home) -> Iterator[tuple[list[Listed], list[Listed]]]:
    """Each thread with a log of its own, as the page and as `show` list it."""
    with writing(home) as database:
        read_in(database, root)
        for story in SessionReader([root], agent=None, filters=Filters(), home=home.path).each():
            for thread in story.threads:
                name = MAIN if thread is story.main else thread.id
                opened = opened_thread(database, root, story, name)
                if opened is not None:
                    reading, rows = opened
                    chosen = ThreadSelection(story, thread=thread.id)
                    yield on_the_page(rows), list(in_show(chosen.moments(), reading))


def opened_thread(
    database: Database, root: Path, story: Session, thread: str, *, branch: str = "main"
) -> tuple[ThreadReading, list[ShownRow]] | None:
    threads, roots = OpenThreads(), roots_at(root)
    session = threads.session(
        database, story.agent, story.id, roots=roots, scope=scope_of(one.path for one in roots), fresh=True
    )
    reading = threads.reading(session.head, thread) if session else None
    if session is None or reading is None:
        return None
    turns, ways = (
        placed_turns(database, session, reading, thread),
        ways_through(database, session, reading, thread),
    )
    seen = seen_from(ways, turns, sides_of(session, reading, thread), branch)
    head = session.head
    asked = ThreadContext(head.agent, head.id, head.known, database.db, head.is_settled, NOT_LOOKED, NOW)
    return reading, window(asked, reading, 1, reading.lines.n, seen=seen)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


MADE: dict[str, list[Line | bytes]] = {
    "a prompt that came between the calls of an answer": [
        user("a", None, "do it", timestamp=at(1)),
        reply("b", "a", "m1", "I look.", timestamp=at(2)),
        reply("c", "b", "m1", use("t1", command="ls"), timestamp=at(3)),
        user("d", "c", "and this", timestamp=at(3.5)),
        reply("e", "d", "m1", use("t2", command="pwd"), timestamp=at(4)),
        result("f", "e", "t1", "bin", timestamp=at(5)),
        result("g", "f", "t2", "/", timestamp=at(5)),
        reply("h", "g", "m2", "Done.", timestamp=at(6)),
    ],
    "words after a call of the same answer": [
        user("a", None, "do it", timestamp=at(1)),
        reply("b", "a", "m1", "I look.", timestamp=at(2)),
        reply("c", "b", "m1", use("t1", command="ls"), timestamp=at(3)),
        reply("d", "c", "m1", "It runs.", timestamp=at(4)),
        reply("e", "d", "m1", use("t2", command="pwd"), timestamp=at(5)),
    ],
    "an answer of white space": [
        user("a", None, "do it", timestamp=at(1)),
        reply("b", "a", "m1", text("\n\n"), timestamp=at(2)),
        reply("c", "b", "m1", use("t1", command="ls"), timestamp=at(3)),
    ],
    "commands with and without an answer": [
        user("a", None, "<command-name>/clear</command-name>", timestamp=at(1)),
        user("b", "a", "<local-command-stdout></local-command-stdout>", timestamp=at(1)),
        user("c", "b", "<command-name>/review</command-name>", timestamp=at(2)),
        reply("d", "c", "m1", "Fine.", timestamp=at(3)),
        user("e", "d", "<bash-input>ls</bash-input>", timestamp=at(4)),
    ],
    "a branch that was left, an interruption, a result without a call": [
        user("a", None, "do it", timestamp=at(1)),
        reply("b", "a", "m1", "One way.", timestamp=at(2)),
        user("c", "a", "[Request interrupted by user]", timestamp=at(3)),
        user("d", "c", "another way", timestamp=at(4)),
        result("e", "d", "nobody", "stray", timestamp=at(5)),
        reply("f", "e", "m2", "Another.", timestamp=at(6)),
    ],
}


@pytest.mark.parametrize("lines", MADE.values(), ids=MADE)
def test_a_made_session_is_listed_alike(tmp_path: Path, lines: list[Line | bytes]) -> None:
    write_home(tmp_path / "logs", *lines)
    (page, shown), *_ = both(tmp_path / "logs", Home(tmp_path / "home"))
    assert page == shown
    assert page


def test_all_threads_of_the_demo_are_listed_alike(tmp_path: Path) -> None:
    write_sample(tmp_path / "demo")
    compared = list(both(tmp_path / "demo", Home(tmp_path / "home")))
    assert len(compared) == 12
    for page, shown in compared:
        assert page == shown


def test_a_prompt_between_the_calls_of_an_answer_is_where_it_came(tmp_path: Path) -> None:
    write_home(tmp_path / "logs", *MADE["a prompt that came between the calls of an answer"])
    (page, _), *_ = both(tmp_path / "logs", Home(tmp_path / "home"))
    kinds = [kind for kind, _ in groupby(page, key=lambda one: one[1])]
    assert kinds == ["prompt", "answer", "call", "prompt", "call", "answer"]


def test_a_left_branch_is_in_show_what_it_has_alone_and_on_the_page_with_its_past(tmp_path: Path) -> None:
    left: list[Line | bytes] = [
        user("a", None, "begin", timestamp=at(1)),
        reply("b", "a", "m1", "Begun.", timestamp=at(2)),
        user("c", "b", "the wrong way", timestamp=at(3)),
        reply("d", "c", "m2", use("t1", command="false"), timestamp=at(4)),
        user("e", "b", "the right way", timestamp=at(6)),
        reply("f", "e", "m3", "Right.", timestamp=at(7)),
    ]
    write_home(tmp_path / "logs", *left)
    with writing(Home(tmp_path / "home")) as database:
        read_in(database, tmp_path / "logs")
        (story,) = SessionReader([tmp_path / "logs"], agent=None, filters=Filters()).each()
        opened = opened_thread(database, tmp_path / "logs", story, MAIN, branch="c")
        assert opened is not None
        reading, rows = opened
        shown = list(in_show(ThreadSelection(story, branch="c").moments(), reading))
    assert shown == [(3, "prompt"), (4, "call")]
    assert on_the_page(rows) == [(1, "prompt"), (2, "answer"), *shown]
