"""What is given out holds nothing secret and nothing private, and is otherwise as it was."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.secrets.test_secrets import BOOK, TOKEN
from tracklog.secrets.identity import Private
from tracklog.secrets.redact import NearMiss, RedactedValue, Redactor, hash_of

KEY = b"k" * 32
HASH = hash_of(KEY, TOKEN)
PLACEHOLDER = f"«secret:token:{HASH[:8]}»".encode()


def redactor(**more: object) -> Redactor:
    return Redactor(key=KEY, book=BOOK, **more)  # type: ignore[arg-type]


def test_a_secret_is_replaced_and_the_rest_stays() -> None:
    assert redactor().clean(b"a\xff " + TOKEN + b" b\n") == b"a\xff " + PLACEHOLDER + b" b\n"


def test_the_hash_is_keyed() -> None:
    other = Redactor(key=b"o" * 32, book=BOOK).clean(TOKEN)
    assert other != PLACEHOLDER
    assert len(other) == len(PLACEHOLDER)


def test_what_was_learned_is_replaced_in_every_shape() -> None:
    ours = redactor()
    ours.learn(b'secret="Tr0ub/4dor&+"')
    plain = b"Tr0ub/4dor&+"
    name = f"«secret:named:{hash_of(KEY, plain)[:8]}»".encode()
    for text in (b"x%sy", b"log-%s.txt", b"+ %s"):
        assert ours.clean(text % plain) == text % name
    assert ours.clean(b"u=Tr0ub%2F4dor%26%2B") == b"u=" + name
    assert ours.clean(b"Tr0ub/4dor&amp;+") == name
    assert ours.clean(plain.hex().encode()) == name
    cleaned = ours.clean(base64.b64encode(b"me:" + plain + b"\n"))
    assert name in cleaned
    assert len(cleaned.replace(name, b"")) <= 8


def test_a_short_value_is_replaced_where_it_was_found_alone() -> None:
    ours = redactor()
    ours.learn(b"secret=a1b2c3")
    assert ours.clean(b"a1b2c3 secret=a1b2c3").startswith("a1b2c3 secret=«".encode())


def test_cleaning_twice_changes_nothing_more() -> None:
    ours = redactor()
    once = ours.clean(b"secret=Tr0ub4dor " + TOKEN)
    assert ours.clean(once) == once


def test_json_stays_json() -> None:
    line = json.dumps({"text": f'say "{TOKEN.decode()}"\n', "inner": json.dumps({"secret": "Tr0ub4dor"})})
    cleaned = json.loads(redactor().clean(line.encode()))
    assert cleaned["text"] == f'say "{PLACEHOLDER.decode()}"\n'
    assert json.loads(cleaned["inner"])["secret"].startswith("«secret:named:")


def test_a_text_with_half_a_letter_stays_one() -> None:
    assert redactor().text(f"\udc80 {TOKEN.decode()}") == f"\udc80 {PLACEHOLDER.decode()}"


def test_private_things_are_replaced_too_and_a_secret_goes_first() -> None:
    ours = redactor(private=[Private("home", b"/home/ferdinand"), Private("email", b"fe@firm.io")])
    cleaned = ours.clean(b"in /home/ferdinand/x, fe@firm.io, secret=/home/ferdinand/Zz9")
    assert b"ferdinand" not in cleaned
    assert b"firm" not in cleaned
    assert cleaned.count("«private:home:".encode()) == 1
    assert cleaned.count("«private:email:".encode()) == 1
    assert cleaned.count("«secret:named:".encode()) == 1


@pytest.mark.parametrize(("kind", "hash", "place"), [("token", HASH, "a:1"), ("token", HASH, None)])
def test_what_is_allowed_is_given_out(kind: str, hash: str, place: str | None) -> None:
    asked: list[tuple[str, str, str | None]] = []

    def allowed(*what: object) -> bool:
        asked.append(what)  # type: ignore[arg-type]
        return True

    ours = redactor(allowed=allowed)
    assert ours.clean(TOKEN, place) == TOKEN
    assert asked == [(kind, hash, place)]
    assert ours.review.replaced == []


def test_the_review_tells_what_was_replaced_and_what_nearly_was() -> None:
    ours = redactor()
    ours.clean(TOKEN + b" " + TOKEN, "a:1")
    ours.clean(TOKEN + b" tk_xxxxxxxx", "b:2")
    assert ours.review.replaced == [RedactedValue("secret", "token", HASH, 3, ("a:1", "b:2"))]
    assert ours.review.missed == [NearMiss("token", "a placeholder", 1, ("b:2",))]


@given(st.lists(st.integers(1, 400), max_size=12), st.integers(0, 300))
def test_chunks_cut_anywhere_give_what_the_whole_gives(sizes: list[int], n_before: int) -> None:
    data = (
        b"." * n_before
        + b" secret=Tr0ub4dor9 "
        + b"\n" * 50
        + TOKEN
        + b" -----BEGIN KEY-----\nabc\n-----END KEY-----"
        + b"x" * 300
    )
    pieces, at = [], 0
    for size in sizes:
        pieces.append(data[at : at + size])
        at += size
    assert b"".join(redactor().chunks([*pieces, data[at:]])) == redactor().clean(data)


def test_much_is_cleaned_window_by_window_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracklog.secrets import redact

    monkeypatch.setattr(redact, "_WINDOW", 512)
    monkeypatch.setattr(redact, "_AHEAD", 256)
    monkeypatch.setattr(redact, "_BEFORE", 64)
    data = b"".join(b"%d secret=Tr0ub4dor%03d; %s\n" % (n, n, TOKEN) for n in range(400))
    assert b"".join(redactor().chunks([data])) == redactor().clean(data)
    assert b"".join(redactor().chunks(data[n : n + 1] for n in range(len(data)))) == redactor().clean(data)


def test_a_long_run_of_base64_is_understood_in_every_window(monkeypatch: pytest.MonkeyPatch) -> None:
    from tracklog.secrets import redact

    monkeypatch.setattr(redact, "_WINDOW", 1024)
    monkeypatch.setattr(redact, "_AHEAD", 256)
    monkeypatch.setattr(redact, "_BEFORE", 100)
    for n_before in range(900, 1100, 7):
        run = base64.b64encode(b"x" * n_before + b" " + TOKEN + b" " + b"y" * 900)
        for before in (b"a: ", b'"\\n'):
            assert PLACEHOLDER in b"".join(redactor().chunks([before + run]))


def test_a_value_that_stands_in_base64_beside_another_is_known_elsewhere_too() -> None:
    ours = redactor()
    ours.learn(base64.b64encode(b"secret=Tr0ub4dor9 and " + TOKEN))
    assert b"Tr0ub4dor9" not in ours.clean(b"it is Tr0ub4dor9")


def test_digits_of_an_escape_belong_to_no_value() -> None:
    line = b'{"a": "\\u0000723456789:AAHkQ3vRt8LmN2xWp7ZsYd4FgBc9JqTuVeX"}'
    cleaned = json.loads(Redactor(key=KEY).clean(line))
    assert cleaned["a"].startswith("\0«secret:telegram-bot-token:")
