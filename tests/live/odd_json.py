"""JSON texts in every odd style that people and programs write, for Hypothesis."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

GAPS = st.sampled_from(["", "", " ", "\n", "\r\n", "\t", "  ", "\n\n", "\n    ", "\r\n\t", " \n "])
NUMBERS = st.sampled_from(["0", "-0", "1.50", "1e5", "1E+05", "12345678901234567890123", "0.1000", "-7"])
LETTERS = st.text(max_size=8)
EVENTS = st.sampled_from(["Stop", "PreToolUse", "SessionStart", "Stop", "Unknown", "", "hooks"])
KEYS = st.one_of(st.sampled_from(["hooks", "hooks", "model", "env", "permissions", "a:b"]), LETTERS)


@st.composite
def strings(draw: DrawFn, texts: SearchStrategy[str] = LETTERS) -> str:
    """A string as somebody may spell it."""
    return json.dumps(draw(texts), ensure_ascii=draw(st.booleans())).encode("utf-8", "replace").decode()


@st.composite
def arrays(draw: DrawFn, items: SearchStrategy[str]) -> str:
    """An array with blanks anywhere."""
    parts = [draw(GAPS) + item + draw(GAPS) for item in draw(st.lists(items, max_size=3))]
    return f"[{','.join(parts) if parts else draw(GAPS)}]"


@st.composite
def objects(draw: DrawFn, keys: SearchStrategy[str], values: SearchStrategy[str]) -> str:
    """An object with blanks anywhere, and keys that may come twice."""
    parts = [
        draw(GAPS) + key + draw(GAPS) + ":" + draw(GAPS) + value + draw(GAPS)
        for key, value in draw(st.lists(st.tuples(strings(keys), values), max_size=4))
    ]
    return f"{{{','.join(parts) if parts else draw(GAPS)}}}"


SCALARS: SearchStrategy[str] = st.one_of(strings(), NUMBERS, st.sampled_from(["true", "false", "null"]))
VALUES: SearchStrategy[str] = st.recursive(
    SCALARS, lambda inner: st.one_of(arrays(inner), objects(KEYS, inner)), max_leaves=6
)
HANDLERS = objects(st.sampled_from(["type", "command", "timeout", "hooks"]), SCALARS)
GROUPS = objects(st.sampled_from(["matcher", "hooks"]), st.one_of(arrays(HANDLERS), SCALARS))


@st.composite
def odd_objects(draw: DrawFn, values: SearchStrategy[str] = VALUES) -> str:
    """A whole text: one object, perhaps with a BOM, with anything blank around it."""
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    return bom + draw(GAPS) + draw(objects(KEYS, values)) + draw(GAPS)


@st.composite
def odd_settings(draw: DrawFn) -> str:
    """Settings as both agents understand them, most with hooks of others in them."""
    hooks = objects(EVENTS, arrays(st.one_of(GROUPS, GROUPS, SCALARS)))
    members = st.one_of(
        st.tuples(st.just('"hooks"'), hooks),
        st.tuples(strings(st.sampled_from(["model", "env", "a"])), VALUES),
    )
    parts = [
        draw(GAPS) + key + draw(GAPS) + ":" + draw(GAPS) + value + draw(GAPS)
        for key, value in draw(st.lists(members, max_size=4))
    ]
    bom = draw(st.sampled_from(["", "", "\ufeff"]))
    body = f"{{{','.join(parts) if parts else draw(GAPS)}}}"
    return bom + draw(GAPS) + body + draw(GAPS)


def plain(text: str) -> Any:
    """What a client reads in it."""
    return json.loads(text.removeprefix("\ufeff"))
