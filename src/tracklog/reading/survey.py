"""Survey how much of the logs is understood: lines and bytes by agent, version, kind and reading.

Rules
  1. A line counts under the client version that wrote it: its own statement, else the last one before it in the
     file, else the first one after it (for the first thousand lines; no client is silent that long).
  2. Unknown kinds and keys are counted, each with one place where it can be seen.
  3. A key that is a number counts as `<n>`: the letters of a text that was spread into an object are one finding.
  4. Names come from logs, so their number and length are bounded: the rest is counted as OTHER.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import msgspec

from tracklog.agents.registry import NOT_RECORDS, lines_of, reader_for
from tracklog.agents.supported import support_for
from tracklog.model.records import Piece, UnknownPart
from tracklog.sources.files import NotReadable
from tracklog.sources.log_file import LogFile, Skipped

OTHER = "(others)"
_MOST_NAMES = 10_000
_LONGEST_NAME = 200

_NUMBER = re.compile(r"(?:^|(?<=\.))[0-9]+(?=[.\[( ]|$)")  # a step of a path: `message.12`, `parts[].3.text`

_LINES_THAT_WAIT = 1000
_REPORTED_EACH = 1_000_000  # bytes
RowKey = tuple[str | None, str | None, str, str]  # agent, version, kind, reading


class Coverage(msgspec.Struct):
    """Number of lines and bytes of one agent, version, kind and reading."""

    agent: str | None
    version: str | None
    kind: str
    reading: str
    lines: int = 0
    bytes: int = 0


class Strange(msgspec.Struct):
    """An unknown kind (`key` is None), or an unknown key of a known kind."""

    agent: str | None
    kind: str
    key: str | None
    why: str
    example: str  # path:line
    count: int = 0


class PieceCount(NamedTuple):
    """The values of a piece that are counted."""

    kind: str
    reading: str
    length: int
    recovered: bool


class Survey:
    """Sums over files; may be read at any time."""

    def __init__(self, on_bytes: Callable[[int], None] | None = None) -> None:
        self._on_bytes = on_bytes
        self._n_reported = 0
        self.files = 0
        self.bytes = 0
        self.lines = 0
        self.recovered = 0
        self.skipped: list[Skipped] = []
        self.broken: list[str] = []  # the first places, for people who want to look
        self._rows: dict[RowKey, Coverage] = {}
        self._strange: dict[tuple[str | None, str, str | None, str], Strange] = {}

    @property
    def coverage(self) -> list[Coverage]:
        """The rows, sorted by agent, version and kind."""
        return [self._rows[key] for key in sorted(self._rows, key=lambda key: [part or "" for part in key])]

    @property
    def unknown(self) -> list[Strange]:
        """All unknown kinds and keys, the most frequent first."""
        return sorted(
            self._strange.values(), key=lambda strange: (-strange.count, strange.kind, strange.key or "")
        )

    def add(self, file: LogFile) -> None:
        """Reads a file and counts its lines; a file that cannot be read is noted as skipped."""
        if file.kind in NOT_RECORDS:
            return
        self.files += 1
        try:
            self._add_lines(file)
        except NotReadable as refusal:
            self.skipped.append(Skipped(refusal.path, refusal.why))

    def _add_lines(self, file: LogFile) -> None:
        reader = reader_for(file)
        drift = reader.drift()
        version: str | None = None
        before_any: list[PieceCount] = []
        version_of = support_for(reader.agent).logs.version_of
        for piece in reader.read(lines_of(file)):
            said = version_of(piece.record)
            if said is not None and version is None:
                self._count(reader.agent, said, before_any)
                before_any.clear()
            version = said or version
            one = PieceCount(piece.record.kind, piece.reading, piece.length, piece.recovered)
            if version is None and reader.agent is not None and len(before_any) < _LINES_THAT_WAIT:
                before_any.append(one)
            else:
                self._count(reader.agent, version, [one])
            self._look_for_strange(file, piece, drift.strays(piece) if piece.reading == "read" else [])
            if self.bytes - self._n_reported >= _REPORTED_EACH:
                self._report()
        self._count(reader.agent, version, before_any)
        self._report()

    def _report(self) -> None:
        if self._on_bytes is not None:
            self._on_bytes(self.bytes - self._n_reported)
        self._n_reported = self.bytes

    def _count(self, agent: str | None, version: str | None, sums: list[PieceCount]) -> None:
        for one in sums:
            row = self._rows.get((agent, version, one.kind, one.reading))
            if row is None:
                row = self._new_row(agent, version, one.kind, one.reading)
            row.lines += 1
            row.bytes += one.length
            self.lines += 1
            self.bytes += one.length
            self.recovered += one.recovered

    def _new_row(self, agent: str | None, version: str | None, kind: str, reading: str) -> Coverage:
        version, kind = version and version[:_LONGEST_NAME], kind[:_LONGEST_NAME]
        if len(self._rows) >= _MOST_NAMES:
            version, kind = None, OTHER
        return self._rows.setdefault((agent, version, kind, reading), Coverage(agent, version, kind, reading))

    def _look_for_strange(self, file: LogFile, piece: Piece, strays: list[tuple[str, object]]) -> None:
        if piece.reading == "unknown":
            self._note(file, piece, None, piece.why or "")
        elif piece.reading == "broken" and len(self.broken) < 20:
            self.broken.append(f"{file.path}:{piece.line}")
        for path, stray in strays:
            self._note(
                file, piece, _NUMBER.sub("<n>", path), _why(stray) if path.endswith(")") else "unnamed key"
            )

    def _note(self, file: LogFile, piece: Piece, key: str | None, why: str) -> None:
        agent, kind = file.agent, piece.record.kind[:_LONGEST_NAME]
        key, why = key and key[:_LONGEST_NAME], why[:_LONGEST_NAME]
        if (agent, kind, key, why) not in self._strange and len(self._strange) >= _MOST_NAMES:
            kind, key, why = OTHER, key and OTHER, OTHER
        strange = self._strange.get((agent, kind, key, why))
        if strange is None:
            strange = Strange(agent, kind, key, why, f"{file.path}:{piece.line}")
            self._strange[agent, kind, key, why] = strange
        strange.count += 1


def survey(files: Iterable[LogFile], *, on_bytes: Callable[[int], None] | None = None) -> Survey:
    """Surveys all files; `on_bytes` is called with the size of each part that is done."""
    result = Survey(on_bytes)
    for file in files:
        result.add(file)
    return result


def _why(stray: object) -> str:
    return f"unknown part: {stray.why}" if isinstance(stray, UnknownPart) else "not looked into"
