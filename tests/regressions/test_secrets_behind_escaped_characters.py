"""A key between NUL bytes came through `redact` and `scan`.

An agent read `/proc/1/environ`. In the log a NUL is written `\\u0000`, so before the key stood a digit, and every pattern
that asks for a boundary before a value failed. The same held for the BEL behind a link of a terminal, for quotes and
letters that are not ASCII where JSON escapes them (`\\u201c`), and for the escapes of Python and C.
"""

from __future__ import annotations

import json

import pytest

from tracklog.secrets.find import find
from tracklog.secrets.redact import Redactor

TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
SLACK = "xoxb-" + "2345678901-2345678901234-" + "kT9vQ2mLx7ZrB4nW8sYc1dEf"
BETWEEN = [
    "\0",
    "\1",
    "\7",
    "\v",
    "\x1f",
    "\x7f",
    "\u00a0",
    "\u200b",
    "\u2028",
    "\u201c",
    "\u662f",
    "\U0001f511",
]


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("secret", [TOKEN, SLACK])
def test_a_secret_between_escaped_characters_is_found(between: str, secret: str) -> None:
    text = f"A=1{between}{secret}{between}B=2"
    once = json.dumps({"content": text})
    shown = [text, once, json.dumps({"content": once}), repr(text), repr(text.encode()), ascii(text)]
    for one in shown:
        assert [secret.encode() in found.value for found in find(one.encode()).found] == [True], one


@pytest.mark.parametrize("between", ["\\0", "\\000", "\\007"])
def test_a_secret_between_the_escapes_of_c_is_found(between: str) -> None:
    assert len(find(f'"A=1{between}{TOKEN}{between}B=2"'.encode()).found) == 1


def test_what_stands_around_the_secret_stays_as_it_is() -> None:
    line = json.dumps({"content": f"A=1\7{TOKEN}\7B=2"})
    cleaned = Redactor(key=bytes(32)).clean(line.encode()).decode()
    before, after = cleaned.split("«", 1)[0], cleaned.rsplit("»", 1)[1]
    assert (before, after) == ('{"content": "A=1\\u0007', '\\u0007B=2"}')
    json.loads(cleaned)
