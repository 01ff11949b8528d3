from __future__ import annotations

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.routing import Route

from tests.live.live_home import LiveHome
from tests.test_ask_hook import ASKED, SILENT, Asking, asking, run_folder, said
from tests.views.web.asking import Answer, app_of, ask
from tests.views.web.live_site import live_site
from tracklog.run.process.supervise import MARK
from tracklog.views.web.pages.board import answer as board_answer
from tracklog.views.web.site import Site

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class Door:
    """A question that is open, and the address where it is answered."""

    def __init__(self, site: Site, hook: Asking) -> None:
        self.hook = hook
        self.id, self.run = hook.question().stem, hook.folder.name
        self._site = site

    def get(self, **more: str) -> Answer:
        query = urlencode({"run": self.run, "id": self.id, **more})
        return self._asked("GET", f"/answer?{query}")

    def seen(self) -> str:
        (seen,) = set(re.findall(r'name="seen" value="(\w+)"', self.get().text))
        return str(seen)

    def post(self, seen: str, verdict: str, **more: str) -> Answer:
        fields = {"run": self.run, "id": self.id, "seen": seen, "verdict": verdict, **more}
        return self._asked("POST", "/answer", body=urlencode(fields).encode())

    def raw(self, body: bytes, headers: dict[str, str] = FORM) -> Answer:
        return self._asked("POST", "/answer", body=body, headers=headers)

    def _asked(self, method: str, target: str, body: bytes = b"", headers: dict[str, str] = FORM) -> Answer:
        app = app_of([Route("/answer", board_answer.answer, methods=["GET", "POST"])], self._site)
        return ask(app, method, target, headers=headers, body=body)


@contextmanager
def door(tmp_path: Path, given: Any = ASKED) -> Iterator[Door]:
    home = LiveHome(tmp_path)
    with live_site(home) as site, asking(run_folder(home.ours), given) as hook:
        yield Door(site, hook)


def title(answer: Answer) -> str:
    found = re.search(r"<h1>(.*?)</h1>", answer.text)
    return html.unescape(found[1]) if found else ""


def test_a_question_is_shown_whole_before_it_is_answered(tmp_path: Path) -> None:
    command = "touch made.txt\n" * 200 + "echo <b>end</b>"
    with door(tmp_path, {**ASKED, "tool_input": {"command": command, "n": [1, {"a": None}]}}) as it:
        answer = it.get()
        assert (answer.status, title(answer)) == (200, "May it use Bash?")
        pieces = [html.unescape(one) for one in re.findall(r"<pre[^>]*>(.*?)</pre>", answer.text, re.S)]
        assert pieces == [command, '[1, {"a": null}]']
        assert "/home/dev" in answer.text


def test_to_allow_tells_the_client_so(tmp_path: Path) -> None:
    with door(tmp_path) as it:
        answer = it.post(it.seen(), "allow", reason="left out")
        assert (answer.status, title(answer)) == (200, "Allowed")
        assert said(it.hook.ended()) == {"behavior": "allow"}


def test_to_deny_tells_the_client_why(tmp_path: Path) -> None:
    with door(tmp_path) as it:
        answer = it.post(it.seen(), "deny", reason="not é on this branch")
        assert (answer.status, title(answer)) == (200, "Denied")
        assert said(it.hook.ended()) == {"behavior": "deny", "message": "not é on this branch"}


@pytest.mark.parametrize(
    "seen", ["", "0" * 32, "é", "x" * 5000], ids=["none", "another", "no ASCII", "too long"]
)
def test_what_was_not_shown_is_not_answered(tmp_path: Path, seen: str) -> None:
    with door(tmp_path) as it:
        answer = it.post(seen, "allow")
        assert (answer.status, title(answer)) == (409, "The question has changed")
        assert it.hook.process.poll() is None


def test_a_question_that_is_gone_takes_no_answer(tmp_path: Path) -> None:
    with door(tmp_path) as it:
        seen = it.seen()
        it.hook.process.kill()
        it.hook.process.wait()
        for answer in (it.post(seen, "allow"), it.get()):
            assert (answer.status, title(answer)) == (409, "This question is not open any more")


def test_the_first_answer_counts(tmp_path: Path) -> None:
    with door(tmp_path) as it:
        seen = it.seen()
        assert it.post(seen, "deny").status == 200
        said(it.hook.ended())
        assert it.post(seen, "allow").status == 409


def test_a_session_does_not_answer_its_own_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with door(tmp_path) as it:
        seen = it.seen()
        monkeypatch.setenv(MARK, it.run)
        assert 'name="seen"' not in it.get().text
        assert title(it.post(seen, "allow")) == "Not from here"
        assert it.hook.process.poll() is None


def test_what_cannot_be_shown_whole_can_be_denied_and_not_allowed(tmp_path: Path) -> None:
    with door(tmp_path, {**ASKED, "tool_input": {"command": "x" * 100_000}}) as it:
        page = it.get()
        assert 'value="allow"' not in page.text
        assert "This is only the beginning" in page.text
        assert title(it.post(it.seen(), "allow")) == "Too long to be allowed here"
        assert it.post(it.seen(), "deny").status == 200


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", FORM["Content-Type"]),
        (b"verdict=allow", "text/plain"),
        (b"verdict=maybe&run=x&id=x&seen=x", FORM["Content-Type"]),
        (b"verdict=deny&verdict=allow&run=x&id=x&seen=x", FORM["Content-Type"]),
        (b"\xff\xfe", FORM["Content-Type"]),
        (b"&".join(b"a%d=1" % n for n in range(100)), FORM["Content-Type"]),
        (b"verdict=allow&reason=" + b"x" * 1_000_000, FORM["Content-Type"]),
    ],
    ids=["empty", "another kind", "another verdict", "two verdicts", "no text", "many fields", "too long"],
)
def test_what_is_no_answer_is_refused(tmp_path: Path, body: bytes, kind: str) -> None:
    with door(tmp_path) as it:
        answer = it.raw(body, {"Content-Type": kind})
        assert (answer.status, title(answer)) == (400, "That is no answer")
        assert it.hook.process.poll() is None


def test_a_get_never_answers(tmp_path: Path) -> None:
    with door(tmp_path) as it:
        assert it.get(verdict="allow", seen=it.seen()).status == 200
        assert it.hook.process.poll() is None


def test_a_question_with_odd_letters_is_shown(tmp_path: Path) -> None:
    odd = '{"session_id":"\\ud800","hook_event_name":"PermissionRequest","tool_name":"\\ud800<b>","tool_input":"\\udfff\\u202e"}'
    with door(tmp_path, odd.encode()) as it:
        page = it.get()
        assert (page.status, title(page)) == (200, "May it use ⟨U+D800⟩<b>?")
        assert "⟨U+DFFF⟩⟨U+202E⟩" in page.text


def test_every_letter_of_what_would_be_allowed_is_seen(tmp_path: Path) -> None:
    name, key = "mcp__" + "x" * 300 + "end", "k" * 200 + "end"
    given = {**ASKED, "tool_name": name, "tool_input": {key: "ls\u200d \u200f\U000e0041"}}
    with door(tmp_path, given) as it:
        page = it.get().text
        assert name in page
        assert key in page
        assert "ls⟨U+200D⟩ ⟨U+200F⟩⟨U+E0041⟩" in page


def test_nobody_asks_and_nobody_answers(tmp_path: Path) -> None:
    with door(tmp_path) as it:
        it.hook.process.kill()
        assert it.hook.ended()[1:] == SILENT[1:]
