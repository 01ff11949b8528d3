"""Clients under our supervisor, with real processes: whoever dies, nothing of a client goes on."""

from __future__ import annotations

import json
import os
import secrets
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

from tracklog import supervisor
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.run.process import supervise
from tracklog.run.process.private_dir import make_private
from tracklog.run.process.supervise import MARK, SupervisedClient, start_supervised

DETACHED = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    far = os.fork()
    if far == 0:
        os.setpgid(0, 0)
        for descriptor in (0, 1, 2): os.close(descriptor)
        time.sleep(300)
    print("far", far, flush=True)
    os._exit(0)
os.wait()
"""
LAST = 1000
DEAF = "import signal\nfor one in (2, 15, 1): signal.signal(one, signal.SIG_IGN)\n"
STAY = "print('here', flush=True)\nimport time\ntime.sleep(300)\n"
RUNNING_AWAY = """
import os, time
print("here", flush=True)
for _ in range(2000):  # one lives at a time, in a session of its own, and it ends by itself
    if os.fork(): os._exit(0)
    os.setsid()
    time.sleep(0.002)
"""


class Ended(NamedTuple):
    """How a client ended, and all that was heard of it."""

    told: list[tuple[str, int]]
    out: bytes
    err: bytes


class Clients:
    """Starts clients with a mark, and finds whoever bears it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = secrets.token_hex(8)
        self.env = {**os.environ, MARK: self.run}
        self.all: list[SupervisedClient] = []

    def python(self, source: str, *words: str, folder: Path | None = None) -> SupervisedClient:
        return self.start(sys.executable, "-c", source, *words, folder=folder)

    def start(self, *argv: str, folder: Path | None = None) -> SupervisedClient:
        kept = start_supervised(argv, cwd=self.folder, env=self.env, folder=folder)
        self.all.append(kept)
        return kept

    def running(self) -> list[psutil.Process]:
        return [one for one in psutil.process_iter() if _mark_of(one) == self.run]


def _mark_of(process: psutil.Process) -> str | None:
    try:
        return None if process.status() == psutil.STATUS_ZOMBIE else process.environ().get(MARK)
    except psutil.Error:
        return None


@pytest.fixture
def clients(tmp_path: Path) -> Iterator[Clients]:
    started = Clients(tmp_path)
    yield started
    for kept in started.all:
        kept.close()
    left = started.running()
    for process in left:
        process.kill()
    assert left == []


def heard_out(
    kept: SupervisedClient, *, seconds: float = 60, until: Callable[[Ended], bool] | None = None
) -> Ended:
    """All that is heard of a client until it is over, or until something was heard."""
    ended = Ended([], b"", b"")
    deadline = time.monotonic() + seconds
    streams = {kept.stdout: bytearray(), kept.stderr: bytearray()}
    open_ones = {kept.stdout, kept.stderr, kept.reports}
    while open_ones:
        assert time.monotonic() < deadline, ended
        for descriptor in select.select(list(open_ones), [], [], 1)[0]:
            if descriptor == kept.reports:
                ended.told.extend(kept.read_reports())
                open_ones -= {kept.reports} if kept.is_over else set()
            elif data := os.read(descriptor, 1 << 20):
                streams[descriptor] += data
            else:
                open_ones.discard(descriptor)
        ended = Ended(ended.told, bytes(streams[kept.stdout][-LAST:]), bytes(streams[kept.stderr]))
        if until is not None and until(ended):
            break
    return Ended(ended.told, bytes(streams[kept.stdout]), bytes(streams[kept.stderr]))


def said(word: bytes) -> Callable[[Ended], bool]:
    """Whether the client has said this and a newline behind it, and we know its pid."""
    return lambda ended: word in ended.out and ended.out.endswith(b"\n") and bool(ended.told)


def eventually(is_so: Callable[[], bool], *, seconds: float = 60) -> bool:
    until = time.monotonic() + seconds
    while not is_so() and time.monotonic() < until:
        time.sleep(0.02)
    return is_so()


def test_a_client_that_ends_by_itself_tells_its_pid_and_its_exit_code(clients: Clients) -> None:
    kept = clients.python("import os, sys; print(os.getpid()); print('err', file=sys.stderr); sys.exit(3)")
    kept.feed(b"")
    ended = heard_out(kept)
    assert ended == ([("pid", kept.pid), ("exit", 3)], b"%d\n" % (kept.pid or 0), b"err\n")
    assert (kept.is_over, kept.exit_code, kept.failure) == (True, 3, None)


