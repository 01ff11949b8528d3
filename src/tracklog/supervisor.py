"""Supervise one client: start it, pass signals on to it, and end all that it leaves, whichever process dies.

    python -I -S supervisor.py --life FD --told FD --order FD

We are told what to keep on the pipe `order`, with a NUL between the parts: the private folder (or nothing), the folder to work
in, how many variables there are, the variables, the program and its arguments. Nothing told: nothing to keep. If who started
us dies when only the private folder was told, it is removed.
Who started us holds the other end of the pipe `life`, and says there, a byte each: `I` interrupt the client,
`T` terminate it, `K` kill it and all that descends from it. The end of this pipe is the end of who started us.
We say on `told`, a line each: `pid N`, `exit CODE` (negative: by this signal), `left N` (processes that outlived
the client, and that we ended), `stuck N` (that cannot be ended), or nothing but `failed ERRNO`. We close it when all is over,
and remove the private folder when `life` ends, too: until then the last hooks' payloads can be read there.

Rules
  1. When we end, nothing of the client runs any more, in whatever group or session it is. Only what even a SIGKILL
     does not end (a disk that hangs) is not waited for.
     If we are killed, Linux terminates the client; what it leaves, whoever started us kills, or the next run.
  2. The client is interrupted first, so that it writes down what it has; then terminated; then all is killed.
  3. stdin, stdout and stderr are the client's alone: we give up ours at once, so that their end is its end.
  4. A pid counts only together with its start: numbers are used again, and a signal must never reach a stranger.
  5. Of the private folder only the names that we make are removed, and no link is followed.
  6. Nothing but the standard library is imported, and before the client runs only what is small.
"""

import os
import select
import sys
import time

INTERRUPT, KILL, TERMINATE = 2, 9, 15  # the same on every Unix, and `signal` takes as long to load as Python
STOP = 17 if sys.platform == "darwin" else 19
ORDERLY = (
    (0.0, INTERRUPT),
    (5.0, TERMINATE),
    (8.0, KILL),
)  # when our starter has died: seconds since, signal
LEAVE_S = 0.5  # for what outlives the client, to end after SIGTERM
STUCK_S = 10.0  # for what was killed, to be gone
LOOK_S = 0.01  # between two looks at what is left
PARENT_DEATH_SIGNAL, SUBREAPER = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of prctl(2)
NAMES = ("settings.json", "stop.fifo", "schema.json", "keeper")  # what we make in the private folder …
PAYLOAD = "hook."  # … how names begin that hooks make there …
ASKS = "asks"  # … and a folder with files of JSON
LEAST_PARTS = 2  # of an order, without the private folder and the program
COMMANDS = {b"I": INTERRUPT, b"T": TERMINATE, b"K": KILL}


class Order:
    """What we were started with, and told."""

    def __init__(self, arguments: "list[str]") -> None:
        given = dict(zip(arguments[::2], arguments[1::2], strict=True))
        self.life, self.told, order = (int(given[name]) for name in ("--life", "--told", "--order"))
        for descriptor in (self.life, self.told, order):
            os.set_inheritable(descriptor, False)
        folder, *rest = whole(order).split(b"\0")
        self.folder = os.fsdecode(folder)
        self.is_given = len(rest) > LEAST_PARTS
        if self.is_given:
            self.cwd, n_variables, *rest = rest
            n = int(n_variables)
            self.variables = dict(one.split(b"=", 1) for one in rest[:n])
            self.words = rest[n:]


def whole(descriptor: int) -> bytes:
    """All that comes on a pipe, to its end."""
    parts = []
    while part := os.read(descriptor, 1 << 16):
        parts.append(part)
    os.close(descriptor)
    return b"".join(parts)


