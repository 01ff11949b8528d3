"""Hostile text costs no more than its length: twice the text takes twice the time, and nothing raises.

Times are of the processor, the least of a fixed number of runs, and only their ratio counts: a run four times as long takes
four times as long if the work is linear, and sixteen times if it is not. Only soak runs measure; all others check that every
hostile text is cleaned.
"""

from __future__ import annotations

import base64
import hashlib
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak import examples
from tracklog.secrets.find import find
from tracklog.secrets.redact import NotClean, Redactor
from tracklog.secrets.rules import shipped_rules

KEY = bytes(32)
SMALL = 1 << 15
TIMES = 4
_RUNS = 5
_LEAST_S = 0.002  # shorter times say nothing
MOST = 8  # times as long for four times the text: between linear and quadratic
RULES = shipped_rules().rules
KEYWORDS = sorted({keyword for rule in RULES for keyword in rule.keywords})
NEAR_MISSES = b" ".join(example[:-1] for rule in RULES for example in (*rule.true, *rule.false))
PIECES = [
    b"\\",
    b'"',
    b"\\n",
    b"\\u00",
    b"%25",
    b"=",
    b"-----BEGIN",
    b"-----END",
    b"eyJ",
    b"@",
    b"/home/",
    b"\xc2\xab",
    b" ",
    b"A",
]


