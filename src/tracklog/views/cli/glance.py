"""Places, coverage in short, and what to try next: the first look at a home."""

from __future__ import annotations

from collections.abc import Sequence

from tracklog.sources.found import LogFile
from tracklog.views.cli import coverage
from tracklog.views.cli.choosing import Found
from tracklog.views.cli.doctor import survey_of
from tracklog.views.cli.drawing import line, painted
from tracklog.views.cli.places import show_places
from tracklog.views.cli.printing import answer, count, safe, size

AT_A_GLANCE = 64_000_000  # bytes that are read for a first look; `doctor` reads everything


def show_at_a_glance(found: Found, commands: Sequence[tuple[str, str]]) -> None:
    """Places, coverage and commands to go on with."""
    show_places(found)
    seen = newest(found)
    line()
    line(painted("understood", "bold"), _of_what(seen, found))
    coverage.show_in_short(survey_of(seen).coverage)
    line()
    line(painted("next", "bold"))
    for command, what in commands:
        answer(f"  {safe(command)}")  # never broken into lines: it is there to be copied
        line(painted(f"      {what}", "dim"))


def newest(found: Found) -> Found:
    """The newest files, as many as can be read at a glance; at least one."""
    chosen: list[LogFile] = []
    left = AT_A_GLANCE
    for file in sorted(found.files, key=lambda file: -file.mtime_ns):
        if chosen and file.size > left:
            continue
        chosen.append(file)
        left -= file.size
    return found._replace(files=chosen)


def _of_what(seen: Found, found: Found) -> str:
    if len(seen.files) == len(found.files):
        return ""
    return (
        f"  in the newest {size(seen.bytes)}, {count(len(seen.files), 'file')}; `tracklog doctor` reads all"
    )
