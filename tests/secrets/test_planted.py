"""Secrets of every kind, planted in every place and disguise: none is left, and nothing else is touched."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator

import pytest

from tests.secrets.leaks import leaks_in
from tests.secrets.planted import NO_JSON, PLACES, TOUCHED, VALUE_ALONE, Piece, Plant, plants, session_of
from tests.soak import IS_SOAK
from tracklog.secrets.redact import Redactor

KEY = bytes(range(32))
_PLACEHOLDER = re.compile("«secret:[a-z0-9-]+:[0-9a-f]{8}»".encode())
WINDOW = 1 << 20  # of what is cleaned at once, when it comes in chunks
_PART = 4  # one of so many places is tried alone; so many tests share the kinds
_BETWEEN = b"\n\x01\n"  # lines of its own between two places

in_parts = pytest.mark.parametrize("part", range(_PART))


def cleaned(session: dict[str, Piece]) -> dict[str, bytes]:
    """Learn a whole session, then clean it in one go; the result for each place."""
    redactor = Redactor(key=KEY)
    whole = _BETWEEN.join(piece.data for piece in session.values())
    redactor.learn(whole)
    return dict(zip(session, redactor.clean(whole).split(_BETWEEN), strict=True))


def leaks(plant: Plant, pieces: dict[str, bytes]) -> Iterator[str]:
    for place, data in pieces.items():
        yield from (f"{plant.kind} in {place}: {way}" for way in leaks_in(data, plant.value.encode()))


def test_there_are_more_than_thirty_places_and_eighty_kinds() -> None:
    assert len(PLACES) >= 36
    assert len({plant.kind for plant in plants()}) >= 80


@in_parts
def test_a_planted_secret_is_replaced_everywhere_and_nothing_else_changes(part: int) -> None:
    wrong = {plant.kind: list(_wrong_about(plant)) for plant in plants()[part::_PART]}
    assert {kind: complaints for kind, complaints in wrong.items() if complaints} == {}


def _wrong_about(plant: Plant) -> Iterator[str]:
    """What is wrong with a cleaned session that holds this secret in every place."""
    session = session_of(plant)
    clean = cleaned(session)
    placeholders = {place: frozenset(_PLACEHOLDER.findall(data)) for place, data in clean.items()}
    of_others = {place: held - placeholders["a prompt"] for place, held in placeholders.items()}
    once = b"\n".join(clean.values())
    yield from leaks(plant, clean)
    for place, data in clean.items():
        if not placeholders[place]:
            yield f"{place}: no placeholder"
        if of_others[place] and place not in TOUCHED:
            yield f"{place}: a placeholder of another value"
        if not _is_kept(session[place], data) and place not in TOUCHED:
            yield f"{place}: what stands around it changed"
        if not _is_json(data) and place not in NO_JSON:
            yield f"{place}: no JSON"
    if Redactor(key=KEY).clean(once) != once:
        yield "cleaning twice changed something"


@in_parts
def test_a_secret_with_its_surroundings_is_found_in_each_place_alone(part: int) -> None:
    """Each kind is tried in a part of the places, each place with a part of the kinds; a soak run tries all."""
    found = [complaint for plant in plants()[part::_PART] for complaint in _left_alone(plant, part)]
    assert found == []


def _left_alone(plant: Plant, part: int) -> Iterator[str]:
    places = [(place, piece) for place, piece in session_of(plant).items() if place not in VALUE_ALONE]
    tried = places if IS_SOAK else places[part::_PART]
    yield from leaks(plant, {place: Redactor(key=KEY).clean(piece.data) for place, piece in tried})


def _is_kept(piece: Piece, data: bytes) -> bool:
    return (
        data.startswith(piece.before)
        and data.endswith(piece.after)
        and len(data) >= len(piece.before + piece.after)
    )


def _is_json(data: bytes) -> bool:
    try:
        json.loads(data)
    except ValueError:
        return False
    return True


def test_one_session_with_all_kinds_is_clean_and_each_value_has_its_own_placeholder() -> None:
    redactor = Redactor(key=KEY)
    session = b"".join(piece.data for plant in plants() for piece in _some(plant))
    redactor.learn(session)
    after = redactor.clean(session)
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
