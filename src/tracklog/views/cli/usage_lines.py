"""From the bytes that a ledger knows to the lines that an editor shows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tracklog.model.events import Place
from tracklog.model.ledger_values import Entry
from tracklog.sources.files import NotReadable, chunks
from tracklog.sources.found import LogFile

UNKNOWN = 0  # where a log is gone, or was cut, since it was read


def with_lines(entries: Sequence[Entry], kept: Iterable[LogFile] = ()) -> list[Entry]:
    """The requests, oldest first, with the numbers of their lines in the place of offsets.

    `kept` are logs whose bytes no longer stand at their path.
    """
    log_at = {str(log.path): log for log in kept}
    offsets: dict[str, set[int]] = defaultdict(set)
    for entry in entries:
        offsets[entry.place.path].add(entry.place.line)
    numbers = {path: line_numbers(log_at.get(path, Path(path)), ours) for path, ours in offsets.items()}

    def numbered(entry: Entry) -> Entry:
        path, offset = entry.place.path, entry.place.line
        return msgspec.structs.replace(entry, place=Place(path, numbers[path].get(offset, UNKNOWN)))

    return sorted(map(numbered, entries), key=lambda entry: (entry.at or "", entry.place, entry.key))


def line_numbers(log: LogFile | Path, offsets: Iterable[int]) -> dict[int, int]:
    """The number of the line at each offset, as far as the log can be read."""
    found: dict[int, int] = {}
    with suppress(NotReadable):  # said already, when the ledger was made; what was found counts
        _find(log, sorted(offsets), found)
    return found


def _find(log: LogFile | Path, offsets: list[int], found: dict[int, int]) -> None:
    start, number = 0, 1
    for chunk in chunks(log):
        at = 0
        for offset in offsets[len(found) :]:
            if offset >= start + len(chunk):
                break
            number += chunk.count(b"\n", at, offset - start)
            at = offset - start
            found[offset] = number
        if len(found) == len(offsets):
            return
        number += chunk.count(b"\n", at)
        start += len(chunk)
