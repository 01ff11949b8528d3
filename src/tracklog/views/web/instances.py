"""Which servers run for a home: each holds a lock on a file of its own for as long as it lives.

Who finds that lock held knows that the server lives and has its port. Nothing is sent to a port to find out: it may
belong to somebody else by now.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tracklog.store.home import Home, make_private_folder, open_private

_PATIENCE_S = 1.0
_PAUSE_S = 0.02


class Instance(NamedTuple):
    """A server that runs."""

    host: str  # with its port, as a browser names it
    port: int
    pid: int
    roots: list[str]


@contextmanager
def registered(home: Home, instance: Instance) -> Iterator[None]:
    """Tells of a server while it runs."""
    path = _folder(home) / f"{instance.port}.json"
    descriptor = _locked(path)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, json.dumps(instance._asdict()).encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def running(home: Home, roots: Sequence[Path], *, port: int | None) -> Instance | None:
    """The server that shows just these folders, at this port if one is asked for."""
    wanted = _names(roots)
    for instance in instances(home):
        if instance.roots == wanted and port in (None, instance.port):
            return instance
    return None


def instances(home: Home) -> Iterator[Instance]:
    """All servers of this home that run now; what others left behind is removed."""
    for path in sorted((home.path / "serve").glob("*.json")):
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        except FileNotFoundError:
            continue  # it has just ended
        try:
            if _lock(descriptor):
                path.unlink(missing_ok=True)
            elif found := _read(descriptor):
                yield found
        finally:
            os.close(descriptor)


def instance_of(host: str, port: int, roots: Sequence[Path]) -> Instance:
    """This process, as a server of these folders."""
    return Instance(host, port, os.getpid(), _names(roots))


def _names(roots: Sequence[Path]) -> list[str]:
    return sorted(str(path.absolute()) for path in roots)


def _folder(home: Home) -> Path:
    home.make()
    make_private_folder(home.path / "serve")
    return home.path / "serve"


def _locked(path: Path) -> int:
    """The file of a server, held. Who looks for servers may hold it, or remove it, for a moment."""
    deadline = time.monotonic() + _PATIENCE_S
    while True:
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW)
        if _lock(descriptor) and _is_still_there(path, descriptor):
            return descriptor
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise RuntimeError(f"{path} is held by a server that has not our port")
        time.sleep(_PAUSE_S)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_there(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read(descriptor: int) -> Instance | None:
    """What a server says of itself; nothing in the moment before it does."""
    try:
        return Instance(**json.loads(os.pread(descriptor, 1 << 16, 0)))
    except (ValueError, TypeError):
        return None
