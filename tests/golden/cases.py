"""What the golden files hold: how each log in tests/data reads, piece by piece."""

from __future__ import annotations

import json
from pathlib import Path

from tests.contracts.logs import FILES, READERS
from tracklog.sources.lines import cut

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def cases() -> dict[Path, str]:
    """Every golden file with what should stand in it."""
    return {HERE / _name(path): _listing(path) for path in FILES} | {ROOT / "docs" / "cli.md": _reference()}


def _name(path: Path) -> str:
    return f"{path.parts[-3]}-{path.parts[-2]}-{path.stem}.txt"


def _listing(path: Path) -> str:
    """A line for each piece: where it stands, how it was read, what it is, when, who, and its unnamed keys."""
    reader = READERS[path.parts[-3]]
    drift = reader.drift()
    rows = []
    for piece in reader.read(cut([path.read_bytes()])):
        strays = [key for key, _ in drift.strays(piece)]
        record = piece.record
        place = f"{piece.line:>4} {piece.offset:>7} {piece.length:>6}"
        rows.append(
            f"{place}  {piece.reading:<7}  {record.kind:<36}  {record.at or '-':<24}  {record.ident or '-'}"
        )
        if strays or piece.why:
            rows.append(f"        {piece.why or ''} {json.dumps(strays)}")
    return "\n".join(rows) + "\n"


def _reference() -> str:
    from tracklog.views.cli.reference import reference

    return reference()
