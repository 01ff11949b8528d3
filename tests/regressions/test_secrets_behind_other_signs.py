"""Passwords passed `redact` and `scan` where the name stood as always, and something unusual beside the value.

Found by trying 130 ways to set a password in 37 ways to print a text: an option of a command behind `grep -n` or in a diff,
`ENV NAME value` at the end of a JSON string, a blank that does not break (raw, `&nbsp;`, `\\u00a0`) behind the colon, the
markup of a ticket that ends the value, a raw string of Python, a value that is used where a setting is missing, blocks and
tags of YAML, and name and value in two fields with a third between them or in two lines that `grep` has numbered.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import pytest

from tracklog.secrets.find import find

VALUE, TOKEN = "kT9vXq2LmR7wZs4P", "h7mwYYAdDx5lw3bzYVccd5pU3vq7MqS2"
NBSP = "\u00a0"
SETTINGS = [
    f"--password {VALUE}",
    f"--token {TOKEN}",
    f"setenv DB_PASSWORD {VALUE}",
    f"setx DB_PASSWORD {VALUE}",
    f"ENV API_TOKEN {TOKEN}",
    f"mysql -u root -p'{VALUE}' shop",
    f'os.environ.get("DB_PASSWORD", "{VALUE}")',
    f"process.env.DB_PASSWORD || '{VALUE}'",
    f"getenv('DB_PASSWORD') ?: '{VALUE}'",
    f"DB_PASSWORD: ${{DB_PASSWORD:-{VALUE}}}",
    f"DB_PASSWORD ?= {VALUE}",
    f'os.environ.get("API_KEY", "{TOKEN}")',
    f'password = r"{VALUE}"',
    f'api_key = f"{TOKEN}"',
    f"password: !!str {VALUE}",
    f"password: |\n  {VALUE}",
    f"- name: DB_PASSWORD\n  value: {VALUE}",
    f"- name: API_TOKEN\n  value: {TOKEN}",
    f'{{"Name": "/prod/DB_PASSWORD", "Type": "SecureString", "Value": "{VALUE}"}}',
]
PLIST = f"<key>Password</key>\n<string>{VALUE}</string>"


def _numbered(text: str) -> str:
    return "".join(f"a.yml:{n}:{line}\n" for n, line in enumerate(text.splitlines(), 1))


PRINTED: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "in a JSON string": lambda text: json.dumps({"content": text}),
    "by grep": _numbered,
    "by grep, in a JSON string": lambda text: json.dumps({"content": _numbered(text)}),
    "in a diff": lambda text: "".join(f"    +{line}\n" for line in text.splitlines()),
    "on a page": lambda text: f"<p>{html.escape(text)}</p>",
    "in a ticket": lambda text: f"{{code:bash}}\n{text}\n{{code}}",
    "in a forum": lambda text: f"[code]\n{text}[/code]",
    "in an environment": lambda text: f"A=1\0{text}\0B=2",
}


@pytest.mark.parametrize("printed", PRINTED)
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_value_is_found(setting: str, printed: str) -> None:
    text = PRINTED[printed](setting).encode()
    (found,) = find(text).found
    rest = text[: found.start] + text[found.end :]
    assert VALUE.encode() in found.value or TOKEN.encode() in found.value
    assert VALUE.encode() not in rest
    assert TOKEN.encode() not in rest


@pytest.mark.parametrize("printed", sorted(PRINTED.keys() - {"on a page"}))
def test_a_password_in_a_list_of_properties_is_found(printed: str) -> None:
    (found,) = find(PRINTED[printed](PLIST).encode()).found
    assert found.value == VALUE.encode()


@pytest.mark.parametrize("blank", [NBSP, "&nbsp;", "&#160;", "&#xA0;", "\\u00a0"])
@pytest.mark.parametrize("setting", [f"password:{{}}{VALUE}", f'db_password{{}}={{}}"{VALUE}"'])
def test_a_blank_that_does_not_break_is_a_blank(setting: str, blank: str) -> None:
    (found,) = find(setting.replace("{}", blank).encode()).found
    assert found.value == VALUE.encode()


@pytest.mark.parametrize("end", ["{code}", "{noformat}", "[/code]", "[/pre]"])
def test_markup_ends_a_value(end: str) -> None:
    (found,) = find(f"DB_PASSWORD={VALUE}{end}".encode()).found
    assert found.value == VALUE.encode()