class Supervisor:
    """One client that runs, and all that descends from it."""

    def __init__(self, client: int, *, life: int, told: int, adopts: bool) -> None:
        self.client = client
        self.exit_code: int | None = None
        self._life, self._told = life, told
        self._ending_since: float | None = None
        self._n_steps = 0
        self._n_stuck = 0
        self._group = 0 if adopts else client  # who is not adopted by us may still be known by its group
        self._wake = wake_on_signals(self.end_orderly)
        self._poll = select.poll()
        for descriptor in (life, self._wake):
            self._poll.register(descriptor, select.POLLIN)

    def watch(self) -> None:
        """Until the client has ended, or cannot be ended."""
        self._reap()
        while self.exit_code is None and not self._n_stuck:
            self._wait(self._due_s())
            if self._due_s() == 0.0:
                self._send(ORDERLY[self._n_steps][1])
                self._n_steps += 1

    def end_what_is_left(self) -> None:
        """End what has outlived the client: SIGTERM first, then SIGKILL."""
        left = self._alive()
        if left and not self._n_stuck:
            signal_all(left, TERMINATE)
            until = time.monotonic() + LEAVE_S
            while self._alive() and time.monotonic() < until:
                self._wait(LOOK_S)
            self._kill_all()
            tell(self._told, b"left", len(left))
        if self._n_stuck:
            tell(self._told, b"stuck", self._n_stuck)

    def await_release(self) -> None:
        """Waits until tracklog lets go of us, or has died: it may not have read yet what the last hooks wrote."""
        while self._ending_since is None:
            self._wait(None)

    def end_orderly(self) -> None:
        """From now on the client is being ended."""
        if self._ending_since is None:
            self._ending_since = time.monotonic()

    def _due_s(self) -> "float | None":
        """In how many seconds the next step of an orderly end is to be done."""
        if self._ending_since is None or self._n_steps == len(ORDERLY):
            return None
        return max(0.0, self._ending_since + ORDERLY[self._n_steps][0] - time.monotonic())

    def _wait(self, seconds: "float | None") -> None:
        """Waits for a word, for an end or for the time, and takes in what there is."""
        ready = {one for one, _ in self._poll.poll(None if seconds is None else int(seconds * 1000 + 0.999))}
        if self._wake in ready:
            os.read(self._wake, 512)
        if self._life in ready:
            self._obey(os.read(self._life, 64))
        self._reap()

    def _obey(self, said: bytes) -> None:
        if not said:
            self._poll.unregister(self._life)
            self.end_orderly()
        for n in range(len(said)):
            self._send(COMMANDS.get(said[n : n + 1], 0))

    def _send(self, signal: int) -> None:
        if signal and self.exit_code is None:  # until it is reaped its number is its own
            signal_all({self.client: 0}, signal)
        if signal == KILL:
            self._kill_all()

    def _reap(self) -> None:
        """Takes leave of all that have ended; orphans of the client are ours."""
        try:
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self.client:
                    self.exit_code = os.waitstatus_to_exitcode(ended[1])
                    tell(self._told, b"exit", self.exit_code)
        except ChildProcessError:
            pass  # nobody is left

    def _alive(self) -> "dict[int, int]":
        """All that live, each with its start."""
        self._reap()
        table = processes()
        members = {pid for pid, row in table.items() if self._group and row.group == self._group}
        if self.exit_code is not None and not members:
            self._group = 0  # from now on a group of this number is a stranger's
        return living(table, {*descendants(table, os.getpid()), *members})

    def _kill_all(self) -> None:
        """Kills all. They may fork while we look: so all are stopped before the first is killed."""
        until, pause_s = time.monotonic() + STUCK_S, LOOK_S / 4
        while (alive := self._alive()) and time.monotonic() < until:
            frozen: dict[int, int] = {}
            while (new := without(alive, frozen)) and time.monotonic() < until:
                signal_all(new, STOP)
                frozen.update(new)
                alive = self._alive()
            signal_all(frozen, KILL)
            time.sleep(pause_s)
            pause_s = min(0.25, pause_s * 2)
        self._n_stuck = len(alive)


def main(arguments: "list[str]") -> None:
    """Keeps a client from its start to its end."""
    order = Order(arguments)
    if not order.is_given:
        clear_folder(order.folder)
        return
    adopts = adopt_orphans()
    client = started(order)
    if client is None:
        return
    give_up_our_place()
    supervisor = Supervisor(client, life=order.life, told=order.told, adopts=adopts)
    tell(order.told, b"pid", client)
    supervisor.watch()
    supervisor.end_what_is_left()
    os.close(order.told)  # this says that all is over
    if order.folder:  # tracklog may be killed before it removes the folder itself
        supervisor.await_release()
        clear_folder(order.folder)


