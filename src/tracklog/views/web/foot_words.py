"""What the foot says of the index: how much is read, how far behind, what went wrong.

Rules of this room
  1. It never says more than is known: after a pass that failed nothing is up to date.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from tracklog.views.web.indexing import IndexStatus

Tone = Literal["calm", "warn", "bad"]

_NOT_WORTH_SAYING_MS = 1_000
_LONGEST_WHY = 160
_STAGES = {"settling": "putting sessions together", "counting": "counting what they cost"}


class FootWords(NamedTuple):
    """The foot of a page."""

    tone: Tone
    what: str
    how_far: str = ""
    done: int | None = None  # bytes of a first reading, for a bar
    total: int = 0
    why: str = ""
    n_problems: int = 0

    @property
    def tone_word(self) -> str:
        """The tone for those who do not see it."""
        return "failed" if self.tone == "bad" else "attention"


def foot_words(status: IndexStatus) -> FootWords:
    """How the index stands, for people."""
    said, why = _said(status), _short(status.why or "")
    if why and status.state == "reading":
        said, why = said._replace(tone="warn"), f"the reading before failed: {why}"
    return said._replace(why=why, n_problems=len(status.problems))


def _said(status: IndexStatus) -> FootWords:
    match status.state:
        case "failed":
            what = f"the last reading failed, it is tried again · {_counted(status)}"
            return FootWords("bad", what, _behind(status))
        case "busy":
            return FootWords(
                "warn", f"another process writes the index · {_counted(status)}", _behind(status)
            )
        case "reading" if status.is_first:
            return _first(status)
        case "none":
            return FootWords("calm", "nothing indexed yet")
        case _:
            return FootWords("calm", _counted(status), _behind(status))


def _first(status: IndexStatus) -> FootWords:
    """The newest logs are read first: what is there already can be used."""
    if not status.bytes_total:
        return FootWords("calm", "looking for logs")
    what = _STAGES.get(status.stage, "indexing, newest first")
    if status.files:
        what = f"{what} · {status.files:,}/{status.files_known:,} files"
    done = min(status.bytes_done, status.bytes_total)
    return FootWords("calm", what, f"{_size(done)} of {_size(status.bytes_total)}", done, status.bytes_total)


def _counted(status: IndexStatus) -> str:
    if not status.files_known:
        return "no logs found" if status.state == "fresh" else "nothing indexed yet"
    return f"indexed {status.files:,}/{status.files_known:,} files"


def _behind(status: IndexStatus) -> str:
    if status.behind_ms >= _NOT_WORTH_SAYING_MS:
        return f"{_span(status.behind_ms)} behind"
    return "up to date" if status.state == "fresh" else ""


def _span(ms: int) -> str:
    seconds = ms // 1000
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h" if seconds < 172_800 else f"{seconds // 86_400} days"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def _short(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= _LONGEST_WHY else line[: _LONGEST_WHY - 1] + "…"
