"""Moments as numbers: milliseconds since 1970, which compare and group faster than texts."""

from datetime import UTC, datetime

NO_TIME = -1
_DAY_MS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_parse = datetime.fromisoformat
_END = 253_370_764_800_000  # the year 9999: what follows must still have a name


def moment_ms(text: str | None) -> int:
    """The moment that a log states; NO_TIME for what is none."""
    if not text:
        return NO_TIME
    try:
        since = _parse(text) - _EPOCH
    except TypeError:  # it names no zone
        since = _parse(text).replace(tzinfo=UTC) - _EPOCH
    except (ValueError, OverflowError):
        return NO_TIME
    ms = since.days * _DAY_MS + since.seconds * 1000 + (since.microseconds + 500) // 1000
    return ms if 0 <= ms < _END else NO_TIME


def moment_text(ms: int) -> str | None:
    """The moment as the documents write it."""
    if ms == NO_TIME:
        return None
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
