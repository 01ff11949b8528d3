"""The files of ours are served by their exact names, and nothing else is."""

from __future__ import annotations

import pytest
from starlette.routing import Route

from tests.cases import for_each
from tests.views.web.asking import Answer, app_of, ask
from tracklog.views.web.frame import STATIC
from tracklog.views.web.server.routes import TYPES, files, static

APP = app_of([Route("/static/{name:path}", static)])


def got(name: str) -> Answer:
    return ask(APP, "GET", f"/static/{name}")


@for_each("name", sorted(path.name for path in STATIC.iterdir()))
def test_every_file_in_the_folder_is_served_as_it_is(name: str) -> None:
    answer = got(name)
    assert (answer.status, answer.body) == (200, (STATIC / name).read_bytes())
    assert answer.header("content-type") == TYPES[(STATIC / name).suffix]


@pytest.mark.parametrize(
    "name",
    [
        "",
        "nothing.css",
        "BASE.CSS",
        "base.css/",
        "./base.css",
        "../frame.py",
        "..%2fframe.py",
        "%2e%2e/frame.py",
        "..\\frame.py",
        "/etc/passwd",
        "base.css%00.js",
        "%ff",
    ],
)
def test_any_other_name_is_not_there(name: str) -> None:
    answer = got(name)
    assert (answer.status, answer.text) == (404, "There is no such file.\n")


def test_a_name_of_two_lines_is_not_there() -> None:
    assert got("base.css%0d%0aX: y").status == 404


def test_only_a_plain_name_of_a_known_kind_is_in_the_table() -> None:
    assert all("/" not in name and name[name.rindex(".") :] in TYPES for name in files())
    assert {"base.css", "keys.js", "favicon.svg"} <= set(files())
