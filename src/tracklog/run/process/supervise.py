"""Start, feed, observe and end a client that runs under our supervisor (`supervisor.py`).

Rules
  1. No process of the client outlives us: if we die, the supervisor ends it; if the supervisor dies, we do.
  2. No call blocks but `close`, and `read_reports` when the supervisor was killed, and these not for long. The prompt is
     written by a thread, as a client may never read it.
  3. A pid counts only together with its start time: pids are reused.
  4. Nothing passes through a shell.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tracklog.errors import UserError, why_failed
from tracklog.run.process.prestart import WaitingSupervisor, order_for, waiting_supervisor
from tracklog.run.process.private_dir import are_all_dead, is_kept, left_folders, note_process
from tracklog.sources.process_start import start_ticks
from tracklog.supervisor import clear_folder

if TYPE_CHECKING:
    import psutil

    from tracklog.home import Home
    from tracklog.live.run_entries import RunEntry

# Lazy imports: psutil takes long to load, and only the end of a client needs it.

MARK = "TRACKLOG_RUN"  # in the environment of a child and its descendants
_SUPERVISOR_S = 12.0  # for the supervisor to kill all; it gives up after ten seconds itself
_LEFT_SUPERVISOR_S = (
    20.0  # for a supervisor whose tracklog was killed: it ends the client within 8 s, and gives up 10 s later
)
_GONE_S = 2.0  # for a released supervisor to be gone
_TREE_S = 5.0  # for processes that we kill ourselves to be gone
_PAUSE_S = 0.02
_FEED_S = 0.25  # between two checks for the end while the client does not read
_AT_ONCE = 1 << 16
_WORDS = frozenset({"pid", "exit", "left", "stuck", "failed"})


class SupervisedClient:
    """A client that runs under our supervisor."""

    def __init__(
        self, supervisor: subprocess.Popen[bytes], *, life: int, reports: int, mark: str | None
    ) -> None:
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        assert supervisor.stderr is not None
        self._supervisor = supervisor
        self._tree = Tree(supervisor.pid, mark=mark)
        self._life = life
        self._rest = b""
        self._lock = threading.Lock()  # of the prompt's pipe, which its thread and `close` both close
        self._is_closed = False
        self.reports = reports
        self.stdout, self.stderr = supervisor.stdout.fileno(), supervisor.stderr.fileno()
        for descriptor in (reports, self.stdout, self.stderr, supervisor.stdin.fileno()):
            os.set_blocking(descriptor, False)
        self.pid: int | None = None
        self.exit_code: int | None = (
            None  # None also when it is over and nobody saw how: the supervisor was killed
        )
        self.failure: OSError | None = None  # the client could not be started
        self.is_over = False

    def read_reports(self) -> list[tuple[str, int]]:
        """New reports of the supervisor: `pid`, `exit`, `left`, `stuck`, `failed` (errno), `lost` (it was killed itself)."""
        reports: list[tuple[str, int]] = []
        while not self.is_over:
            try:
                data = os.read(self.reports, 4096)
            except BlockingIOError:
                break
            *lines, self._rest = (self._rest + data).split(b"\n")
            reports += [fact for line in lines if (fact := _fact(line)) is not None]
            self._note(reports)
            if not data:
                reports += self._end()
        return reports

    def interrupt(self) -> None:
        """Send SIGINT to the client alone."""
        self._say(b"I")

    def terminate(self) -> None:
        """Send SIGTERM to the client alone."""
        self._say(b"T")

    def kill(self) -> None:
        """Send SIGKILL to the client and all its descendants."""
        self._say(b"K")

    def feed(self, data: bytes) -> None:
        """Write the prompt to the client's stdin and close it. The client need not read it."""
        threading.Thread(target=self._feed, args=(data,), name="prompt", daemon=True).start()

    def close(self) -> None:
        """End all remaining processes, and close every descriptor; a second call does nothing."""
        if self._is_closed:
            return
        if not self.is_over:
            self.kill()
            self._await_the_end()
        self._is_closed = True
        self._close_stdin()
        for stream in (self._supervisor.stdout, self._supervisor.stderr):
            if stream is not None:
                stream.close()
        for descriptor in (self.reports, self._life):
            os.close(descriptor)
        self._take_leave()

    def _note(self, reports: Sequence[tuple[str, int]]) -> None:
        for what, n in reports:
            if what == "pid":
                self.pid = n
                self._tree.note_client(n)
            elif what == "exit":
                self.exit_code = n
            elif what == "failed":
                self.failure = OSError(n, os.strerror(n))

    def _end(self) -> list[tuple[str, int]]:
        """Note the end of the supervisor. If it was killed, it has not reported the client's end, and we end what is left."""
        self.is_over = True
        if self.exit_code is not None or self.failure is not None:
            return []
        self._take_leave()
        return [("lost", self._tree.kill())]

    def _take_leave(self) -> None:
        try:
            self._supervisor.wait(_GONE_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()

    def _await_the_end(self) -> None:
        """Read the supervisor's last reports; a stopped one does not answer, and is killed with its client."""
        until = time.monotonic() + _SUPERVISOR_S
        while not self.is_over and (left_s := until - time.monotonic()) > 0:
            _wait_for(self.reports, select.POLLIN, left_s)
            self.read_reports()
        if not self.is_over:
            self._tree.kill()
            self._supervisor.kill()
            self._take_leave()
            self.is_over = True

    def _say(self, command: bytes) -> None:
        if not self._is_closed:
            with contextlib.suppress(BrokenPipeError, BlockingIOError):  # it is over, or does not read
                os.write(self._life, command)

    def _feed(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest and (written := self._write(rest[:_AT_ONCE])) is not None:
            rest = rest[written:]
        self._close_stdin()

    def _write(self, data: memoryview) -> int | None:
        """Write to the client's stdin; the number of bytes, or None if it is closed."""
        with self._lock:
            stdin = self._supervisor.stdin
            if stdin is None or self.is_over:
                return None
            try:
                return os.write(stdin.fileno(), data)
            except BlockingIOError:
                descriptor = stdin.fileno()
            except BrokenPipeError:
                return None
        _wait_for(descriptor, select.POLLOUT, _FEED_S)
        return 0

    def _close_stdin(self) -> None:
        with self._lock:
            stdin, self._supervisor.stdin = self._supervisor.stdin, None
            if stdin is not None:
                stdin.close()


class Tree:
    """The client and its descendants as we see them, for when the supervisor no longer answers."""

    def __init__(self, supervisor: int | None = None, *, mark: str | None) -> None:
        self._mark = mark
        self._known = (
            [(supervisor, start_ticks(supervisor))] if supervisor is not None else []
        )  # each with its start

    def note_client(self, pid: int) -> None:
        """Note the client's pid with its start time."""
        self._known.append((pid, start_ticks(pid)))

    def kill(self) -> int:
        """Kill all of them; returns their number."""
        killed: set[int] = set()
        until = time.monotonic() + _TREE_S
        while (alive := self._alive()) and time.monotonic() < until:
            for deed in ("suspend", "kill"):  # they may fork while we look
                for process in alive:
                    _do(process, deed)
            killed.update(process.pid for process in alive)
            time.sleep(_PAUSE_S)
        return len(killed)

    def _alive(self) -> list[psutil.Process]:
        """The living processes: by descent, and by the mark in their environment, as an orphan descends from none of them."""
        import psutil

        found: set[psutil.Process] = set()
        for pid, start in self._known:
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                if start_ticks(pid) == start:
                    found.update([process, *process.children(recursive=True)])
        if self._mark is not None:
            found.update(one for one in psutil.process_iter() if _mark_of(one) == self._mark)
        return [one for one in found if one.pid != os.getpid() and _lives(one)]


def _lives(process: psutil.Process) -> bool:
    import psutil

    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _mark_of(process: psutil.Process) -> str | None:
    import psutil

    try:
        return process.environ().get(MARK)
    except (psutil.Error, OSError):  # it has ended, or it is another user's
        return None


def _do(process: psutil.Process, deed: str) -> None:
    import psutil

    with contextlib.suppress(psutil.Error):  # it has ended, or it is another user's
        getattr(process, deed)()


def start_supervised(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    folder: Path | None,
    waiting: WaitingSupervisor | None = None,
) -> SupervisedClient:
    """Start a client under a supervisor, which removes the private folder when all is over, or if we die.

    `waiting` is a supervisor that already has the folder; without one, another is started.
    """
    words = [program_named(argv[0], env), *argv[1:]]
    if not os.access(cwd, os.X_OK):
        raise UserError(f"cannot work in {cwd}: it cannot be entered; name another folder with --cwd")
    order = order_for(words, cwd=cwd, env=env)
    if waiting is None:
        waiting = supervisor_for(folder)
    os.set_blocking(waiting.life, False)
    if folder is not None:
        with contextlib.suppress(OSError):  # only `sweep` reads it, and waits longer without it
            note_process(folder, waiting.process.pid)
    mark = env.get(MARK)
    # A mark that we have ourselves is our parent's: by it we would find ourselves.
    client = SupervisedClient(
        waiting.process,
        life=waiting.life,
        reports=waiting.reports,
        mark=mark if mark != os.environ.get(MARK) else None,
    )
    with contextlib.suppress(BrokenPipeError):  # it was killed already: reported like any other end
        waiting.give(order)
    return client


def supervisor_for(folder: Path | None) -> WaitingSupervisor:
    """A supervisor that will remove this folder even if we die."""
    try:
        waiting = waiting_supervisor()
    except OSError as error:
        raise UserError(f"no process can be started now: {why_failed(error)}") from error
    with contextlib.suppress(BrokenPipeError):  # it was killed already: reported like any other end
        waiting.promise(folder)
    return waiting


def program_named(name: str, env: Mapping[str, str]) -> str:
    """The path of a program, by the PATH of this environment."""
    folders = [""] if os.sep in name else env.get("PATH", os.defpath).split(os.pathsep)
    for path in (os.path.abspath(os.path.join(folder, name)) for folder in folders):
        if os.access(path, os.X_OK) and os.path.isfile(path):  # as `shutil.which`, which is slow to load
            return path
    if os.sep in name:
        raise UserError(f"{name} is no program that can be run: name another with --client")
    from tracklog.agents.supported import SUPPORTED  # only for the message

    label = next((one.label for one in SUPPORTED.values() if one.client.program == name), None)
    install = f"install {label}" if label is not None else "install it"
    raise UserError(f"no program {name} on PATH: {install}, or name the program with --client")


def _wait_for(descriptor: int, event: int, seconds: float) -> None:
    poll = select.poll()
    poll.register(descriptor, event)
    poll.poll(seconds * 1000)


def _fact(line: bytes) -> tuple[str, int] | None:
    what, _, n = line.decode("ascii", "replace").partition(" ")
    return (what, int(n)) if what in _WORDS and n.lstrip("-").isdigit() else None


def await_end(run: RunEntry, home: Home) -> None:
    """Wait until no process of a run can write or spend any more. A run whose tracklog lives is left alone."""
    if run.ended is not None or run.alive().life == "alive":
        return
    until = time.monotonic() + _LEFT_SUPERVISOR_S
    while is_kept(home, run.id) and time.monotonic() < until:
        time.sleep(_PAUSE_S)
    Tree(mark=run.id).kill()  # its supervisor was killed as well


def sweep(home: Home) -> int:
    """Remove the folders of runs without a living keeper, and kill their processes; returns the number of folders.

    Such runs are left when tracklog and its supervisor were killed together. A run that we are part of is not killed.
    """
    n_cleared = 0
    for folder in left_folders(home):
        if are_all_dead(folder) and folder.name != os.environ.get(MARK):
            Tree(mark=folder.name).kill()
        n_cleared += clear_folder(str(folder))
    return n_cleared
