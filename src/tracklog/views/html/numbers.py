"""Render numbers and times for people, with exact values as titles.

Rules
  1. A missing value is shown as missing, "–" with its reason, and never as a zero.
  2. The title of a rounded value is the exact one.
  3. Times are relative to now; scripts update them and use the reader's zone, without scripts it is UTC.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from markupsafe import Markup

from tracklog.model.usage import PICO_IN_MICRO
from tracklog.views.html.legible import shown
from tracklog.views.text.numbers import money as money_in_words
from tracklog.views.text.numbers import short_number, took

NOT_IN_THE_LOG = "the log does not say"
_MICRO_IN_DOLLAR = 1_000_000
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_DAYS_TOLD = 30
_MOST = 10**21  # beyond it a number is no count of anything
_SKEW_S = 5  # clocks that differ by less count as equal


def missing(why: str = NOT_IN_THE_LOG) -> Markup:
    """A dash for a missing value, with the reason as its title."""
    return Markup('<span class="none" title="{}">–</span>').format(shown(why))


def number(n: int | None, *, why: str = NOT_IN_THE_LOG) -> Markup:
    """A count in full: `12,345`."""
    return missing(why) if n is None else Markup("{}").format(f"{_bounded(n):,}")


def tokens(n: int | None, *, why: str = NOT_IN_THE_LOG) -> Markup:
    """A count in few letters: `12.3k`."""
    if n is None:
        return missing(why)
    return _titled(f"{_bounded(n):,}", short_number(_bounded(n)))


def money(micro_usd: int | None, *, lower_bound: bool = False, why: str = "no price is known") -> Markup:
    """Dollars: `$1.20`, and `≥ $1.20` where some of the cost is not known."""
    if micro_usd is None:
        return missing(why)
    micro = _bounded(micro_usd)
    whole, rest = divmod(abs(micro), _MICRO_IN_DOLLAR)
    exact = f"{'-' if micro < 0 else ''}${whole:,}.{rest:06d}"
    words = money_in_words(micro * PICO_IN_MICRO)
    if not lower_bound:
        return _titled(exact, words)
    return _titled(f"at least {exact}: not all of it is known", f"≥ {words}")


def duration(ms: float | None, *, by: str | None = "stated", why: str = NOT_IN_THE_LOG) -> Markup:
    """How long something took: measured by the agent, or (`by="log_times"`) between two lines of its log."""
    if ms is None or not math.isfinite(ms):
        return missing(why)
    whole = max(-_MOST, min(ms, _MOST))
    words, exact = took(whole), f"{whole:,.0f} ms"
    if by == "log_times":
        return Markup('<span class="inferred" title="{} between lines of the log">≥ {}</span>').format(
            exact, words
        )
    return _titled(exact, words)


def when(at: str | None, now: datetime, *, why: str = NOT_IN_THE_LOG) -> Markup:
    """A moment relative to now: `3 h ago`."""
    moment = moment_of(at)
    if moment is None:
        return _no_moment(at, why)
    return Markup('<time datetime="{}" title="{}" data-rel>{}</time>').format(
        _iso(moment), exactly(moment), ago(moment, now)
    )


def ago(moment: datetime, now: datetime) -> str:
    """How long ago a moment was, in the words of times.js."""
    seconds = math.floor((now - moment).total_seconds())
    if seconds >= _DAYS_TOLD * _DAY or seconds < -_SKEW_S:
        return f"{moment:%Y-%m-%d}"
    if seconds < _SKEW_S:
        return "just now"
    if seconds < _MINUTE:
        return f"{seconds} s ago"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    return f"{seconds // _HOUR} h ago" if seconds < _DAY else f"{seconds // _DAY} d ago"


def exactly(moment: datetime) -> str:
    """A moment to the second: `2026-11-01 12:00:03 UTC`."""
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def moment_of(at: str | None) -> datetime | None:
    """The moment that a text of a log states; None if it is no time."""
    try:
        moment = datetime.fromisoformat(at or "")
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def _no_moment(at: str | None, why: str) -> Markup:
    if not at:
        return missing(why)
    return Markup('<span class="none" title="not a time: {}">–</span>').format(shown(at, most=60))


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _titled(title: str, words: str) -> Markup:
    return Markup('<span title="{}">{}</span>').format(title, words)


def _bounded(n: int) -> int:
    return max(-_MOST, min(n, _MOST))