def test_a_client_that_was_killed_tells_the_signal(clients: Clients) -> None:
    kept = clients.python("import os; os.kill(os.getpid(), 9)")
    assert heard_out(kept).told == [("pid", kept.pid), ("exit", -9)]


def test_the_prompt_reaches_the_client_whole_and_then_ends(clients: Clients) -> None:
    prompt = secrets.token_bytes(5_000_000)
    kept = clients.start("cat")
    kept.feed(prompt)
    assert heard_out(kept) == ([("pid", kept.pid), ("exit", 0)], prompt, b"")


def test_twenty_megabytes_of_stdout_come_through(clients: Clients) -> None:
    kept = clients.python("import os\nfor n in range(20): os.write(1, bytes([n]) * (1 << 20))")
    ended = heard_out(kept, seconds=60)
    assert ended.told == [("pid", kept.pid), ("exit", 0)]
    assert ended.out == b"".join(bytes([n]) * (1 << 20) for n in range(20))


def test_a_client_that_never_reads_its_prompt_does_not_hold_us(clients: Clients) -> None:
    kept = clients.python(STAY)
    kept.feed(b"x" * 5_000_000)  # more than a pipe holds: to write it here would never end
    heard_out(kept, until=said(b"here"))
    kept.kill()
    assert heard_out(kept).told == [("exit", -9)]


def test_a_client_may_close_its_stdin_before_all_of_the_prompt_has_come(clients: Clients) -> None:
    kept = clients.python("import os; os.read(0, 10); os.close(0); print('closed', flush=True)")
    kept.feed(b"x" * 5_000_000)
    assert heard_out(kept) == ([("pid", kept.pid), ("exit", 0)], b"closed\n", b"")


def test_an_interrupt_reaches_the_client_and_not_its_children(clients: Clients) -> None:
    source = "import subprocess, time\nprint('here', subprocess.Popen(['sleep', '300']).pid, flush=True)\ntime.sleep(300)"
    kept = clients.python(source)
    child = psutil.Process(int(heard_out(kept, until=said(b"here")).out.split()[1]))
    kept.interrupt()
    told = heard_out(kept).told
    assert told == [("exit", -2), ("left", 1)]  # the child went on until the supervisor ended it
    assert not child.is_running()


def test_terminate_is_a_signal_that_the_client_may_answer(clients: Clients) -> None:
    source = "import signal, sys\nsignal.signal(15, lambda *_: sys.exit(7))\n" + STAY
    kept = clients.python(source)
    heard_out(kept, until=said(b"here"))
    kept.terminate()
    assert heard_out(kept).told == [("exit", 7)]


def test_who_ignores_every_other_signal_is_killed(clients: Clients) -> None:
    kept = clients.python(DEAF + STAY)
    heard_out(kept, until=said(b"here"))
    kept.interrupt()
    kept.terminate()
    time.sleep(0.3)
    assert kept.read_reports() == []
    kept.kill()
    assert heard_out(kept).told == [("exit", -9)]


def test_what_left_group_and_session_is_killed_with_the_client(clients: Clients) -> None:
    kept = clients.python(DETACHED + STAY)
    far = psutil.Process(int(heard_out(kept, until=said(b"here")).out.split()[1]))
    assert (os.getsid(far.pid) != os.getsid(kept.pid or 0), far.is_running()) == (True, True)
    kept.kill()
    heard_out(kept)
    assert (far.is_running(), clients.running()) == (False, [])


def test_what_outlives_the_client_is_ended_and_counted(clients: Clients) -> None:
    kept = clients.python(DETACHED)
    ended = heard_out(kept)
    assert ended.told == [("pid", kept.pid), ("exit", 0), ("left", 1)]
    assert clients.running() == []


def test_what_outlives_the_client_and_ignores_signals_is_killed(clients: Clients) -> None:
    kept = clients.python(DEAF + DETACHED)
    assert heard_out(kept).told == [("pid", kept.pid), ("exit", 0), ("left", 1)]


def test_even_who_forks_at_once_does_not_get_away(clients: Clients) -> None:
    """An orphan of the first millisecond is the supervisor's already: it adopts before it starts the client."""
    for _ in range(4):
        kept = clients.start("/bin/sh", "-c", "(setsid sleep 300 >/dev/null 2>&1 </dev/null &)")
        assert [what for what, _ in heard_out(kept).told][:2] == ["pid", "exit"]
        assert clients.running() == []


def test_who_forks_and_ends_all_the_time_does_not_get_away(clients: Clients) -> None:
    kept = clients.python(RUNNING_AWAY)
    heard_out(kept, until=said(b"here"))
    time.sleep(0.3)
    kept.kill()
    heard_out(kept)
    assert clients.running() == []


