"""Answer `/api/v1/…` with the documents that `--json` prints, for programs.

Rules
  1. The server's process answers, by the use cases and documents of the command line (api_questions.py).
  2. Two questions are answered at a time, each in a thread that opens what it reads; a few more wait. Pages have threads
     of their own.
  3. A question is given up after two minutes, or when its client has hung up: one that waits is never begun, one that
     reads logs stops at the next bytes. Until then it keeps its thread.
  4. The index is brought up to date before it is queried, except when that takes long.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from tracklog.app.talk import Progress
from tracklog.errors import NotThere, UserError
from tracklog.views.text.printing import json_text, safe, talk
from tracklog.views.web.api_questions import QUESTIONS, ApiContext, ApiQuery, query_of
from tracklog.views.web.server.access_control import say_what_went_wrong
from tracklog.views.web.server.plain_answers import error_document
from tracklog.views.web.site import Site, site_of

MOST_AT_ONCE = 2
MOST_WAITING = 16
LONGEST_S = 120.0


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
    return _document({"questions": {name: sorted(one.parameters) for name, one in QUESTIONS.items()}})


def _index(request: Request) -> Response:
    """The figures of `tracklog index`, and how fresh the index is."""
    site = site_of(request)
    site.indexing.catch_up()
    known = site.indexing.known()
    figures = {} if known is None else known._asdict()
    return _document({**figures, "status": asdict(site.indexing.status())})


class _GivenUp(BaseException):
    """Nobody waits for the answer any more."""


class _Messages:
    """What a use case says while it answers one question (app/talk.py): only shown beside a mistake of ours."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.is_given_up = False

    def say(self, text: str) -> None:
        self.said.append(text)

    @contextmanager
    def progress(self, label: str) -> Iterator[Progress]:  # noqa: ARG002 (nothing is shown)
        yield self._go_on, self._go_on

    def _go_on(self, n_bytes: int) -> None:  # noqa: ARG002 (nothing is shown)
        if self.is_given_up:
            raise _GivenUp


class _Line:
    """A queue of questions: two are answered at a time."""

    def __init__(self) -> None:
        self._n_there = 0
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "api")

    async def answer(self, request: Request) -> Response:
        """Answers one request."""
        name, what = request.path_params["name"], request.path_params.get("what")
        if name not in QUESTIONS:
            return error_document(404, f"no such question: ask for {', '.join([*QUESTIONS, 'index'])}")
        try:
            asked = query_of(name, what, request.query_params.multi_items())
        except UserError as error:
            return error_document(400, safe(str(error)))
        if self._n_there >= MOST_AT_ONCE + MOST_WAITING:
            return error_document(503, "too many questions at once: ask again in a moment")
        self._n_there += 1
        try:
            if QUESTIONS[name].syncs:
                await asyncio.to_thread(site_of(request).indexing.catch_up)
            return await self._answered(request, asked)
        finally:
            self._n_there -= 1

    async def _answered(self, request: Request, asked: ApiQuery) -> Response:
        """The answer of a thread, unless it takes too long or nobody waits for it."""
        messages = _Messages()
        work = asyncio.get_running_loop().run_in_executor(
            self._threads, _response, asked, site_of(request), messages
        )
        hung_up = asyncio.create_task(_hung_up(request))
        try:
            either: list[asyncio.Future[Any]] = [work, hung_up]
            await asyncio.wait(either, timeout=LONGEST_S, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            return error_document(504, f"no answer within {LONGEST_S:g} seconds: ask for less")
        finally:
            messages.is_given_up = True
            work.cancel()
            hung_up.cancel()


async def _hung_up(request: Request) -> None:
    """Returns when the client has gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _response(asked: ApiQuery, site: Site, messages: _Messages) -> Response:
    """Runs in a thread."""
    try:
        text = QUESTIONS[asked.name].answer(asked, ApiContext(site.home.path, _folders(site), messages))
    except NotThere as error:
        return error_document(404, safe(str(error)))
    except UserError as error:
        return error_document(400, safe(str(error)))
    except Exception:  # a door: one question that fails is said where the server runs, and harms no other
        for line in messages.said:
            talk(line)
        say_what_went_wrong()
        return error_document(500, "a mistake of tracklog's: it is printed where `tracklog serve` runs")
    return Response(f"{text}\n", media_type="application/json")


def _folders(site: Site) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(root.path / root.part if root.part else root.path for root in site.roots))


def _document(document: dict[str, Any]) -> Response:
    return Response(f"{json_text(document)}\n", media_type="application/json")
