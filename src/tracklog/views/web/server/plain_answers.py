"""Responses without the frame, for clients that are not signed in, or if the frame itself fails.

The frame's style and scripts are behind the token, so these pages do without. They contain only words of ours.
"""

from __future__ import annotations

import json
import re
from html import escape
from http import HTTPStatus
from typing import NamedTuple

from starlette.responses import HTMLResponse, PlainTextResponse, Response

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
{head}<title>{title} · tracklog</title>
</head>
<body>
<main>
<h1>{title}</h1>
{text}
</main>
</body>
</html>
"""


class RefusedRequest(NamedTuple):
    """Why a request is refused, in words for people."""

    status: int
    title: str
    text: str
    leads_on: bool = False  # whether a click may lead on, after a link from another site


def is_for_programs(path: str) -> bool:
    """Whether an address is read by scripts, not by people."""
    return path.startswith(("/_/", "/static/"))


def is_of_the_api(path: str) -> bool:
    """Whether this is an address of the API, which answers in JSON."""
    return path == "/api" or path.startswith("/api/")


def refusal_answer(refusal: RefusedRequest, path: str) -> Response:
    """The response to a refused request, in the form that is expected at its address."""
    if is_of_the_api(path):
        return error_document(refusal.status, f"{refusal.title}: {refusal.text}")
    if is_for_programs(path):
        return PlainTextResponse(f"{refusal.title}: {refusal.text}\n", refusal.status)
    on = '<p><a href="">Go on to this page of tracklog</a></p>\n' if refusal.leads_on else ""
    text = re.sub("`(.+?)`", r"<code>\1</code>", escape(refusal.text))
    return plain_page(refusal.status, refusal.title, f"<p>{text}</p>\n{on}")


def plain_page(status: int, title: str, text: str, *, goes_to: str | None = None) -> Response:
    """A page of our own words, which may lead on to another by itself."""
    head = f'<meta http-equiv="refresh" content="0;url={goes_to}">\n' if goes_to else ""
    return HTMLResponse(_PAGE.format(head=head, title=title, text=text), status)


def error_document(status: int, text: str) -> Response:
    """An error of the API as JSON, which is ASCII like all our JSON."""
    document = {"schema_version": 1, "error": text, "status": status}
    return Response(json.dumps(document) + "\n", status, media_type="application/json")


def phrase(status: int) -> str:
    """The name of an HTTP status."""
    return HTTPStatus(status).phrase.capitalize()
