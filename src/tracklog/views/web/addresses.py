"""Read filters, order and position from the address of a list, and make addresses with changes.

Rules
  1. Everything that a list shows is in its address, and nothing else is.
  2. Another filter or order starts at the first page.
  3. An invalid value is reported, with a link that leads on; nothing is guessed.
"""

from __future__ import annotations

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.scope.filters import moment_meant
from tracklog.views.html.legible import shown
from tracklog.views.web.frame import NextLink, problem

_LONGEST = 400  # letters of a value
_LONGEST_PLACE = 8_000  # of the position to continue from: a letter of a title takes up to sixteen


class NotMeant(Exception):  # noqa: N818 - what it says of a value
    """An invalid value in an address."""

    def __init__(self, name: str, words: str) -> None:
        super().__init__(words)
        self.name = name


class PageUrl:
    """The address of a page with its parameters."""

    def __init__(self, path: str, given: Mapping[str, str]) -> None:
        self.path = path
        self.given = given

    def __call__(self, **changes: str | None) -> str:
        """The address with changed parameters, from the first page on; None removes a filter."""
        asked = {
            name: value for name, value in {**self.given, **changes}.items() if value and name != "after"
        }
        return self._with(asked)

    def go_on(self, after: str) -> str:
        """The address of the next page."""
        return self._with({**self.given, "after": after})

    def _with(self, asked: Mapping[str, str]) -> str:
        words = urlencode(asked, quote_via=quote, errors="replace")
        return f"{self.path}?{words}" if words else self.path

    def without(self, *names: str) -> str:
        """The address without some filters."""
        return self(**dict.fromkeys(names))


def given_in(request: Request, names: Iterable[str]) -> dict[str, str]:
    """The known parameters of an address; of several values the last."""
    said = request.query_params
    most = dict.fromkeys(names, _LONGEST) | {"after": _LONGEST_PLACE}
    return {name: value for name in names if (value := said.get(name, "").strip()[: most[name]])}


def as_typed(value: str) -> str:
    """A value of a log as a form field shows and sends it: with hidden characters spelled out."""
    return shown(value)[:_LONGEST].strip()


def moment_in(given: Mapping[str, str], name: str, *, now: datetime) -> int | None:
    """The moment of a filter, in milliseconds. Raises NotMeant."""
    if name not in given:
        return None
    try:
        moment = moment_meant(given[name], now=now, is_end=name == "until")
        return int(moment.timestamp() * 1000)
    except ValueError:
        raise NotMeant(
            name, f"“{given[name]}” is no time: give a day such as 2026-03-01, or 7d, 12h, 30m."
        ) from None


def order_in(given: Mapping[str, str], orders: Iterable[str], *, default: str) -> tuple[str, bool]:
    """The requested order, and whether it descends. Raises NotMeant."""
    said = given.get("sort", default)
    sort, is_descending = said.removeprefix("-"), said.startswith("-")
    known = list(orders)
    if sort not in known:
        raise NotMeant("sort", f"There is no order “{sort}”: one can sort by {', '.join(known)}.")
    return sort, is_descending


def packed(values: Iterable[Any]) -> str:
    """Encodes the position where a page ended, for an address."""
    text = json.dumps(list(values), separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def unpacked(given: Mapping[str, str]) -> list[Any] | None:
    """Decodes the position to continue from; None: from the beginning. Raises NotMeant."""
    if "after" not in given:
        return None
    after = given["after"]
    try:
        values = json.loads(urlsafe_b64decode(after + "=" * (-len(after) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        values = None
    if not isinstance(values, list):
        raise wrong_place()
    return values


def wrong_place() -> NotMeant:
    """The error for an invalid position in an address."""
    return NotMeant("after", "This address does not say where the list goes on: begin at its first page.")


def said_what_is_not_meant(request: Request, wrong: NotMeant, address: PageUrl) -> Response:
    """The page about an invalid value, with a link without it."""
    way = NextLink(address.without(wrong.name), "The list without it")
    return problem(request, 400, "Not understood", str(wrong), ways=[way])
