"""Register running servers of a home, and bind the address and port to listen on.

Each server holds a lock on its own file as long as it lives. If the lock is held, the server lives and has its port.
Nothing is sent to a port to find out: another program may have it by now.
"""

from __future__ import annotations

import errno
import fcntl
import ipaddress
import json
import os
import resource
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tracklog.errors import NotThere, UserError, why_failed
from tracklog.home import Home, make_private_folder, open_private
from tracklog.views.web.server.sign_in import PLAIN_PORT, local_hosts

_PATIENCE_S = 1.0
_PAUSE_S = 0.02


class Instance(NamedTuple):
    """A running server."""

    host: str  # with its port, as a browser names it
    port: int
    pid: int
    roots: list[str]


@contextmanager
def registered(home: Home, instance: Instance) -> Iterator[None]:
    """Registers a server while the block runs."""
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
    """The running server of exactly these folders, at this port if one is given."""
    wanted = _names(roots)
    for instance in instances(home):
        if instance.roots == wanted and port in (None, instance.port):
            return instance
    return None


def instances(home: Home) -> Iterator[Instance]:
    """All running servers of a home; files of dead ones are deleted."""
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
    """Opens and locks the file of a server, retrying: a process that lists servers may hold or delete it briefly."""
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
    """The registered server; None just before it has written its file."""
    try:
        return Instance(**json.loads(os.pread(descriptor, 1 << 16, 0)))
    except (ValueError, TypeError):
        return None


PORT = 7717
BACKLOG = 512
_MOST_FILES = 4096


class ListenAddress(NamedTuple):
    """An address of this machine."""

    family: socket.AddressFamily
    name: str


def address_of(host: str, *, is_for_the_network: bool = False) -> ListenAddress:
    """The address to listen on; raises UserError if it is not loopback, unless the network is explicitly wanted."""
    name = "127.0.0.1" if host == "localhost" else host.strip("[]")
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        raise UserError(f"--host takes an address such as 127.0.0.1 or ::1, not {host!r}") from None
    if not address.is_loopback and not is_for_the_network:
        raise UserError(
            f"{name} can be reached by others: your logs would be, too, over a line that is not encrypted. "
            "Use ssh -L, or add --dangerously-listen-on-the-network"
        )
    return ListenAddress(socket.AF_INET6 if address.version == 6 else socket.AF_INET, name)


@contextmanager
def bound(address: ListenAddress, wanted: int | None, home: Home) -> Iterator[socket.socket]:
    """A socket that is bound to its port but does not listen yet."""
    port = PORT if wanted is None else wanted
    # only of sockets that name TCP does asyncio ask that nothing is held back: else every answer takes 40 ms more
    with socket.socket(address.family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # who is gone without a word is forgotten after a minute
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 60_000)
        if address.family == socket.AF_INET6:
            listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        with _said_if_taken(port, home):
            listener.bind((address.name, port))
        yield listener


def listen(listener: socket.socket, home: Home) -> None:
    """Starts listening, with room for many connections."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < _MOST_FILES:
        most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(_MOST_FILES, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    with _said_if_taken(listener.getsockname()[1], home):
        listener.listen(BACKLOG)


@contextmanager
def _said_if_taken(port: int, home: Home) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise NotThere(_who_has(port, home)) from error
        raise NotThere(f"cannot listen at port {port}: {why_failed(error)}") from error


def _who_has(port: int, home: Home) -> str:
    ours = next((one for one in instances(home) if one.port == port), None)
    if ours is not None:
        who = f"process {ours.pid}, which is tracklog with other folders"
    else:
        who = _listener_at(port) or "another program"
    return f"port {port} is taken by {who}: end it, or name another port with --port N (0: any that is free)"


def _listener_at(port: int) -> str | None:
    """The process that listens at a port, if the system tells us."""
    import psutil  # only to name the one who has the port

    with suppress(psutil.Error, OSError):
        for one in psutil.net_connections("tcp"):
            if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port and one.pid:
                return f"process {one.pid} ({psutil.Process(one.pid).name()})"
    return None


def hosts_of(address: ListenAddress, port: int) -> tuple[str, ...]:
    """The names that the server answers to; the first is the one in the link."""
    name = address.name
    shown = f"[{name}]" if address.family == socket.AF_INET6 else name
    names = [shown]
    if ipaddress.ip_address(name).is_unspecified:
        names = [socket.gethostname().lower(), *_own_addresses()]
    named = [*(f"{one}:{port}" for one in names), *(names if port == PLAIN_PORT else [])]
    return tuple(dict.fromkeys([named[0], *local_hosts(port), *named]))


def _own_addresses() -> list[str]:
    with suppress(OSError):
        return socket.gethostbyname_ex(socket.gethostname())[2]
    return []
