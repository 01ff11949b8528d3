"""Secrets of every kind, planted in every place and disguise: none is left, and nothing else is touched."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.redaction.leaks import leaks_in
from tests.redaction.planted import NO_JSON, PLACES, TOUCHED, VALUE_ALONE, Piece, Plant, plants, session_of
from tracklog.model.redact import Redactor

KEY = bytes(range(32))
_PLACEHOLDER = re.compile("«secret:[a-z0-9-]+:[0-9a-f]{8}»".encode())
WINDOW = 1 << 20  # of what is cleaned at once, when it comes in chunks

# All tests of a kind in one process: its session is made and cleaned once.
of_every_kind = pytest.mark.parametrize(
    "plant",
    [
        pytest.param(plant, id=plant.kind, marks=pytest.mark.xdist_group(f"planted-{plant.kind}"))
        for plant in plants()
    ],
)


@cache
def cleaned(plant: Plant) -> dict[str, bytes]:
    """The session after cleaning: all of it is learned first."""
    redactor = Redactor(key=KEY)
    session = session_of(plant)
    redactor.learn(b"\n".join(piece.data for piece in session.values()))
    return {place: redactor.clean(piece.data) for place, piece in session.items()}


def leaks(plant: Plant, pieces: dict[str, bytes]) -> Iterator[str]:
    for place, data in pieces.items():
        yield from (f"{plant.kind} in {place}: {way}" for way in leaks_in(data, plant.value.encode()))


def test_there_are_more_than_thirty_places_and_eighty_kinds() -> None:
    assert len(PLACES) >= 36
    assert len({plant.kind for plant in plants()}) >= 80


@of_every_kind
def test_a_planted_secret_is_left_nowhere(plant: Plant) -> None:
    assert list(leaks(plant, cleaned(plant))) == []


@of_every_kind
def test_a_secret_with_its_surroundings_is_found_in_each_place_alone(plant: Plant) -> None:
    alone = {
        place: Redactor(key=KEY).clean(piece.data)
        for place, piece in session_of(plant).items()
        if place not in VALUE_ALONE
    }
    assert list(leaks(plant, alone)) == []


@of_every_kind
def test_what_stands_around_a_secret_is_untouched(plant: Plant) -> None:
    session = session_of(plant)
    kept = {place: _is_kept(session[place], data) for place, data in cleaned(plant).items()}
    assert [place for place, is_kept in kept.items() if not is_kept and place not in TOUCHED] == []


@of_every_kind
def test_every_place_holds_a_placeholder_afterwards(plant: Plant) -> None:
    assert [place for place, data in cleaned(plant).items() if not _PLACEHOLDER.search(data)] == []


def _is_kept(piece: Piece, data: bytes) -> bool:
    return (
        data.startswith(piece.before)
        and data.endswith(piece.after)
        and len(data) >= len(piece.before + piece.after)
    )


@of_every_kind
def test_a_cleaned_line_is_still_json(plant: Plant) -> None:
    for place, data in cleaned(plant).items():
        if place not in NO_JSON:
            json.loads(data)


@of_every_kind
def test_a_value_has_the_same_placeholder_everywhere(plant: Plant) -> None:
    placeholders = {place: frozenset(_PLACEHOLDER.findall(data)) for place, data in cleaned(plant).items()}
    usual = placeholders["a prompt"]
    other = {place: held - usual for place, held in placeholders.items() if place not in TOUCHED}
    assert {place: held for place, held in other.items() if held} == {}


@of_every_kind
def test_cleaning_twice_changes_nothing(plant: Plant) -> None:
    once = b"\n".join(cleaned(plant).values())
    assert Redactor(key=KEY).clean(once) == once


def test_one_session_with_all_kinds_is_clean_and_each_value_has_its_own_placeholder() -> None:
    redactor = Redactor(key=KEY)
    lines = [piece.data for plant in plants() for piece in _some(plant)]
    for line in lines:
        redactor.learn(line)
    after = b"".join(map(redactor.clean, lines))
    assert [plant.kind for plant in plants() if plant.value.encode() in after] == []
    values = {plant.value for plant in plants()}  # some examples of several rules are the same
    assert len(set(_PLACEHOLDER.findall(after))) >= len(values)


def _some(plant: Plant) -> list[Piece]:
    session = session_of(plant)
    return [session["a prompt"], session["arguments of a call"], session["a file's name"]]


@pytest.mark.parametrize("size", [1, 3, 64, 1000])
def test_chunks_of_any_size_are_cleaned_as_the_whole_is(size: int) -> None:
    whole = b"".join(piece.data for plant in plants()[::7] for piece in _some(plant))
    pieces = (whole[at : at + size] for at in range(0, len(whole), size))
    assert b"".join(Redactor(key=KEY).chunks(pieces)) == Redactor(key=KEY).clean(whole)


@pytest.mark.parametrize("kind", ["private-key", "jwt", "github-pat", "anthropic-api-key", "secret-in-env"])
def test_a_secret_that_lies_across_two_windows_is_found(kind: str) -> None:
    plant = next(one for one in plants() if one.kind == kind)
    for inside in (1, len(plant.text) // 2, len(plant.text) - 1):
        padding = b"some words \n" * ((WINDOW - inside) // 12) + b" " * ((WINDOW - inside) % 12)
        data = padding + plant.text.encode() + b"\n" + b"more words \n" * 30_000
        chunks = (data[at : at + 65_536] for at in range(0, len(data), 65_536))
        after = b"".join(Redactor(key=KEY).chunks(chunks))
        assert leaks_in(after[WINDOW - 200 : WINDOW + 200], plant.value.encode()) == []
        assert after.startswith(padding)
        assert after.endswith(b"\n" + b"more words \n" * 30_000)


def test_a_session_without_secrets_comes_out_as_it_went_in() -> None:
    harmless = Plant("none", "nothing to see", "nothing")
    for place, piece in session_of(harmless).items():
        assert (place, Redactor(key=KEY).clean(piece.data)) == (place, piece.data)


def test_the_search_for_leaks_finds_them() -> None:
    value = b"kx7Qp2mZ9vLr4TnW"
    told = {
        "raw": b"it is " + value,
        "raw, JSON": b"\\u006b" + value[1:4] + b"\\u0051" + value[5:],
        "raw, base64": base64.b64encode(b"xx" + value + b"yy"),
        "raw, hex": b"0" + value.hex().encode(),
    }
    told = {way: data for way, data in told.items() if way in leaks_in(data, value)}
    assert sorted(told) == ["raw", "raw, JSON", "raw, base64", "raw, hex"]
