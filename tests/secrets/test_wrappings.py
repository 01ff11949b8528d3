"""A secret of every kind in everything that tools print around a text: no line of it comes through."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from tests.secrets.leaks import leaks_in
from tests.secrets.planted import Plant, plants
from tests.secrets.wrappings import TERMINALS, WRAPPINGS, lines_of
from tracklog.secrets.redact import Redactor

KEY = bytes(range(32))
_PART = 8  # one of so many wrappings is tried with each kind; soak runs try all

NAMES = [
    "password",
    "Password",
    "db_password",
    "DB_PASSWORD",
    "DB_PASS",
    "db_pass",
    "smtp_pass",
    "SMTP_PASS",
    "dbPass",
    "pass",
    "pwd",
    "DB_PWD",
    "psk",
    "wpa_passphrase",
    "Enter·password",
    "passwort",
    "Passwort",
    "Kennwort",
    "mot·de·passe",
    "mot_de_passe",
    "contraseña",
    "contrasena",
    "senha",
    "wachtwoord",
    "lösenord",
    "hasło",
    "parola",
    "şifre",
    "пароль",
    "Пароль",
    "密码",
    "パスワード",
    "비밀번호",
    "passcode",
    "[sudo]·password·for·ada",
]
LEAST_ENCODED = 18  # bytes that are 24 letters of base64: shorter ones look like words
OF_ASCII = {  # in these a name of other letters is not seen
    "base64 of a file", "base64 in lines", "base64 in grep", "a secret of Kubernetes", "a data URL", "Unicode escapes",
    "Python repr of bytes",
}  # fmt: skip
SPELLINGS = [
    "{n}: {v}", "{n}={v}", "{n} = {v}", "{n}:{v}", '"{n}": "{v}"', "'{n}': '{v}'", '{n}="{v}"', "{n}={v} ./run",
    "{n}: {v}, and more", "<{n}>{v}</{n}>", "- {n}: {v}\n- x: 1", '{n} := "{v}"', "**{n}:** `{v}`", "| {n} | {v} |",
]  # fmt: skip
NAMED = [
    Plant(
        f"{name} as {spelling!r}", spelling.format(n=name.replace("·", " "), v="kT9vQ2mLx7Zr"), "kT9vQ2mLx7Zr"
    )
    for name in NAMES
    for spelling in SPELLINGS
]


def in_a_log(text: str) -> str:
    return json.dumps(
        {"message": {"content": [{"type": "tool_result", "content": text}]}}, ensure_ascii=False
    )


def leaks(plant: Plant, text: str) -> list[str]:
    """The ways in which a line of the secret can still be had from the text, cleaned alone or as a line of a log."""
    cleaned = [Redactor(key=KEY).clean(one.encode()) for one in (text, in_a_log(text))]
    return [way for data in cleaned for line in lines_of(plant) for way in leaks_in(data, line)]


def test_there_are_a_hundred_kinds_and_twenty_wrappings() -> None:
    assert len({plant.kind for plant in plants()}) >= 100
    assert len(WRAPPINGS) >= 100


def left_in(plant: Plant, names: Iterable[str]) -> list[str]:
    """The wrappings in which something of the secret is left."""
    return [name for name in names if leaks(plant, WRAPPINGS[name](plant.text))]


def left_of(found: Iterable[tuple[Plant, Iterable[str]]]) -> dict[str, list[str]]:
    """The kinds of which something is left in one of their wrappings."""
    left = ((plant.kind, left_in(plant, names)) for plant, names in found)
    return {kind: names for kind, names in left if names}


@pytest.mark.parametrize("part", range(_PART))
def test_a_secret_of_every_kind_is_found_in_a_part_of_the_wrappings(part: int) -> None:
    names = list(WRAPPINGS)[part::_PART]
    assert left_of((plant, names) for plant in plants()[part::_PART]) == {}


@pytest.mark.soak
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_secret_of_every_kind_is_found_in_every_wrapping(wrapping: str) -> None:
    assert left_of((plant, [wrapping]) for plant in plants()) == {}


def test_a_private_key_is_found_in_every_wrapping() -> None:
    plant = next(one for one in plants() if one.kind == "rsa-private-key")
    assert left_in(plant, WRAPPINGS) == []


@pytest.mark.parametrize("columns", TERMINALS)
def test_a_private_key_is_found_where_a_terminal_breaks_its_lines(columns: str) -> None:
    keys = [one for one in plants() if one.text.startswith("-----BEGIN")]
    rows = {one.kind: TERMINALS[columns](WRAPPINGS["grep -rn"](one.text)) for one in keys}
    assert [(one.kind, rows[one.kind]) for one in keys if leaks(one, rows[one.kind])] == []


def test_a_random_password_is_found_behind_each_of_its_names() -> None:
    assert [plant.kind for plant in NAMED if leaks(plant, plant.text)] == []


def readable_in(plant: Plant, names: Iterable[str]) -> list[str]:
    """The wrappings in which the name can be seen at all."""
    is_short = len(plant.text) < LEAST_ENCODED or not plant.text.isascii()
    return [name for name in names if not (is_short and name in OF_ASCII)]


def test_a_named_password_is_found_in_a_wrapping() -> None:
    n_all = len(WRAPPINGS)
    tried = (
        (plant, readable_in(plant, list(WRAPPINGS)[n % n_all :: n_all])) for n, plant in enumerate(NAMED)
    )
    assert left_of(tried) == {}


@pytest.mark.soak
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_a_named_password_is_found_in_every_wrapping(wrapping: str) -> None:
    assert left_of((plant, readable_in(plant, [wrapping])) for plant in NAMED) == {}
