from __future__ import annotations

import asyncio
import time
from pathlib import Path
from threading import Event
from urllib.parse import unquote

import click
import pytest
from starlette.types import Message

from tests.cases import for_each
from tests.views.cli.command import ONE, TWO, both_agents, environment, tracklog
from tests.views.web.asking import Answer, ask, scope_of
from tracklog.agents.discovery import roots_at
from tracklog.app.live.site import site_over
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.store.database import writing
from tracklog.views.cli.click_app import load
from tracklog.views.web import api
from tracklog.views.web.api import routes
from tracklog.views.web.api_questions import QUESTIONS, ApiContext, ApiQuery, ApiQuestion, query_of
from tracklog.views.web.server.routes import unguarded_app
from tracklog.views.web.site import Site


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two sessions, and an index of them."""
    home = both_agents(tmp_path_factory.mktemp("home"))
    assert tracklog("index", *given(home), home=home).code == 0
    return home


def given(home: Path) -> list[str]:
    return [f"--home={home / 'own'}", f"--root={home / '.claude'}", f"--root={home / '.codex'}"]


@pytest.fixture
def site(home: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    for name, value in environment(home).items():  # as the command line has it that we compare with
        monkeypatch.setenv(name, value)
    return site_over(Home(home / "own"), [*roots_at(home / ".claude"), *roots_at(home / ".codex")])


def asked(site: Site, target: str) -> Answer:
    return ask(unguarded_app(site, routes()), "GET", f"/api/v1{target}")


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/places", ["places"]),
        ("/places?agent=codex", ["places", "--agent=codex"]),
        ("/sessions", ["sessions"]),
        (
            "/sessions?limit=1&agent=claude&since=2020-01-01",
            ["sessions", "--limit=1", "--agent=claude", "--since=2020-01-01"],
        ),
        (f"/show/{ONE}", ["show", ONE]),
        (f"/show/{ONE[:8]}?thinking=1", ["show", ONE, "--thinking"]),
        ("/show/@last", ["show", "@last"]),
        ("/calls", ["calls"]),
        (f"/calls/{TWO}?tool=Bash&tool=Read&verdict=error&slow=10", ["calls", TWO, "--tool=Bash"]),
        (f"/agents/{ONE}", ["agents", ONE]),
        (f"/graph/{ONE}", ["graph", ONE]),
        ("/usage?zone=utc", ["usage", "--zone=utc"]),
        (
            "/usage/session?zone=UTC&as_of=2026-01-01",
            ["usage", "session", "--zone=UTC", "--as-of=2026-01-01"],
        ),
        ("/search?q=hi", ["search", "hi"]),
        ("/search?q=hi&by=relevance&limit=1", ["search", "hi", "--by=relevance", "--limit=1"]),
        ("/top", ["top"]),
        ("/top?all=1", ["top", "--all"]),
        ("/prices/claude-opus-4-6", ["prices", "claude-opus-4-6"]),
        ("/doctor", ["doctor"]),
    ],
)
def test_a_question_is_answered_with_the_document_of_the_command_line(
    site: Site, home: Path, target: str, words: list[str]
) -> None:
    answer = asked(site, target)
    expected = tracklog(*given(home), *words, "--json", home=home)
    assert (answer.status, answer.header("content-type")) == (200, "application/json"), answer.text
    assert answer.json() == expected.json


def test_the_figures_of_the_index_come_with_how_fresh_they_are(site: Site) -> None:
    document = asked(site, "/index").json()
    assert (document["files"], document["sessions"], document["lines"]) == (2, 2, 3)
    assert document["status"]["state"] == "none"


def test_where_there_is_no_index_its_figures_are_missing(tmp_path: Path) -> None:
    document = asked(site_over(Home(tmp_path), []), "/index").json()
    assert sorted(document) == ["schema_version", "status"]


def test_what_may_be_asked_is_told(site: Site) -> None:
    assert sorted(asked(site, "").json()["questions"]) == sorted(QUESTIONS)


@pytest.mark.parametrize(
    ("target", "status", "said"),
    [
        ("/show/99999999", 404, "99999999"),
        (f"/final/{ONE}", 404, ""),
        ("/nothing", 404, "no such question"),
        ("/sql", 404, "no such question"),
        ("/run", 404, "no such question"),
        ("/verify", 404, "no such question"),
        ("/show", 400, "name a session"),
        ("/search", 400, "?q="),
        ("/usage/yearly", 400, "yearly"),
        ("/sessions?limit=0", 400, "limit"),
        ("/sessions?limit=x", 400, "limit cannot be 'x'"),
        ("/sessions?since=never", 400, "never"),
        ("/places/x", 400, "not to be asked for here"),
        ("/calls?verdict=bad", 400, "bad"),
    ],
)
def test_what_cannot_be_answered_is_said(site: Site, target: str, status: int, said: str) -> None:
    answer = asked(site, target)
    assert (answer.status, sorted(answer.json())) == (status, ["error", "schema_version", "status"])
    assert said in answer.json()["error"]


def test_a_search_that_finds_nothing_is_an_answer(site: Site) -> None:
    answer = asked(site, "/search?q=nowhere")
    assert (answer.status, answer.json()) == (
        200,
        {"schema_version": 1, "total": 0, "exact": True, "hits": []},
    )


@for_each(
    "target",
    [
        "/sessions?root=/etc",
        "/sessions?home=/tmp",
        "/sessions?roots=/etc",
        "/sessions?json=1",
        "/final/x?stop-payload=/etc/passwd",
        "/final/x?wait=1",
        "/prices?prices=/etc/passwd",
        "/prices?path=1",
        "/usage?budget=1",
        "/usage?csv=1",
        "/show/x?--root=/etc",
        "/calls?slow=/tmp/x.jsonl",
        "/calls?slow=log.jsonl",
        "/show/..%2F..%2Fetc%2Fpasswd",
        "/show/%2Fetc%2Fpasswd",
        "/show/log.jsonl",
        "/show/log.jsonl.zst",
        "/show/log.json",
        "/show/--root=x",
        "/show/-x",
        "/show/.",
        "/show/..",
        "/show/a%00b",
        "/show/a%0Ab",
        "/show/%7E",
        "/show/" + "a" * 300,
        "/sessions?project=%0A",
        "/sessions?agent=-x",
    ],
)
def test_no_path_and_no_other_option_comes_in_from_outside(site: Site, target: str) -> None:
    assert asked(site, target).status in (400, 404)
    name, _, what = target.partition("?")[0].lstrip("/").partition("/")
    if "%2F" not in what:  # those are two parts of an address, and no route has so many
        pairs = [tuple(pair.split("=", 1)) for pair in target.partition("?")[2].split("&") if pair]
        with pytest.raises(UserError):
            query_of(name, unquote(what) or None, [(unquote(one), unquote(two)) for one, two in pairs])


def test_what_is_asked_is_a_value_and_never_an_option() -> None:
    assert query_of("search", None, [("q", "--root=/etc -x"), ("project", "--home")]) == ApiQuery(
        "search", "--root=/etc -x", {"project": "--home"}
    )


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("?q=--hi", ["hi"]),
        ("?q=--hi%20-nowhere", ["hi", "-nowhere"]),
        ("?q=--%7Chi&regex=1", ["--regex", "[-]-|hi"]),
        ("?q=-%7Chi&regex=1", ["--regex", "[-]|hi"]),
    ],
)
def test_a_word_that_looks_like_an_option_is_searched(
    site: Site, home: Path, target: str, words: list[str]
) -> None:
    answer = asked(site, f"/search{target}")
    expected = tracklog(*given(home), "search", "--json", *words, home=home)
    assert (answer.status, answer.json()) == (200, expected.json)
    assert answer.json()["total"] > 0


def test_a_file_beside_the_server_is_not_a_session(
    site: Site, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "README").write_text("not a log")
    monkeypatch.chdir(home)
    assert asked(site, "/show/README").status == 404


def test_a_question_that_takes_too_long_is_given_up(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "LONGEST_S", 0.0)
    answer = asked(site, "/doctor")
    assert (answer.status, answer.json()["error"]) == (504, "no answer within 0 seconds: ask for less")


def test_more_than_a_few_at_once_are_sent_away(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MOST_WAITING", -api.MOST_AT_ONCE)
    assert asked(site, "/places").status == 503


def test_questions_at_once_get_the_answers_that_they_get_alone(site: Site) -> None:
    targets = ["/sessions", f"/show/{ONE}", "/usage?zone=utc", "/search?q=hi", "/calls", "/show/99999999"] * 3
    alone = {target: asked(site, target).body for target in targets}
    app = unguarded_app(site, routes())

    async def all_of_them() -> list[bytes]:
        answers = [asyncio.to_thread(ask, app, "GET", f"/api/v1{target}") for target in targets]
        return [answer.body for answer in await asyncio.gather(*answers)]

    assert asyncio.run(all_of_them()) == [alone[target] for target in targets]


def test_a_mistake_of_ours_is_printed_where_the_server_runs_and_harms_no_other_question(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_: ApiQuery, at: ApiContext) -> str:
        at.talk.say("tracklog: this log is odd")
        raise ZeroDivisionError("private words")

    monkeypatch.setitem(QUESTIONS, "places", ApiQuestion(fails, {}))
    app = unguarded_app(site, routes())
    answer = ask(app, "GET", "/api/v1/places")
    assert (answer.status, answer.json()["error"]) == (
        500,
        "a mistake of tracklog's: it is printed where `tracklog serve` runs",
    )
    printed = capsys.readouterr().err
    assert "ZeroDivisionError: private words" in printed
    assert "this log is odd" in printed
    assert ask(app, "GET", "/api/v1/prices").status == 200


@for_each("target", ["/sessions", "/calls", "/usage", "/search?q=hi", f"/show/{ONE}"])
def test_a_question_is_answered_while_the_index_is_written(site: Site, target: str) -> None:
    before = asked(site, target)
    with writing(site.home) as database, database.transaction():
        during = asked(site, target)
    assert (before.status, during.status) == (200, 200)
    assert during.body == before.body


class SlowQuestion:
    """Reads for ever, as far as its progress lets it."""

    def __init__(self) -> None:
        self.n_begun = 0
        self.has_begun, self.has_ended = Event(), Event()

    def __call__(self, _: ApiQuery, at: ApiContext) -> str:
        self.n_begun += 1
        self.has_begun.set()
        try:
            with at.talk.progress("reading") as (_set_total, advance):
                while True:
                    advance(1)
                    time.sleep(0.01)
        finally:
            self.has_ended.set()


def test_a_question_that_is_given_up_stops_reading(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = SlowQuestion()
    monkeypatch.setitem(QUESTIONS, "places", ApiQuestion(slow, {}))
    monkeypatch.setattr(api, "LONGEST_S", 0.2)
    assert asked(site, "/places").status == 504
    assert slow.has_ended.wait(10)


def test_a_question_whose_client_hangs_up_stops_and_one_that_waits_is_never_begun(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = SlowQuestion()
    monkeypatch.setitem(QUESTIONS, "places", ApiQuestion(slow, {}))
    monkeypatch.setattr(api, "MOST_AT_ONCE", 1)
    app = unguarded_app(site, routes())

    async def asked_and_left() -> None:
        gone = asyncio.Event()

        async def receive() -> Message:
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(_: Message) -> None:
            pass

        scope = scope_of("GET", "/api/v1/places")
        clients = [asyncio.create_task(app(scope, receive, send)) for _ in range(3)]
        await asyncio.to_thread(slow.has_begun.wait, 10)
        gone.set()
        await asyncio.wait_for(asyncio.gather(*clients), 10)

    asyncio.run(asked_and_left())
    assert slow.has_ended.wait(10)
    assert ask(app, "GET", "/api/v1/prices").status == 200
    assert slow.n_begun == 1


def test_every_question_takes_parameters_as_its_command_takes_options() -> None:
    for name, question in QUESTIONS.items():
        options = {word.removeprefix("--"): one for one in load(name).params for word in one.opts}
        assert set(question.parameters) <= set(options), name
        assert question.syncs == ("syncs" in {one.name for one in load(name).params}), name
        for key, parameter in question.parameters.items():
            option = options[key]
            assert parameter.is_repeatable == option.multiple, (name, key)
            for word in option.type.choices if isinstance(option.type, click.Choice) else ():
                assert parameter.shape.fullmatch(word), (name, key, word)
                assert parameter.read(word) == word
