"""The page of one line, and that no text of a log is one that cannot be sent."""

from __future__ import annotations

import os
from html import unescape
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.requests import Request

from tests.conversation.test_thread_page import ID
from tests.model.lines import log, reply, use, user
from tests.views.web.asking import app_of, ask
from tests.views.web.pages.session.test_page import ROUTES, SECRET, app_over, get
from tests.views.web.read_site import site_over
from tracklog.conversation import lines as conversation_lines
from tracklog.views.web.pages.session import lines
from tracklog.views.web.server.routes import said_so

AREA = '<textarea id="raw-text"'
COPY = 'data-copy-from="#raw-text"'
FILE = f"/raw/claude/{ID}?seq=1&as=file"


@pytest.fixture
def few_to_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_MOST_TO_COPY", 1_000)


@pytest.mark.usefixtures("few_to_copy")
@pytest.mark.parametrize("address", [f"/raw/claude/{ID}?seq=", f"/_/s/claude/{ID}/raw?seq="])
def test_the_text_of_a_line_is_in_its_page_to_be_copied_unless_it_is_long(
    tmp_path: Path, address: str
) -> None:
    app = app_over(tmp_path, user("a", None, "short"), user("b", "a", "long " * 1_000))
    short, long = get(app, f"{address}1").text, get(app, f"{address}2").text
    assert (AREA in short, COPY in short, "as=file" in short) == (True, True, False)
    assert log([user("a", None, "short")]).decode() in unescape(short)
    assert (AREA in long, COPY in long) == (False, False)
    assert f'href="/raw/claude/{ID}?seq=2&amp;as=file" download>Save all ' in long


@pytest.mark.usefixtures("few_to_copy")
def test_a_long_line_is_a_file_that_opens_nowhere(tmp_path: Path) -> None:
    line = user("a", None, "<script>" * 1_000)
    answer = get(app_over(tmp_path, line), FILE)
    assert answer.body == log([line])
    assert answer.header("content-type") == "text/plain; charset=utf-8"
    assert answer.header("content-disposition") == 'attachment; filename="line-1.txt"'
    assert answer.header("content-security-policy") == "default-src 'none'; sandbox"


@pytest.mark.usefixtures("few_to_copy")
def test_secrets_in_the_file_of_a_line_are_masked_until_they_are_asked_for(tmp_path: Path) -> None:
    app = app_over(tmp_path, user("a", None, f"token {SECRET} " + "x" * 2_000))
    assert SECRET not in get(app, FILE).text
    assert SECRET in get(app, f"{FILE}&secrets=shown").text
    assert "as=file&amp;secrets=shown" in get(app, f"/raw/claude/{ID}?seq=1&secrets=shown").text
    assert "as=file&amp;secrets=shown" not in get(app, f"/raw/claude/{ID}?seq=1").text


def test_a_line_with_more_secrets_than_can_be_masked_is_not_shown_until_that_is_asked_for(
    tmp_path: Path,
) -> None:
    many = "\n".join(f'password = "{n:05d}kJ8vQz{n * 7919:08x}"' for n in range(1_200))
    app = app_over(tmp_path, user("a", None, many))
    for address in (f"/raw/claude/{ID}?seq=1", FILE):
        answer = get(app, address)
        assert (answer.status, "(more secrets than can be masked stand here)" in answer.text) == (200, True)
        assert "kJ8vQz" not in answer.text
        assert "kJ8vQz" in get(app, f"{address}&secrets=shown").text


def test_of_an_endless_line_the_page_says_where_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_over(tmp_path, user("a", None, "short"), user("b", "a", "long " * 1_000))
    monkeypatch.setattr(conversation_lines, "KEPT_BYTES", 2_000)
    monkeypatch.setattr(conversation_lines, "HEAD_BYTES", 1_000)
    page = get(app, f"/raw/claude/{ID}?seq=2").text
    start = len(log([user("a", None, "short")])) + 1
    assert f"All of it stands in the log, from byte {start} on." in page
    assert (AREA in page, "as=file" in page) == (False, False)


def test_the_path_of_a_log_need_not_be_text(tmp_path: Path) -> None:
    app = _app_over_odd_folders(tmp_path)
    rows = get(app, f"/_/s/claude/{ID}/rows?from=1&n=50&all=1")
    assert (rows.status, "-two?" in rows.text) == (200, True)
    for address in (f"/s/claude/{ID}", f"/raw/claude/{ID}?seq=1", f"/_/s/claude/{ID}/call?seq=1&n=0"):
        assert get(app, address).status == 200, address


def _app_over_odd_folders(tmp_path: Path) -> Starlette:
    for name, uuid in ((b"-one\xff", "a"), (b"-two\xff", "b")):
        folder = os.fsencode(tmp_path / "logs/projects") + b"/" + name
        os.makedirs(folder)
        path = Path(os.fsdecode(folder)) / f"{ID}.jsonl"
        path.write_bytes(log([reply(uuid, None, f"m{uuid}", use(f"t{uuid}", command="ls"))]) + b"\n")
    return app_of(ROUTES, site_over(tmp_path / "logs", tmp_path / "home"))


def test_what_went_wrong_is_said_in_text_that_can_be_sent() -> None:
    async def app(scope, receive, send):  # type: ignore[no-untyped-def]
        answer = said_so(Request(scope), 404, "Not there", "no log is called \udcff")
        await answer(scope, receive, send)

    answer = ask(app, "GET", "/_/s/x")
    assert (answer.status, answer.text) == (404, "Not there: no log is called ?\n")
