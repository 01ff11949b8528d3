"""What bench/redact.py lets run, in a process of its own: over every log of a folder, on one core."""

from __future__ import annotations

from collections.abc import Iterator

from bench.read import logs_in
from tracklog.secrets.find import find
from tracklog.secrets.identity import known, private_in
from tracklog.secrets.redact import Redactor

_PIECE = 1 << 20  # lines are handed over in pieces of about so much, as the scan of the index does


def scan(folder: str) -> dict[str, int]:
    """Looks for secrets."""
    n_bytes = 0
    for piece in _pieces(folder):
        find(piece)
        n_bytes += len(piece)
    return {"bytes": n_bytes}


def private(folder: str) -> dict[str, int]:
    """Looks for homes, names and addresses."""
    n_bytes = 0
    for piece in _pieces(folder):
        private_in(piece)
        n_bytes += len(piece)
    return {"bytes": n_bytes}


def clean(folder: str) -> dict[str, int]:
    """Takes out what is known, and what is found on the way."""
    redactor, n_bytes = Redactor(key=bytes(32), private=known(home="/home/dev", user="adalove")), 0
    for piece in _pieces(folder):
        redactor.clean(piece)
        n_bytes += len(piece)
    return {"bytes": n_bytes}


def chunks(folder: str) -> dict[str, int]:
    """The same as it comes, in chunks, as `tracklog redact` reads its input."""
    n_bytes = 0
    for path in logs_in(folder):
        for piece in Redactor(key=bytes(32)).chunks(_pieces_of(str(path))):
            n_bytes += len(piece)
    return {"bytes": n_bytes}


def _pieces(folder: str) -> Iterator[bytes]:
    for path in logs_in(folder):
        yield from _pieces_of(str(path))


def _pieces_of(path: str) -> Iterator[bytes]:
    with open(path, "rb") as stream:
        while lines := stream.readlines(_PIECE):
            yield b"".join(lines)
