"""What agents run at every hook event: what they tell on stdin becomes one line of our spool.

    python -I -S hook.py --home DIR [--agent claude|codex] < payload
    python -I -S hook.py --home DIR [--agent codex] --notify PAYLOAD

A line of `DIR/spool/hooks.jsonl`:
    {"v":1,"at":<epoch ms>,"agent":"claude","pid":<ours>,"ppid":<who ran us>,"payload":{…as it came…}}
What is no JSON object stands as `"garbage":"<its head>","n_bytes":<all of it>` in place of the payload.

Rules
  1. Hooks never steer the agent: exit code 0, nothing on stdout or stderr, in time, whatever happens.
  2. One line is one write at the end of the file, so any number of us may write at once, without a lock.
  3. Nothing in a payload is ever acted upon: no path is opened, no word is run.
  4. Nothing but the standard library is imported, and of that only what is small: `json` alone takes as long as Python.
"""

import os
import select
import sys
import time

MOST_BYTES = 16 << 20  # of a payload; of a longer one only the head is kept
HEAD_BYTES = 64 << 10  # of what is no payload
STDIN_S = 2.0  # without a byte; who keeps stdin open and says nothing is not waited for
WHOLE_S = 10.0  # for all of it
AGENTS = ("claude", "codex")
PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
WHITE = b" \t\n\r"
BOM = b"\xef\xbb\xbf"
ONE_LINE = bytes.maketrans(
    b"\n\r", b"  "
)  # outside of strings JSON takes blanks for newlines; inside it has none


class Numbers:
    """How the scanner is to read numbers: cheaply, and without a limit to their digits."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float = parse_int = parse_constant = float


def main(arguments: "list[str]") -> None:
    """Spools one hook call."""
    at = int(time.time() * 1000)
    home, agent, notice = options(arguments)
    if not home:
        return
    if notice is None:
        if os.isatty(0):
            return  # somebody tries us by hand
        data, n_bytes = from_stdin()
    else:
        data, n_bytes = notice, len(notice)
    via = b',"via":"notify"' if notice is not None else b""
    head = b'{"v":1,"at":%d,"agent":%s,"pid":%d,"ppid":%d%s,' % (at, agent, os.getpid(), parent(), via)
    append(home, head + told(data, n_bytes) + b"}\n")


def options(arguments: "list[str]") -> "tuple[str, bytes, bytes | None]":
    """Our home, the agent as JSON, and what it tells in an argument instead of on stdin. What we do not know is ignored."""
    home, agent, notice = "", b"null", None
    for n, name in enumerate(arguments[:-1]):
        value = arguments[n + 1]
        if name == "--home":
            home = home or value
        elif name == "--agent" and value in AGENTS:
            agent = b'"%s"' % value.encode()
        elif name == "--notify":
            return home, agent, os.fsencode(arguments[-1])
    return home, agent, notice


def parent() -> int:
    """Who ran us; the installed command has a shell in between, which tells who ran it."""
    said = os.environ.get("TRACKLOG_PPID", "")
    return int(said) if said.isascii() and said.isdigit() and len(said) < 10 else os.getppid()


def from_stdin() -> "tuple[bytes, int]":
    """What stands on stdin, and how long it was: too much of it is counted and dropped, so that nobody is cut off."""
    parts: list[bytes] = []
    n_bytes = 0
    until = time.monotonic() + WHOLE_S
    try:
        while time.monotonic() < until and select.select([0], [], [], STDIN_S)[0]:
            part = os.read(0, 1 << 20)
            if not part:
                break
            if n_bytes <= MOST_BYTES:
                parts.append(part)
            n_bytes += len(part)
    except OSError:
        pass  # stdin is closed, or nothing that can be read: what came counts
    return b"".join(parts), n_bytes


def told(data: bytes, n_bytes: int) -> bytes:
    """The payload as a part of our line, or what stands there in its place."""
    body = data.removeprefix(BOM).strip(WHITE)
    if n_bytes <= MOST_BYTES and is_object(body):
        return b'"payload":' + body.translate(ONE_LINE)
    from _json import encode_basestring_ascii  # json itself loads more

    text = data[:HEAD_BYTES].decode("utf-8", "replace")
    return b'"garbage":%s,"n_bytes":%d' % (encode_basestring_ascii(text).encode(), n_bytes)


def is_object(body: bytes) -> bool:
    """Whether this is one JSON object and nothing else."""
    if body[:1] != b"{":
        return False
    from _json import make_scanner  # what `json` itself scans with; it is loaded in a tenth of the time

    try:
        text = body.decode()
        _, end = make_scanner(Numbers)(text, 0)  # type: ignore[arg-type]  # anything with these names will do
    except (
        ValueError,
        RecursionError,
        StopIteration,
        SystemError,
    ):  # the last: `json` is not there to name the error
        return False
    return bool(end == len(text))


def append(home: str, line: bytes) -> None:
    """Puts a line behind the others. Where the last one was cut off (a full disk), ours begins on a line of its own."""
    spool = os.path.join(home, "spool")
    for folder in (home, spool):
        if not os.path.isdir(folder):
            try:  # noqa: SIM105 - contextlib would have to be loaded
                os.mkdir(folder, PRIVATE_FOLDER)
            except FileExistsError:
                pass  # another hook was faster
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    file = os.open(os.path.join(spool, "hooks.jsonl"), flags, PRIVATE_FILE)
    if os.fstat(file).st_mode & 0o170000 != 0o100000:
        return  # a pipe or a device in the place of the spool
    if is_cut_off(file):
        line = b"\n" + line
    written = os.write(file, line)
    while 0 < written < len(line):
        line = line[written:]
        written = os.write(file, line)


def is_cut_off(file: int) -> bool:
    """Whether the last line has no end. While another hook writes a long one that only seems so: then once more."""
    for _ in range(5):
        size = os.fstat(file).st_size
        if not size or os.pread(file, 1, size - 1) == b"\n":
            return False
        time.sleep(0.002)
    return True


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    finally:  # a door: no mistake, no signal and no full disk may reach the agent
        os._exit(0)  # at once: nothing is left to be flushed, and what Python does at its end can fail, too