def test_close_ends_what_runs_and_a_second_time_does_nothing(clients: Clients) -> None:
    kept = clients.python(DEAF + DETACHED + STAY)
    heard_out(kept, until=said(b"here"))
    before = psutil.Process().num_fds()
    kept.close()
    kept.close()
    kept.kill()  # and whoever comes late does no harm
    assert (kept.is_over, clients.running()) == (True, [])
    assert psutil.Process().num_fds() == before - 5


def test_close_without_a_word_heard_leaves_nothing(clients: Clients) -> None:
    clients.python(STAY).close()
    assert clients.running() == []


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT])
def test_when_the_supervisor_dies_we_end_the_client_and_nobody_knows_its_exit_code(
    clients: Clients, number: int
) -> None:
    kept = clients.python(DEAF + DETACHED + STAY)
    heard_out(kept, until=said(b"here"))
    psutil.Process(kept.pid).parent().send_signal(number)  # type: ignore[union-attr]
    ended = heard_out(kept)
    assert [what for what, _ in ended.told] == ["lost"]
    assert (kept.exit_code, kept.is_over, clients.running()) == (None, True, [])


def test_a_supervisor_that_is_told_to_end_interrupts_the_client_first(clients: Clients) -> None:
    source = "import signal, sys\nsignal.signal(2, lambda *_: sys.exit(5))\n" + STAY
    kept = clients.python(source)
    heard_out(kept, until=said(b"here"))
    psutil.Process(kept.pid).parent().terminate()  # type: ignore[union-attr]
    assert heard_out(kept).told == [("exit", 5)]


def test_a_supervisor_that_was_stopped_does_not_hold_us(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervise, "_SUPERVISOR_S", 0.5)
    kept = clients.python(DETACHED + STAY)
    heard_out(kept, until=said(b"here"))
    psutil.Process(kept.pid).parent().suspend()  # type: ignore[union-attr]
    kept.close()
    assert (kept.is_over, clients.running()) == (True, [])


PARENT = """
import os, sys, time
from pathlib import Path
from tracklog.run.process import prestart
from tracklog.run.process.supervise import start_supervised
from tracklog.run.process.private_dir import make_private
from tracklog.home import Home
prestart.leaf = lambda _: sys.argv[4]
private = make_private(Home(Path(sys.argv[2])), "0123456789abcdef")
private.write("settings.json", b"{}")
(private.path / "asks").mkdir()
(private.path / "asks" / "1.json").write_bytes(b"{}")
kept = start_supervised([sys.executable, "-c", sys.argv[1]], cwd=Path(sys.argv[2]), env=os.environ, folder=private.path)
kept.feed(b"x" * int(sys.argv[3]))
seen = b""
while b"here" not in seen:
    try: seen += os.read(kept.stdout, 100)
    except BlockingIOError: time.sleep(0.01)
print("ready", flush=True)
time.sleep(300)
"""


def quick_supervisor(folder: Path) -> Path:
    """A copy of the supervisor that terminates after half a second, and kills soon after."""
    source = Path(supervisor.__file__).read_text()
    for usual, quick in (("(5.0, TERMINATE)", "(0.5, TERMINATE)"), ("(8.0, KILL)", "(0.8, KILL)")):
        assert source.count(usual) == 1
        source = source.replace(usual, quick)
    (folder / "quick_supervisor.py").write_text(source)
    return folder / "quick_supervisor.py"


