"""The files of a replay while they are written: logs that grow, the registry, the spool of hooks.

Rules
  1. Bytes come from the recording part by part, so a replay needs no more memory than it writes at once.
  2. What a replay leaves behind ends with a whole line, also when it is stopped amid one.
  3. The registry is written in place, as Claude Code does it: who reads at the wrong moment finds it empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from tracklog.errors import UserError
from tracklog.home import Home, make_private_folder, open_private
from tracklog.replay.fake_home import Host
from tracklog.replay.recording import RecordedFile, RecordedWrite, Recording
from tracklog.sources.files import chunks
from tracklog.sources.log_file import LogFile

_APPENDS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
_REWRITES = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
Rewrite = Callable[[bytes], bytes]  # a part as the replay tells it: of the same length


class ReplayedBytes:
    """The bytes of a recorded file, in order, as the replay tells them."""

    def __init__(self, recorded: RecordedFile, rewrite: Rewrite) -> None:
        self._parts = _parts_of(recorded.file, recorded.parts, rewrite)
        self._held = bytearray()

    def take(self, n: int) -> bytes:
        """The next so many bytes."""
        while len(self._held) < n:
            self._held += next(self._parts)
        taken = bytes(self._held[:n])
        del self._held[:n]
        return taken

    def rest_of_part(self) -> bytes:
        """What is missing of the part from which was taken last."""
        return self.take(len(self._held))


def _parts_of(file: LogFile, parts: list[RecordedWrite], rewrite: Rewrite) -> Iterator[bytes]:
    source, held = chunks(file), bytearray()
    for part in parts:
        while len(held) < part.n_bytes:
            more = next(source, b"")
            if not more:
                raise UserError(f"{file.path} became shorter while it was replayed")
            held += more
        yield rewrite(bytes(held[: part.n_bytes]))
        del held[: part.n_bytes]


class GrowingFile:
    """A file of the replay that is written bit by bit. Some clients hold their logs open, others do not.

    Of one that is held open, `on_open` gets the descriptor.
    """

    def __init__(
        self,
        path: Path,
        contents: ReplayedBytes,
        *,
        is_held: bool,
        on_open: Callable[[int], None] | None = None,
    ) -> None:
        self.path = path
        self._contents = contents
        self._is_held = is_held
        self._on_open = on_open
        self._descriptor: int | None = None
        self._n_taken = 0
        self._last = b""

    def append(self, n: int) -> None:
        """Writes the next so many bytes."""
        self._write(self._contents.take(n))

    def finish_line(self) -> None:
        """Writes what is missing of a line that was begun, wherever the writing was stopped."""
        if not self._n_taken or not self.path.exists():
            return
        n_missing = self._n_taken - self.path.stat().st_size
        again = self._last[-n_missing:] if n_missing > 0 else b""
        rest = self._contents.rest_of_part()
        if again or rest:
            self._write(rest, again=again)

    def close(self) -> None:
        """Lets go of the file."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def _write(self, data: bytes, *, again: bytes = b"") -> None:
        self._n_taken, self._last = self._n_taken + len(data), data
        if self._descriptor is None:
            self._descriptor = open_private(self.path, _APPENDS)
            if self._on_open is not None:
                self._on_open(self._descriptor)
        write_all(self._descriptor, again + data)
        if not self._is_held:
            self.close()


def write_all(descriptor: int, data: bytes) -> None:
    """Writes all of it, in as many steps as the system takes."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class RegistryFile:
    """`sessions/<pid>.json` of a replayed session."""

    def __init__(self, path: Path, recording: Recording, host: Host) -> None:
        self.path = path
        known: dict[str, Any] = {
            "pid": host.pid,
            "sessionId": recording.id,
            "cwd": recording.cwd,
            "startedAt": host.started_ms,
            "procStart": host.proc_start,
            "version": recording.version,
            "kind": "interactive",
            "entrypoint": recording.entrypoint,
        }
        self._known = {key: value for key, value in known.items() if value is not None}

    def touch(self) -> None:
        """Makes the file, still empty."""
        os.close(open_private(self.path, _REWRITES))

    def write(self, status: str, waiting_for: str | None, at_ms: int) -> None:
        """Says what the client does; with an empty status, only that it is there."""
        state: dict[str, Any] = {}
        if status:
            state |= {"status": status, "updatedAt": at_ms, "statusUpdatedAt": at_ms}
        if waiting_for is not None:
            state["waitingFor"] = waiting_for
        with open(open_private(self.path, _REWRITES), "wb") as stream:
            stream.write(msgspec.json.encode(self._known | state))

    def remove(self) -> None:
        """The client is gone."""
        self.path.unlink(missing_ok=True)


class SpoolWriter:
    """The hook calls of a tracklog home, as `hook.py` appends them."""

    def __init__(self, home: Path) -> None:
        self._home = Home(home)
        self.path = home / "spool" / "hooks.jsonl"

    def make(self) -> None:
        """Makes the home and its folder, for us alone."""
        self._home.make()
        make_private_folder(self.path.parent)

    def append(self, at_ms: int, agent: str, ppid: int, payload: bytes) -> int:
        """One call, with one write; says how many bytes that were."""
        envelope = {"v": 1, "at": at_ms, "agent": agent, "pid": os.getpid(), "ppid": ppid}
        line = msgspec.json.encode(envelope | {"payload": msgspec.Raw(payload)}) + b"\n"
        descriptor = open_private(self.path, _APPENDS)
        try:
            write_all(descriptor, line)
        finally:
            os.close(descriptor)
        return len(line)
