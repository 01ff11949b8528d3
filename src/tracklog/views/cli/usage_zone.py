"""Whose days are meant: the option --zone.

Rules of this room
  1. A zone is the machine's own unless told otherwise; an answer names the one that it used.
  2. A day begins at midnight there, also where the clocks change: it may have 23 or 25 hours.
"""

from __future__ import annotations

from datetime import tzinfo
from typing import TYPE_CHECKING

from tracklog.sources.zones import LOCAL, local_zone, zone_named

if TYPE_CHECKING:
    import click


def zone_option(_ctx: click.Context, _option: click.Parameter, name: str | None) -> tzinfo:
    """The zone behind --zone."""
    if name is None or name.lower() == LOCAL:
        return local_zone()
    try:
        return zone_named(name)
    except ValueError:
        import click  # only where it is complained about: plain questions do without (quick.py)

        raise click.BadParameter(
            f"{name!r} is no time zone: give a name such as Europe/Berlin, utc or local"
        ) from None
