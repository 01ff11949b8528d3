"""One value in many shapes, and back."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.secrets.encodings import forms_of, undisguised

VALUE = 'p"ss/w+rd é\\9'


@pytest.mark.parametrize(
    "form",
    [
        VALUE,
        json.dumps(VALUE)[1:-1],
        json.dumps(VALUE, ensure_ascii=False)[1:-1],
        json.dumps(json.dumps(VALUE))[3:-3],
        quote(VALUE, safe=""),
        quote(VALUE),
        html.escape(VALUE),
        VALUE.encode().hex(),
        VALUE.encode().hex().upper(),
    ],
)
def test_a_value_is_known_in_every_shape(form: str) -> None:
    assert form.encode() in forms_of(VALUE.encode())


@given(st.binary(min_size=9, max_size=40), st.binary(max_size=9), st.binary(max_size=9))
def test_in_base64_a_value_is_known_wherever_it_stands(value: bytes, before: bytes, behind: bytes) -> None:
    whole = base64.b64encode(before + value + behind)
    assert any(form in whole for form in forms_of(value))
    assert any(form in base64.urlsafe_b64encode(before + value + behind) for form in forms_of(value))


@given(st.binary(min_size=1, max_size=60))
def test_forms_are_never_empty_and_the_longest_comes_first(value: bytes) -> None:
    lengths = list(map(len, forms_of(value)))
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] > 0


@pytest.mark.parametrize("before", [b"", b"key: ", b'{"a":"', b'{"a":"x\\n', b"="])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_text_in_base64_is_seen(before: bytes, encode: object) -> None:
    plain = b'{"user": "me", "pass": "????>>>>"}'
    data = before + encode(plain) + b' "'  # type: ignore[operator]
    assert [view.plain for view in undisguised(data)] == [plain]


def test_percent_signs_and_unicode_escapes_are_seen_with_the_run_around_them() -> None:
    data = b'a %67%68p_abc b "\\\\u0067hp_abc"'
    seen = [
        (view.plain, data[slice(*view.raw(at, at + 7))])
        for view in undisguised(data)
        if (at := view.plain.find(b"ghp_abc")) >= 0
    ]
    assert [raw for _, raw in seen] == [b"%67%68p_abc", b"\\\\u0067hp_abc"]


@pytest.mark.parametrize(
    "data",
    [
        base64.b64encode(bytes(range(128, 256))),
        b"0123456789abcdef0123456789abcdef01234567",
        b"0b7c2c1e-0000-4000-8000-000000000001",
        b"/a/path/that/is/rather/long/and/has/many/parts/in/it",
        b"100% of it",
    ],
)
def test_what_is_no_text_in_disguise_hides_nothing(data: bytes) -> None:
    assert list(undisguised(data)) == []


@given(st.binary(max_size=300))
def test_any_bytes_are_looked_at_and_views_lie_inside(data: bytes) -> None:
    whole = data + b"%41" + data + b"\\u0041" + base64.b64encode(b"some text of ours" + data)
    for view in undisguised(whole):
        for at in range(len(view.plain)):
            start, end = view.raw(at, at + 1)
            assert 0 <= start < end <= len(whole)