@pytest.mark.parametrize("n_fed", [0, 5_000_000])
@pytest.mark.parametrize(
    "source", [STAY, DETACHED + STAY, DEAF + DETACHED + STAY], ids=["plain", "far", "deaf"]
)
def test_when_we_are_killed_nothing_goes_on_and_the_private_folder_is_gone(
    clients: Clients, tmp_path: Path, source: str, n_fed: int
) -> None:
    argv = [sys.executable, "-c", PARENT, source, str(tmp_path), str(n_fed), str(quick_supervisor(tmp_path))]
    env = {**clients.env, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    with subprocess.Popen(argv, env=env, stdout=subprocess.PIPE, cwd=tmp_path) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"ready\n"
        assert len(clients.running()) >= 3  # we, the supervisor, the client
        parent.kill()
    assert eventually(lambda: clients.running() == [])
    assert list((tmp_path / "runs/now").iterdir()) == []


def test_the_folder_goes_when_the_run_is_closed_and_may_be_removed_once_more(
    clients: Clients, tmp_path: Path
) -> None:
    private = make_private(Home(tmp_path), clients.run)
    kept = clients.start("true", folder=private.path)
    heard_out(kept)
    assert private.path.exists()  # its hooks' last payloads may not have been read yet
    kept.close()
    assert not private.path.exists()
    private.remove()


def test_the_client_gets_our_environment_folder_and_arguments_and_nothing_else(clients: Clients) -> None:
    source = "import os, sys, json; print(json.dumps([dict(os.environ), os.getcwd(), sys.argv[1:], os.listdir('/proc/self/fd')]))"
    clients.env = {"PATH": os.environ["PATH"], MARK: clients.run, "LC_ALL": "C", "ODD": "\udcff é\n"}
    words = ["--", "-c", "", "$(id)", "a b", "\udcff", "é\n"]
    kept = clients.python(source, *words)
    (line,) = heard_out(kept).out.splitlines()
    env, cwd, arguments, descriptors = json.loads(line)
    assert (env, cwd, arguments) == (clients.env, str(clients.folder), words)
    assert len(descriptors) == 4  # three, and the one it lists them with


def test_a_plain_locale_stays_plain(clients: Clients) -> None:
    clients.env = {"PATH": os.environ["PATH"], MARK: clients.run}
    out = heard_out(clients.start("env")).out
    assert sorted(out.splitlines()) == sorted(
        f"{name}={value}".encode() for name, value in clients.env.items()
    )


def test_signals_are_as_a_shell_leaves_them(clients: Clients) -> None:
    """Python ignores SIGPIPE and SIGXFSZ; a client that inherits that writes into closed pipes for ever."""
    out = heard_out(clients.start("grep", "-E", "^Sig(Ign|Blk|Cgt)", "/proc/self/status")).out
    masks = dict(line.split(b":\t") for line in out.splitlines())
    ignored, blocked = int(masks[b"SigIgn"], 16), int(masks[b"SigBlk"], 16)
    assert (ignored & 0x7FFFFFFF, blocked) == (0, 0)


def test_a_program_that_is_not_there_is_the_users_to_name(clients: Clients) -> None:
    clients.env["PATH"] = str(clients.folder)
    told = {}
    for name in ("claude", "codex", "other", "./other"):
        with pytest.raises(UserError) as caught:
            clients.start(name)
        told[name] = str(caught.value)
    assert told == {
        "claude": "no program claude on PATH: install Claude Code, or name the program with --client",
        "codex": "no program codex on PATH: install Codex, or name the program with --client",
        "other": "no program other on PATH: install it, or name the program with --client",
        "./other": "./other is no program that can be run: name another with --client",
    }


def test_a_folder_that_is_not_there_is_the_users_to_name(clients: Clients, tmp_path: Path) -> None:
    before = psutil.Process().num_fds()
    with pytest.raises(UserError, match=f"^cannot work in {tmp_path}/none: it cannot be entered"):
        start_supervised(["true"], cwd=tmp_path / "none", env=clients.env, folder=None)
    assert psutil.Process().num_fds() == before


def test_a_program_that_cannot_be_run_is_told_with_its_reason(clients: Clients) -> None:
    broken = clients.folder / "broken"
    broken.write_text("#!/no/such/interpreter\n")
    broken.chmod(0o700)
    kept = clients.start(str(broken))
    assert heard_out(kept).told == [("failed", 2)]
    assert (kept.is_over, kept.exit_code, str(kept.failure)) == (
        True,
        None,
        "[Errno 2] No such file or directory",
    )


def test_many_clients_at_once_do_not_disturb_one_another(clients: Clients) -> None:
    """The end of one's pipe must not wait for another that was started meanwhile."""
    stays = [clients.python(STAY) for _ in range(4)]
    short = [clients.python(f"print({n})") for n in range(8)]
    stays += [clients.python(STAY) for _ in range(4)]
    assert [heard_out(kept).out for kept in short] == [b"%d\n" % n for n in range(8)]
    for kept in stays:
        kept.kill()
    assert {heard_out(kept).told[-1] for kept in stays} == {("exit", -9)}


def test_a_mark_that_is_our_own_parents_is_not_followed(
    clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inside of a child of another run, its mark stands in our own environment, too."""
    monkeypatch.setenv(MARK, clients.run)
    bystander = subprocess.Popen(["sleep", "300"], env=clients.env)
    kept = clients.python(STAY)
    heard_out(kept, until=said(b"here"))
    psutil.Process(kept.pid).parent().kill()  # type: ignore[union-attr]
    assert heard_out(kept).told[-1][0] == "lost"
    assert eventually(lambda: not psutil.pid_exists(kept.pid or 0))
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()
