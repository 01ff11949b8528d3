"""Writes the fixture of the newest schema: a small index, compressed.

    python -m tests.store.make_schema [--again]

A schema that was released is never made again: its fixture is what the migrations of later ones are tried on.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import zstandard

from tests.store.made_index import made_index
from tracklog.store.migrate import NEWEST

DATA = Path(__file__).parent / "data"


def path_of(n: int) -> Path:
    """The fixture of a schema."""
    return DATA / f"schema-{n:04d}.db.zst"


def load(n: int, into: Path) -> None:
    """Makes an index of a fixture."""
    into.write_bytes(zstandard.decompress(path_of(n).read_bytes()))


def schema(db: sqlite3.Connection) -> dict[str, str]:
    """The tables and indexes that the migrations made, by name; views are made anew whenever they change."""
    asked = "select name, sql from sqlite_schema where sql is not null and type <> 'view' order by name"
    return dict(db.execute(asked).fetchall())


def main() -> int:
    """Writes the fixture, unless it was written before."""
    path = path_of(NEWEST)
    if path.exists() and "--again" not in sys.argv:
        sys.stderr.write(f"{path.name} is there: what was released is not changed (if it was not: --again)\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        home = made_index(Path(folder) / "home")
        whole = Path(folder) / "whole.db"
        with closing(sqlite3.connect(home.index)) as db:
            db.execute("update migrations set at = '2026-01-01T00:00:00.000Z'")
            db.commit()
            db.execute("vacuum into ?", (str(whole),))
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zstandard.ZstdCompressor(level=19).compress(whole.read_bytes()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
