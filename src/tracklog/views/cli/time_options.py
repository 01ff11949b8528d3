from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from tracklog.app.scope.filters import moment_meant
from tracklog.clock import LOCAL, local_zone, zone_named

if TYPE_CHECKING:
    import click


def since(_ctx: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """The moment behind --since."""
    return _asked(text, is_end=False)


def until(_ctx: click.Context, _option: click.Parameter, text: str | None) -> datetime | None:
    """The moment behind --until."""
    return _asked(text, is_end=True)


def _asked(text: str | None, *, is_end: bool) -> datetime | None:
    try:
        return None if text is None else moment_meant(text, now=datetime.now(UTC), is_end=is_end)
    except (ValueError, OverflowError):
        import click  # only where it is complained about: plain questions do without (cli/fast_path.py)

        raise click.BadParameter(
            f"{text!r} is no time: give a day such as 2026-03-01, or 7d, 12h, 30m"
        ) from None


def zone_option(_ctx: click.Context, _option: click.Parameter, name: str | None) -> tzinfo:
    """The zone behind --zone."""
    if name is None or name.lower() == LOCAL:
        return local_zone()
    try:
        return zone_named(name)
    except ValueError:
        import click  # only where it is complained about: plain questions do without (cli/fast_path.py)

        raise click.BadParameter(
            f"{name!r} is no time zone: give a name such as Europe/Berlin, utc or local"
        ) from None