def started(order: Order) -> "int | None":
    """Starts the client in a process group of its own, with every signal as a shell would leave it."""
    prctl, supervisor = prctl_of_this_system(), os.getpid()
    try:
        os.chdir(order.cwd)
        reading, writing = os.pipe()  # both close on exec: nothing comes when the client has been started
        client = os.fork()
    except OSError as error:  # there is no such folder, or no room for a process
        tell(order.told, b"failed", error.errno or 0)
        return None
    if client == 0:
        become(order, prctl, supervisor, writing)
    os.close(writing)
    errno = whole(reading)
    if errno:  # there is no such program, or it is none
        os.waitpid(client, 0)
        tell(order.told, b"failed", int(errno))
        return None
    return client


def become(order: Order, prctl: "Prctl | None", supervisor: int, writing: int) -> None:
    """Turns a fork of the supervisor into the client. It never comes back.

    On Linux the system terminates the client when the supervisor dies, also by SIGKILL and together with who started it.
    """
    errno = 0
    try:
        import _signal  # type: ignore[import-not-found]  # built in; `signal` would keep the client waiting

        os.setpgid(0, 0)
        for number in range(1, 32):
            if number not in (KILL, STOP):
                _signal.signal(number, _signal.SIG_DFL)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, ())
        if prctl is not None:
            prctl(PARENT_DEATH_SIGNAL, TERMINATE)
        if os.getppid() == supervisor:  # else it has died before it could be asked for
            os.execve(order.words[0], order.words, order.variables)
    except OSError as error:
        errno = error.errno or 0
    finally:
        os.write(writing, b"%d" % errno)
        os._exit(127)


def tell(told: int, what: bytes, n: int) -> None:
    """Says one thing to who started us."""
    try:  # noqa: SIM105 - contextlib is not small
        os.write(told, b"%s %d\n" % (what, n))
    except OSError:
        pass  # it has died, and we go on


def adopt_orphans() -> bool:
    """On Linux: a process whose parent has died becomes our child, so that nothing gets out of our sight."""
    prctl = prctl_of_this_system()
    return prctl is not None and prctl(SUBREAPER, 1)


class Prctl:
    """prctl(2): what a process asks of Linux for itself."""

    def __init__(self) -> None:
        import _ctypes  # `ctypes` alone takes as long as all the rest

        self._call = _ctypes.call_cdeclfunction
        self._address = _ctypes.dlsym(_ctypes.dlopen(None, 0), "prctl")  # type: ignore[arg-type]  # None is the program itself

    def __call__(self, option: int, value: int) -> bool:
        return bool(self._call(self._address, (option, value, 0, 0, 0)) == 0)


def prctl_of_this_system() -> "Prctl | None":
    """None where there is none: what leaves its group and loses its parent is lost to us there."""
    try:
        return Prctl() if sys.platform == "linux" else None
    except (ImportError, AttributeError, OSError, TypeError):
        return None


def give_up_our_place() -> None:
    """The client's pipes are its own, and its folder is not held by us."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor, inheritable=False)
    os.close(null)
    os.chdir("/")


def wake_on_signals(on_terminate: "object") -> int:
    """A descriptor that becomes readable by a signal; those of a terminal are not for us."""
    import signal  # after the client was started: it is not small

    waking, woken = os.pipe()
    for descriptor in (waking, woken):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: on_terminate())  # type: ignore[operator]
    for unheard in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(unheard, signal.SIG_IGN)
    return waking


class ProcessRow:
    """What the system tells of a process."""

    def __init__(self, parent: int, group: int, start: int, *, is_alive: bool) -> None:
        self.parent, self.group, self.start, self.is_alive = parent, group, start, is_alive


def signal_all(pids: "dict[int, int]", number: int) -> None:
    """Sends a signal to each that is still the process that was seen; a start of 0 is not known."""
    for pid, start in pids.items():
        handle = handle_of(pid) if start else -1
        try:
            if not start or ((row := row_of(pid)) is not None and row.start == start):
                send(pid, handle, number)
        except OSError:
            pass  # it has gone, or it has become another user's
        finally:
            if handle >= 0:
                os.close(handle)


def handle_of(pid: int) -> int:
    """A hold on a process, whose number cannot become another's behind our back; -1 where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # another system, an old Linux, a sandbox; or it has gone
        return -1