def filled(piece: bytes, n: int) -> bytes:
    return (piece * (n // len(piece) + 1))[:n]


def each_keyword(n: int) -> bytes:
    """Every keyword repeated for its share of the length, so that none is lost among the others."""
    return b"\n".join(filled(keyword, n // len(KEYWORDS)) for keyword in KEYWORDS)


def each_head(n: int) -> bytes:
    """Every keyword, with a run behind it of letters that most patterns repeat."""
    return b"\n".join(keyword + filled(b"aB3", n // len(KEYWORDS)) for keyword in KEYWORDS)


def tokens(n: int) -> bytes:
    """A different secret on each line: what is learned grows with the text."""
    return b"\n".join(b"glpat-" + _random(i)[:20] for i in range(n // 27))


def _random(number: int) -> bytes:
    return base64.urlsafe_b64encode(hashlib.sha256(b"%d" % number).digest())


def addresses(n: int) -> bytes:
    return b"\n".join(b"mail%d.ada@engines.org" % i for i in range(n // 24))


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "each keyword repeated": each_keyword,
    "each keyword before a long run": each_head,
    "near misses": lambda n: filled(NEAR_MISSES, n),
    "a key that never ends": lambda n: filled(b"-----BEGIN RSA PRIVATE KEY-----\n", n),
    "keys that never end, with text": lambda n: filled(b"-----BEGIN PRIVATE KEY-----\nTUlJRXZ" * 9 + b"\n", n),
    "lines of a key without a marker": lambda n: filled(b"a:1:MIIEpAIBAAKCAQEAx7Qp2mZ9vLr4TnWkx7Qp2\n", n),
    "ends of keys": lambda n: filled(b"a:1:MIIEpAIBAAKCAQEAx7Qp2mZ9vLr4TnW\n-----END PRIVATE KEY-----\n", n),
    "one long line before ends of keys": lambda n: filled(b"x", n // 2) + filled(b"-----END PRIVATE KEY-----", n // 2),
    "beginnings of keys in one line": lambda n: filled(b"-----BEGIN RSA PRIVATE KEY----- x", n),
    "breaks in the beginning of a key": lambda n: filled(b"-----BEGIN" + b"\x1b[0m" * 5 + b"\nR\nS\nA", n),
    "words behind a name": lambda n: filled(b"password: " + b"aaBBcc11" * 8 + b" ", n),
    "numbered lines of base64": lambda n: filled(b"a/b:12:" + b"QUJD" * 16 + b"\n", n),
    "names without numbers": lambda n: filled(b"QUJD" * 16 + b"\n" + b"a" * 190 + b" ", n),
    "forms": lambda n: filled(b"a+b%20c+", n),
    "base64 without end": lambda n: base64.b64encode(filled(b"some readable text, ", n * 3 // 4)),
    "base64 in lines": lambda n: base64.encodebytes(filled(b"some readable text, ", n * 3 // 4)),
    "base64 in base64": lambda n: base64.b64encode(base64.b64encode(base64.b64encode(filled(b"key = abc ", n * 27 // 64)))),
    "percent signs": lambda n: filled(b"%25", n),
    "quoted again and again": lambda n: filled(b"%2525252525252525", n),
    "backslashes": lambda n: filled(b"\\", n),
    "escaped quotes": lambda n: filled(b'password\\\\\\\\\\\\\\"=', n),
    "Unicode escapes": lambda n: filled(b"\\u0070", n),
    "entities": lambda n: filled(b"&quot;&amp;#", n),
    "one letter": lambda n: filled(b"a", n),
    "digits": lambda n: filled(b"0123456789", n),
    "blanks": lambda n: b"password" + filled(b" ", n),
    "equal signs": lambda n: filled(b"key=", n),
    "at signs": lambda n: filled(b"a@", n),
    "domains": lambda n: b"a@" + filled(b"b.", n),
    "homes": lambda n: filled(b"/home/", n),
    "web addresses": lambda n: filled(b"https://a:", n),
    "dots": lambda n: b"eyJ" + filled(b"eyJ.", n),
    "placeholders": lambda n: filled("«secret:a:".encode(), n),
    "a different secret on each line": tokens,
    "a different address on each line": addresses,
}  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    """Seconds of the processor: the least of five runs."""
    taken = []
    for _ in range(_RUNS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def cleaned(data: bytes) -> bytes:
    redactor = Redactor(key=KEY)
    redactor.learn(data)
    return redactor.clean(data)


def check_linear(make: Callable[[int], bytes], work: Callable[[bytes], object], size: int) -> None:
    """Four times the text takes less than eight times as long."""
    small, large = make(size), make(size * TIMES)
    short, long = seconds(lambda: work(small)), seconds(lambda: work(large))
    said = f"{len(small)} bytes: {short:.4f} s, {len(large)} bytes: {long:.4f} s"
    assert long < max(short, _LEAST_S) * MOST, said


@pytest.mark.soak
@pytest.mark.parametrize("name", HOSTILE)
def test_four_times_a_hostile_text_takes_about_four_times_as_long(name: str) -> None:
    check_linear(HOSTILE[name], cleaned, SMALL)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_text_is_cleaned_and_holds_what_it_must(name: str) -> None:
    """A secret at its end is replaced and the words behind it are kept, whatever stands before."""
    data = HOSTILE[name](SMALL * TIMES)
    secret = b"glpat-kT9vQ2mLx7ZrWb4nYc3d"
    clean = cleaned(data + b"\n\nthe token " + secret + b" ends it\n")
    assert secret not in clean
    assert clean.endswith("» ends it\n".encode())


def mixed(n: int) -> bytes:
    """Everything hostile, each for its share of the length."""
    return b"\n".join(make(n // len(HOSTILE)) for make in HOSTILE.values())


@pytest.mark.soak
@pytest.mark.parametrize("n", [300_000, 2_500_000])
def test_everything_hostile_at_once_takes_as_long_as_its_length_says(n: int) -> None:
    check_linear(mixed, find, n)


def test_everything_hostile_at_once_is_searched() -> None:
    assert find(mixed(300_000)).found


_bytes = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(KEYWORDS),
        st.sampled_from([example for rule in RULES for example in (*rule.true, *rule.false)]),
        st.binary(max_size=12),
    ),
    max_size=12,
).map(b"".join)


@settings(deadline=None, max_examples=examples(80))
@given(_bytes)
def test_any_bytes_are_searched_and_what_is_found_lies_in_them_in_order_and_apart(data: bytes) -> None:
    end = 0
    for found in find(data).found:
        assert end <= found.start < found.end <= len(data)
        end = found.end
    for missed in find(data).missed:
        assert 0 <= missed.start <= missed.end


@settings(deadline=None, max_examples=examples(50))
@given(_bytes)
def test_any_bytes_can_be_cleaned_of_what_is_found_in_them(data: bytes) -> None:
    redactor = Redactor(key=KEY)
    redactor.learn(data)
    once = redactor.clean(data)
    assert [one.kind for one in find(data).found if len(one.value) >= 16 and one.value in once] == []


@settings(deadline=None, max_examples=examples(50))
@given(_bytes, st.integers(1, 64))
def test_any_bytes_in_chunks_are_cleaned_as_the_whole_is(data: bytes, size: int) -> None:
    chunks = (data[at : at + size] for at in range(0, len(data), size))
    assert b"".join(Redactor(key=KEY).chunks(chunks)) == Redactor(key=KEY).clean(data)


@settings(deadline=None, max_examples=examples(50))
@given(st.text(max_size=200))
def test_any_text_can_be_cleaned_lone_surrogates_included(text: str) -> None:
    assert isinstance(Redactor(key=KEY).text(text + "\ud800"), str)


def test_a_different_secret_on_each_line_is_what_it_says() -> None:
    assert len(find(tokens(1 << 14)).found) >= (1 << 14) // 27 * 0.9


def test_too_many_values_that_need_their_surroundings_are_not_given_out() -> None:
    data = b"\n".join(b"DB_PASSWORD=%s9x" % _random(i)[:16] for i in range(1500))
    with pytest.raises(NotClean, match="more than 1000 different secrets"):
        Redactor(key=b"k").clean(data)


def test_too_many_names_are_not_given_out() -> None:
    data = b"\n".join(b'"cwd":"/home/usr%dx/work"' % i for i in range(1100))
    with pytest.raises(NotClean, match="more than 1000 different names"):
        Redactor(key=b"k").learn(data)
