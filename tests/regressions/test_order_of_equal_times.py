"""What has the same time came in an order that nobody could predict.

Search hits of the same second came in the order in which workers had happened to index their logs, so the same question
to two indexes of the same logs gave two orders, and another page. And `session.calls` listed the calls thread by thread:
those of a subagent that ran first came last.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.model.lines import at, reply, result, session, use, user
from tests.search.test_query import read
from tests.search.test_search import AT_MS, CLAUDE, put_log
from tests.views.cli.command import tracklog
from tests.views.cli.written import Log
from tests.views.web.asking import ask
from tests.views.web.list_pages import got
from tests.views.web.read_site import site_over
from tracklog.home import Home
from tracklog.search.tables import By, search
from tracklog.store.database import writing
from tracklog.store.text import ROLES, put_texts, worded
from tracklog.store.values import SearchableText
from tracklog.views.web.server.routes import routes, unguarded_app

N_LINES = 12


def hits(home: Path, logs: Sequence[str], *, limit: int, by: By) -> list[tuple[str, int]]:
    """Where a word is found that all logs hold in lines of the same time, if they are indexed in this order."""
    with writing(Home(home)) as database:
        for n, name in enumerate(logs, 1):
            put_log(database.db, n, f"{CLAUDE}/projects/-app/{name}.jsonl", CLAUDE, "claude", name)
            lines = [
                SearchableText(line, line * 100, 0, ROLES["answer"], AT_MS, None, None, "the parser works")
                for line in range(1, N_LINES + 1)
            ]
            put_texts(database.db, [(n, worded(line)) for line in lines])
        found = search(database.db, read("parser"), limit=limit, by=by).hits
        return [(hit.session or "", hit.line) for hit in found]


@pytest.mark.parametrize("by", ["time", "relevance"])
@pytest.mark.parametrize("limit", [1, 5, 2 * N_LINES + 1, 100])
def test_hits_of_the_same_time_have_one_order(tmp_path: Path, by: By, limit: int) -> None:
    expected = [(name, line) for name in "abc" for line in range(N_LINES, 0, -1)]
    assert hits(tmp_path / "1", "abc", limit=limit, by=by) == expected[:limit]
    assert hits(tmp_path / "2", "cba", limit=limit, by=by) == expected[:limit]


def test_the_calls_of_a_session_are_in_the_order_of_their_times() -> None:
    beside = {"isSidechain": True, "agentId": "a1"}
    made = session(
        user("u", None, "go", timestamp=at(1)),
        reply("a", "u", "m1", use("first", "Task", prompt="look"), timestamp=at(2)),
        user("w", None, "look", timestamp=at(3), **beside),
        reply("x", "w", "m2", use("second"), timestamp=at(4), **beside),
        result("b", "a", "first", second=5),
        reply("c", "b", "m3", use("third"), timestamp=at(6)),
    )
    assert [call.id for call in made.calls] == ["first", "second", "third"]
    assert [call.id for call in made.calls_by_thread] == ["first", "third", "second"]


def test_a_new_index_an_old_one_the_page_and_the_api_give_one_order(tmp_path: Path) -> None:
    folder = tmp_path / "logs/.claude/projects/-work"
    for n in range(4):
        log = Log(f"{n}1111111-aaaa-4aaa-8aaa-111111111111").prompt(f"the parser of {n}")
        log.answer(f"msg_{n}", f"the parser works, says {n}")
        log.write(folder / f"{(n * 3) % 4}.jsonl")
        tracklog("index", "--root", tmp_path / "logs", "--home", tmp_path / "old", home=tmp_path)
    asked = ("search", "parser", "--json", "--root", tmp_path / "logs", "--home")
    old = tracklog(*asked, tmp_path / "old", "--no-sync", home=tmp_path).json["hits"]
    new = tracklog(*asked, tmp_path / "new", home=tmp_path).json["hits"]
    assert len(old) == 8
    assert new == old

    app = unguarded_app(site_over(tmp_path / "logs", tmp_path / "site"), routes())
    assert ask(app, "GET", "/api/v1/search?q=parser").json()["hits"] == old
    page = got(app, "/search?q=parser")
    shown = re.findall(r'href="/s/claude/([0-9a-f-]{36})\?find=[^"]*line=(\d+)', page)
    by_session = sorted(old, key=lambda hit: [one["session"] for one in old].index(hit["session"]))
    assert list(dict.fromkeys(shown)) == [(hit["session"], str(hit["line"])) for hit in by_session]