def send(pid: int, handle: int, number: int) -> None:
    """Sends a signal, by the hold on the process if we have one."""
    import signal  # enum comes with it, and most runs send none

    if handle >= 0:
        signal.pidfd_send_signal(handle, number)
    else:
        os.kill(pid, number)


def processes() -> "dict[int, ProcessRow]":
    """All processes that we may see."""
    if not os.path.exists("/proc/self/stat"):
        return by_ps()
    rows = {int(name): row_of(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    return {pid: row for pid, row in rows.items() if row is not None}


def descendants(table: "dict[int, ProcessRow]", root: int) -> "set[int]":
    """Children, and theirs."""
    children: dict[int, list[int]] = {}
    for pid, row in table.items():
        children.setdefault(row.parent, []).append(pid)
    found: set[int] = set()
    open_ones = [root]
    while open_ones:
        new = [pid for pid in children.get(open_ones.pop(), ()) if pid not in found]
        found.update(new)
        open_ones += new
    return found


def living(table: "dict[int, ProcessRow]", pids: "set[int]") -> "dict[int, int]":
    """Those that have not ended, each with its start."""
    return {pid: table[pid].start for pid in pids if table[pid].is_alive}


def without(pids: "dict[int, int]", others: "dict[int, int]") -> "dict[int, int]":
    """Those that are not among the others."""
    return {pid: start for pid, start in pids.items() if others.get(pid) != start}


def row_of(pid: int) -> "ProcessRow | None":
    """A process on Linux (proc(5): state, parent and group are fields 3 to 5, threads 20, start 22)."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            fields = file.read().rpartition(b")")[2].split()
        # A main thread that ended before its others looks like a zombie, and lives.
        is_alive = fields[0] not in (b"Z", b"X") or int(fields[17]) > 1
        return ProcessRow(int(fields[1]), int(fields[2]), int(fields[19]), is_alive=is_alive)
    except (OSError, IndexError):
        return None  # it ended while we looked


def by_ps() -> "dict[int, ProcessRow]":
    """All processes, where there is no /proc; their starts are told to the second only, and left out."""
    reading, writing = os.pipe()
    actions = [(os.POSIX_SPAWN_DUP2, writing, 1)]
    words = ["ps", "-A", "-o", "pid=,ppid=,pgid=,state="]
    try:
        ps = os.posix_spawnp("ps", words, os.environ, file_actions=actions)
    except OSError:
        ps = 0  # there is no such program: we see nothing
    os.close(writing)
    with open(reading, "rb") as stream:
        rows = [line.split() for line in stream.read().splitlines()]
    whole = [row for row in rows if len(row) == 4 and int(row[0]) != ps]
    return {
        int(row[0]): ProcessRow(int(row[1]), int(row[2]), 0, is_alive=row[3][:1] != b"Z") for row in whole
    }


def clear_folder(path: str) -> bool:
    """Removes a private folder with what we make in it; whether it is gone. What is not ours stays, with its folder."""
    folder = opened(path)
    if folder is None:
        return not os.path.lexists(path)
    try:
        asks = opened(ASKS, folder)
        if asks is not None:
            clear(asks, [name for name in os.listdir(asks) if ".json" in name])
            os.close(asks)
            without_error(os.rmdir, ASKS, folder)
        clear(folder, [name for name in os.listdir(folder) if is_ours(name)])
    finally:
        os.close(folder)
    without_error(os.rmdir, path, None)
    return not os.path.lexists(path)


def opened(path: str, folder: "int | None" = None) -> "int | None":
    """A folder that is one, and no link to one."""
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    except OSError:
        return None


def is_ours(name: str) -> bool:
    """Whether we make such a file; one that is being written has a dot before its name, and our number behind."""
    return name in NAMES or name.startswith((PAYLOAD, *(f".{one}." for one in NAMES)))


def clear(folder: int, names: "list[str]") -> None:
    """Removes files, and links as such."""
    for name in names:
        without_error(os.unlink, name, folder)


def without_error(remove: "object", path: str, folder: "int | None") -> None:
    """Removes what is there and may be removed."""
    try:  # noqa: SIM105 - contextlib is not small
        remove(path, dir_fd=folder)  # type: ignore[operator]
    except OSError:
        pass  # it is gone, it is no file, or something that is not ours is in it: it stays


if __name__ == "__main__":
    main(sys.argv[1:])
    os._exit(0)  # at once: nothing is left to be flushed
