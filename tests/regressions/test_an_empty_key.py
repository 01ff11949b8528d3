"""An object with the empty string as a key made the search for unnamed keys raise: a path can be empty."""

from __future__ import annotations

from tracklog.agents.claude_code import records
from tracklog.agents.drift import extra_of
from tracklog.sources.lines import Line


def test_the_empty_string_as_a_key_is_an_unnamed_key_like_any_other() -> None:
    raw = b'{"type":"user","message":{"content":[{"type":"text","text":"x","":1}],"":2},"":3}'
    (piece,) = records.READER.read([Line(1, 0, len(raw), raw)])
    assert extra_of(piece) == {"": 3, "message.": 2, "message.content[](text).": 1}
