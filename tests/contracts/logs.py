"""What the contracts are tried on: each agent's reader, lines that its real clients wrote, and ways to damage them."""

from __future__ import annotations

from pathlib import Path

from hypothesis import strategies as st

from tracklog.agents.claude_code import records
from tracklog.agents.codex import records as codex_records
from tracklog.agents.reader import Reader
from tracklog.agents.registry import STRANGER

DATA = Path(__file__).parents[1] / "data"
READERS: dict[str, Reader] = {"claude": records.READER, "codex": codex_records.READER, "stranger": STRANGER}
FILES = sorted(path for agent in ("claude", "codex") for path in (DATA / agent).rglob("*.jsonl"))


def lines_of(agent: str) -> list[bytes]:
    """Lines that real clients wrote, short enough to be damaged often."""
    every = [
        line
        for path in FILES
        if agent in ("stranger", path.parts[-3])
        for line in path.read_bytes().split(b"\n")
    ]
    return [line for line in every if 0 < len(line) < 4000]


SPLINTERS = st.sampled_from(
    [b"", b"\0", b"\0" * 9, b"\n", b"\r\n", b"}{", b'"', b"\\", b"\xff", b"\xef\xbb\xbf", b"[", b"{", b"null", b"1e999",
     b"true", b"-", b'{"type":"user"}', b'"type":"assistant",', b"\\ud800", b" ", b"9" * 30]
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn, lines: list[bytes]) -> bytes:
    """A line with pieces cut out, put in or replaced, perhaps with another line spliced on."""
    raw = draw(st.sampled_from(lines))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(raw)))
        end = draw(st.integers(start, min(len(raw), start + draw(st.sampled_from([0, 1, 5, 200])))))
        raw = raw[:start] + draw(SPLINTERS) + raw[end:]
    return raw + (draw(st.sampled_from(lines)) if draw(st.booleans()) else b"")


def some_log(agent: str) -> st.SearchStrategy[bytes]:
    """Bytes of a log: real lines, damaged ones and plain noise, with or without a last newline."""
    lines = lines_of(agent)
    noise = st.binary(max_size=60) | st.text(max_size=40).map(
        lambda text: text.encode("utf-8", "surrogatepass")
    )
    one = st.sampled_from(lines) | damaged(lines) | noise
    return st.lists(one, max_size=6).map(b"\n".join)
