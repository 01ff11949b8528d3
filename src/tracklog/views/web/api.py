"""Answer `/api/v1/…` with the documents that `--json` prints, for programs.

Rules
  1. The command line answers, in a separate process: each document has one shape, and no query blocks the pages.
  2. From outside come only values of the options in the table here, and names of sessions, never paths.
  3. Two queries run at a time; a few more wait.
  4. The index is brought up to date before it is queried, except when that takes long.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from tracklog.errors import NOT_FINE, WRONG_USE, UserError
from tracklog.index.tables_health import totals
from tracklog.views.text.printing import SCHEMA_VERSION, safe_lines, talk
from tracklog.views.web.server.plain_answers import error_document
from tracklog.views.web.site import Site, site_of

MOST_AT_ONCE = 2
MOST_WAITING = 16
LONGEST_S = 120.0

_SESSION = re.compile(r"@last|(?!.*\.json)[0-9A-Za-z][0-9A-Za-z_.:-]{0,199}")
_WORD = re.compile(r"[0-9A-Za-z][\w.:+/-]{0,99}")  # a zone has a slash
_NUMBER = re.compile(r"[0-9]{1,9}")
_TEXT = re.compile(r"[^\0-\x1f]{1,1000}")
_YES = re.compile(r"|1|true|yes")

_FILTERS = {"since": _TEXT, "until": _TEXT, "project": _TEXT, "model": _TEXT, "agent": _WORD}
_ONE = {"agent": _WORD}


class ApiCommand(NamedTuple):
    """A command that the API offers, and its options."""

    options: dict[str, re.Pattern[str]]  # the flags are those that take a yes
    takes: re.Pattern[str] | None = None  # what the address may name
    needs_it: bool = False
    syncs: bool = False  # whether the command would bring the index up to date: the server does that itself, before it asks
    is_answer_anyway: bool = (
        False  # whether its document is the answer even where the command does not end well
    )


QUESTIONS = {
    "places": ApiCommand(_ONE),
    "doctor": ApiCommand(_ONE, is_answer_anyway=True),
    "sessions": ApiCommand({**_FILTERS, "limit": _NUMBER}, syncs=True),
    "show": ApiCommand(
        {**_FILTERS, "thinking": _YES, "branch": _WORD, "thread": _WORD}, takes=_SESSION, needs_it=True
    ),
    "final": ApiCommand({**_FILTERS, "last-text": _YES}, takes=_SESSION, needs_it=True),
    "calls": ApiCommand(
        {**_FILTERS, "tool": _TEXT, "verdict": _WORD, "slow": _NUMBER, "limit": _NUMBER},
        takes=_SESSION,
        syncs=True,
    ),
    "agents": ApiCommand(_FILTERS, takes=_SESSION, needs_it=True),
    "graph": ApiCommand(_FILTERS, takes=_SESSION, needs_it=True),
    "usage": ApiCommand(
        {
            **_FILTERS,
            "zone": _WORD,
            "cost": _WORD,
            "count": _WORD,
            "as-model": _TEXT,
            "as-of": _WORD,
            "uncertain": _YES,
            "by": _WORD,
            "reverse": _YES,
            "limit": _NUMBER,
        },
        takes=_WORD,
        syncs=True,
    ),
    "search": ApiCommand(
        {**_FILTERS, "limit": _NUMBER, "by": _WORD, "regex": _YES}, syncs=True, is_answer_anyway=True
    ),
    "top": ApiCommand({**_ONE, "all": _YES}),
    "prices": ApiCommand({}, takes=_TEXT),
}


def routes() -> list[BaseRoute]:
    """The routes of the API."""
    line = _Line()
    return [
        Route("/api/v1", _names),
        Route("/api/v1/index", _index),
        Route("/api/v1/{name}", line.answer),
        Route("/api/v1/{name}/{what}", line.answer),
    ]


def _names(request: Request) -> Response:  # noqa: ARG001 (starlette's signature)
    return _document({"questions": {name: sorted(one.options) for name, one in QUESTIONS.items()}})


def _index(request: Request) -> Response:
    """The figures of `tracklog index`, and how fresh the index is."""
    site = site_of(request)
    site.indexing.catch_up()
    with site.reading() as database:
        known = totals(database.db, site.scope)._asdict() if database is not None else {}
    return _document({**known, "status": asdict(site.indexing.status())})


class _Line:
    """A queue of requests: two are answered at a time."""

    def __init__(self) -> None:
        self._n_there = 0
        self._places = asyncio.Semaphore(MOST_AT_ONCE)

    async def answer(self, request: Request) -> Response:
        """Answers one request."""
        name, what = request.path_params["name"], request.path_params.get("what")
        if name not in QUESTIONS:
            return error_document(404, f"no such question: ask for {', '.join([*QUESTIONS, 'index'])}")
        try:
            words = words_for(name, what, request.query_params.multi_items())
        except UserError as error:
            return error_document(400, str(error))
        if self._n_there >= MOST_AT_ONCE + MOST_WAITING:
            return error_document(503, "too many questions at once: ask again in a moment")
        self._n_there += 1
        try:
            if QUESTIONS[name].syncs:
                await asyncio.to_thread(site_of(request).indexing.catch_up)
            async with self._places:
                return await _asked(QUESTIONS[name], [*_where(site_of(request)), *words])
        finally:
            self._n_there -= 1


def words_for(name: str, what: str | None, given: Iterable[tuple[str, str]]) -> list[str]:
    """The arguments of the command line for this request."""
    question = QUESTIONS[name]
    options: list[str] = []
    for key, value in given:
        if name == "search" and key == "q":
            what = value
        else:
            options.append(_option(question, key.replace("_", "-"), value))
    takes = _TEXT if name == "search" else question.takes
    if what is None and (question.needs_it or name == "search"):
        raise UserError("say what to search for: ?q=" if name == "search" else f"name a session: {name}/ID")
    if what is not None and (takes is None or not takes.fullmatch(what)):
        raise UserError(f"{what[:60]!r} is not to be asked for here")
    if what is not None and name == "search":
        what = _said_plainly(what, is_pattern="--regex" in options)
    syncs = ["--no-sync"] if question.syncs else []
    return [name, "--json", *syncs, *options, *([] if what is None else ["--", what])]


def _said_plainly(text: str, *, is_pattern: bool) -> str:
    """The query, escaped if it looks like a mistyped option, which `tracklog search` refuses even after `--`."""
    if not text.startswith("--"):
        return text
    return f"\\{text}" if is_pattern else f" {text}"


def _option(question: ApiCommand, key: str, value: str) -> str:
    pattern = question.options.get(key)
    if pattern is None:
        raise UserError(f"no such parameter: {key[:60]!r}; there are: {', '.join(question.options)}")
    if not pattern.fullmatch(value):
        raise UserError(f"{key} cannot be {value[:60]!r}")
    return f"--{key}" if pattern is _YES else f"--{key}={value}"


def _where(site: Site) -> list[str]:
    folders = dict.fromkeys(root.path / root.part if root.part else root.path for root in site.roots)
    return [f"--home={site.home.path}", *(f"--root={folder}" for folder in folders)]


async def _asked(question: ApiCommand, words: list[str]) -> Response:
    """Runs the command line with these arguments and answers with its output."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        "tracklog.views.web.api_child",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(LONGEST_S):
            out, err = await child.communicate(json.dumps(words).encode())
    except TimeoutError:
        return error_document(504, f"no answer within {LONGEST_S:g} seconds: ask for less")
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return _answer_of(question, child.returncode, out, err.decode("utf-8", "replace"))


def _answer_of(question: ApiCommand, code: int | None, out: bytes, err: str) -> Response:
    if code == 0 or (code == NOT_FINE and out and question.is_answer_anyway):
        return Response(out, media_type="application/json")
    said = [line.removeprefix("tracklog: ") for line in err.splitlines() if line.startswith("tracklog: ")]
    if code in (NOT_FINE, WRONG_USE):
        return error_document(404 if code == NOT_FINE else 400, said[-1] if said else "not there")
    for line in safe_lines(err):  # ours, with its traceback
        talk(line)
    return error_document(500, "a mistake of tracklog's: it is printed where `tracklog serve` runs")


def _document(document: dict[str, Any]) -> Response:
    whole = {"schema_version": SCHEMA_VERSION, **document}
    return Response(json.dumps(whole, indent=2) + "\n", media_type="application/json")
