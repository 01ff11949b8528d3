"""Secrets are found by their shape, whole, in any dress; what only looks like one is a near miss."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.secrets.find import Looked, Missed, SecretMatch, find
from tracklog.secrets.rules import rules_in

BOOK = rules_in(
    rb"""
known_examples = ["tk_AAAA\u00b7BBBB"]
placeholders = ['x{4,}', 'your']

[[rule]]
kind = "token"
what = "a token"
source = "here"
keywords = ["tk_"]
pattern = '(?P<v>tk_[A-Za-z]{8}){right}'
true = []
false = []

[[rule]]
kind = "named"
what = "something that is called a secret"
source = "here"
keywords = ["secret"]
pattern = '''secret{eq}(?P<v>[^\s"'\\]{6,64})'''
nocase = true
min_entropy = 2.0
true = []
false = []

[[rule]]
kind = "block"
what = "a private key"
source = "here"
keywords = ["-----BEGIN"]
pattern = '-----BEGIN [A-Z ]{0,20}KEY-----'
block = "head"
true = []
false = []

[[rule]]
kind = "jwt"
what = "a token of claims"
source = "here"
keywords = ["eyJ"]
pattern = '{left}(?P<v>eyJ[\w-]{4,200}\.[\w-]{4,400}\.[\w-]{4,200}){right}'
check = "jwt"
true = []
false = []
"""
)
TOKEN = b"tk_abCdeFgh"


def found(data: bytes) -> list[SecretMatch]:
    return find(data, BOOK).found


def one(data: bytes, value: bytes, kind: str = "token") -> list[SecretMatch]:
    return [
        SecretMatch(
            kind, data.index(value), data.index(value) + len(value), value, stands_alone=kind != "named"
        )
    ]


@pytest.mark.parametrize(
    "data",
    [
        TOKEN,
        b"a " + TOKEN + b".",
        json.dumps({"text": f"line\n{TOKEN.decode()}\n"}).encode(),
        b"\x1b[31m" + TOKEN + b"\x1b[0m",
        "日本".encode() + TOKEN + "語".encode(),
    ],
)
def test_a_shape_is_found_where_it_stands(data: bytes) -> None:
    assert found(data) == one(data, TOKEN)


def test_what_goes_on_is_something_else() -> None:
    assert found(TOKEN + b"i") == []


@pytest.mark.parametrize(
    "data",
    [
        b'SECRET="Tr0ub4dor"',
        b"my_secret: Tr0ub4dor",
        b'{"clientSecret": "Tr0ub4dor"}',
        rb'"{\"secret\":\"Tr0ub4dor\"}"',
        rb'"{\\\"secret\\\" : \\\"Tr0ub4dor\\\"}"',
        b"secret => 'Tr0ub4dor'",
    ],
)
def test_an_assignment_is_found_however_it_is_written(data: bytes) -> None:
    assert found(data) == one(data, b"Tr0ub4dor", "named")


def test_of_two_shapes_the_first_gives_the_name_and_all_is_covered() -> None:
    data = b"secret=" + TOKEN + b"/more"
    assert found(data) == [SecretMatch("token", 7, len(data), TOKEN, stands_alone=True)]


@pytest.mark.parametrize(
    ("data", "missed"),
    [
        (b"tk_AAAABBBB", Missed("token", 0, 11, "a well-known example")),
        (b"tk_xxxxxxxx", Missed("token", 0, 11, "a placeholder")),
        (b"secret=aaaaaaaa", Missed("named", 7, 15, "too plain")),
        (b"eyJhbGciOi.eyJzdWIi.c2lnbmF0", Missed("jwt", 0, 28, "no token inside")),
        ("secret=«secret:token:0123abcd»".encode(), Missed("named", 7, 32, "replaced already")),
    ],
)
def test_what_only_looks_like_one_is_a_near_miss(data: bytes, missed: Missed) -> None:
    assert find(data, BOOK) == Looked([], [missed])


def test_a_placeholder_hides_nothing_beside_it() -> None:
    data = "secret=«secret:token:0123abcd»Tr0ub4dor".encode()
    assert [one.kind for one in found(data)] == ["named"]


def test_a_token_of_claims_must_hold_claims() -> None:
    head = base64.urlsafe_b64encode(b'{"alg":"HS256"}').rstrip(b"=")
    data = b"at " + head + b".eyJzdWIi.c2lnbmF0"
    assert found(data) == one(data, data[3:], "jwt")


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\\n", b"\\r\\n"])
def test_a_block_is_covered_to_its_end(newline: bytes) -> None:
    block = newline.join([b"-----BEGIN KEY-----", b"MIIabcDEFghi1234567890", b"def==", b"-----END KEY-----"])
    data = b"x " + block + newline + b"y"
    assert found(data) == [
        SecretMatch("block", 2, 2 + len(block), block.replace(newline, b"\n"), stands_alone=True)
    ]


def test_a_block_that_was_cut_off_is_covered_as_far_as_it_goes() -> None:
    block = b"-----BEGIN KEY-----\\nMIIabcDEFghi1234567890\\ndef"
    data = b'"' + block + b'" and more'
    assert [data[one.start : one.end] for one in found(data)] == [block]


def in_percent(plain: bytes) -> bytes:
    return b"".join(b"%%%02X" % byte for byte in plain)


def in_unicode(plain: bytes) -> bytes:
    return b"".join(b"\\u%04x" % byte for byte in plain)


@pytest.mark.parametrize("times", [1, 2])
def test_in_base64_the_letters_are_covered_that_say_it(times: int) -> None:
    hidden = b"this is the token: " + TOKEN + b" and that is another secret: Tr0ub4dor9"
    for _ in range(times):
        hidden = base64.b64encode(hidden)
    data = b"a " + hidden + b" b"
    assert [one.value for one in found(data)] == [TOKEN, b"Tr0ub4dor9"]
    covered = b"".join(data[one.start : one.end] for one in found(data))
    assert len(covered) <= (len(TOKEN) + 10) * (4 / 3) ** times + 8 * times
    left = data.replace(data[found(data)[0].start : found(data)[0].end], b"")
    assert b"abCdeF" not in base64.b64decode(left[2:] + b"==")


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\\n", b"\\\\r\\\\n"])
def test_base64_may_stand_in_lines(newline: bytes) -> None:
    lines = base64.encodebytes(b"x" * 48 + b" " + TOKEN + b" " + b"y" * 90).strip().replace(b"\n", newline)
    data = b"a " + lines + b" b"
    (one,) = found(data)
    assert (one.value, data[one.start : one.end].replace(newline, b"")) == (
        TOKEN,
        base64.b64encode(b"x" * 48 + b" " + TOKEN + b" " + b"y" * 90)[65:80],
    )


@pytest.mark.parametrize("hide", [in_percent, in_unicode])
def test_of_escaped_letters_those_are_covered_that_say_it(hide: Callable[[bytes], bytes]) -> None:
    before, behind = b"/see?q=" + hide(b"the token: "), hide(b" & more") + b"#top"
    data = before + hide(TOKEN) + behind
    assert found(data) == [
        SecretMatch("token", len(before), len(data) - len(behind), TOKEN, stands_alone=True)
    ]
    data = before + TOKEN[:4] + hide(TOKEN[4:6]) + TOKEN[6:] + behind
    assert found(data) == [
        SecretMatch("token", len(before), len(data) - len(behind), TOKEN, stands_alone=True)
    ]


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"secret = &quot;Tr0ub4dor&quot;", b"Tr0ub4dor"),
        (b"secret=&#x27;Tr0ub4dor&#39;", b"Tr0ub4dor"),
        (rb'{"secret":"Tr0ub\/4dor"}', b"Tr0ub/4dor"),
    ],
)
def test_entities_and_escaped_slashes_hide_nothing(data: bytes, value: bytes) -> None:
    assert value in [one.value for one in found(data)]


@given(
    st.lists(
        st.sampled_from(
            [TOKEN, b"secret=", b"-----BEGIN KEY-----", b"-----END", b"eyJ", b"\\", b'"', b"\xff", b" "]
        )
    )
)
def test_finds_lie_apart_and_inside(parts: list[bytes]) -> None:
    data = b"".join(parts)
    at = 0
    for one in found(data):
        assert at <= one.start < one.end <= len(data)
        at = one.end


@pytest.mark.parametrize("width", [48, 64, 76])
@pytest.mark.parametrize("mark", [b"", b"  ", b"+", b"> ", b"# "])
def test_lines_of_base64_may_be_short_indented_or_in_a_diff(width: int, mark: bytes) -> None:
    run = base64.b64encode(b"name: one\n" * 9 + b"token: " + TOKEN + b"\n" + b"name: two\n" * 9)
    lines = [mark + run[at : at + width] for at in range(0, len(run), width)]
    for newline in (b"\n", b"\\n"):
        assert [one.value for one in found(b"data:" + newline + newline.join(lines))] == [TOKEN]


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[01;31m\x1b[Ktk_\x1b[m\x1b[KabCdeFgh",
        rb'"\u001b[01;31mtk_\u001b[mabCdeFgh"',
        TOKEN.decode().encode("utf-16-le"),
        b'"' + b"".join(b"%c\\u0000" % byte for byte in TOKEN) + b'"',
        b"".join(b"\\x%02x" % byte for byte in TOKEN),
        b"".join(b"&#%d;" % byte for byte in TOKEN),
    ],
)
def test_colours_and_other_encodings_inside_hide_nothing(data: bytes) -> None:
    assert [one.value for one in found(data)] == [TOKEN]


def test_in_a_long_run_of_escapes_nothing_is_lost_between_two_pieces() -> None:
    for n in range(8150, 8200, 5):
        assert [one.value for one in found(b"\\u0041" + b"x" * n + b" tk\\u005fabCdeFgh \\u0041")] == [TOKEN]
