"""What Claude Code runs when it would ask a person: the question becomes a file, and who answers it decides.

    python -I -S ask_hook.py --folder DIR --wait S [--home HOME] < payload

| file in DIR/asks | what |
|---|---|
| ID.json | the question: `{"v":1,"id","at","until","pid","session","tool","input",…}`; its writer holds a lock on it while it waits |
| ID.answer.json | the answer, put there whole by `tracklog answer`: `{"verdict":"allow"|"deny","reason":…}` |
| ID.taken.json, *.new.json | an answer that is being passed on, a file that is being written |

Rules
  1. Nothing is decided here. Without an answer of our own user nothing is printed: the client goes its own way.
  2. Whatever happens, the exit code is 0 and stderr is empty; the question is taken away when nobody waits any more.
  3. An answer is ours once we have renamed it: until then it can be taken back. When the client has been told, the file
     (which who answered holds open) becomes 0400: that proves it, whatever happens to us next.
  4. Only files that belong to us, and that others cannot write, are answers. No path in a payload is opened.
  5. What was asked goes to the spool, too, as `hook.py` puts it there.
"""

import fcntl
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False  # that of `typing` would have to be imported, and takes longer than all the rest
if TYPE_CHECKING:
    from types import ModuleType

TICK_MS = 50
MOST_INPUT = 64 << 10  # bytes of a call's input that are shown
MOST_SUGGESTED = 16 << 10
MOST_ANSWER = 64 << 10
LONGEST_ID = 64
PRIVATE_FOLDER, PRIVATE_FILE, TOLD_FILE = 0o700, 0o600, 0o400
ID_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
WITHOUT_A_REASON = "The user was asked, and denied this."


def main(arguments: "list[str]") -> None:
    """Asks one question, and prints the answer if there is one in time."""
    folder, wait_s, home = options(arguments)
    if not folder or not 0 <= wait_s < float("inf") or os.isatty(0):
        return
    hook = spooling()
    at = int(time.time() * 1000)
    data, n_bytes = hook.from_stdin()
    payload = read(data) if n_bytes <= hook.MOST_BYTES else None
    if payload is None:
        return
    if home:
        spool(hook, home, at, data)
    asks = os.path.join(folder, "asks")
    unheard = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # until a process cleans up
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    id = put(asks, question(payload, at, wait_s))
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, unheard)
        answer, file = awaited(asks, id, wait_s)
    finally:
        remove(place(asks, id))
    if answer:
        say(answer)
        os.fchmod(file, TOLD_FILE)


def options(arguments: "list[str]") -> "tuple[str, float, str]":
    """The private folder of the run, how long to wait, and our home. What we do not know is ignored."""
    given = dict(zip(arguments[::2], arguments[1::2], strict=False))
    return given.get("--folder", ""), float(given.get("--wait", "nan")), given.get("--home", "")


def spooling() -> "ModuleType":
    """The hook beside us, which knows how to read payloads and to spool them. Python runs us without any path to it."""
    sys.dont_write_bytecode = (
        True  # on a full disk Python would leave half of it, which spoils every later import
    )
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    try:
        return __import__("hook")
    finally:
        sys.path.pop()


def read(data: bytes) -> "dict[str, object] | None":
    """The payload, if it is what this hook is for."""
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError):
        return None
    is_asking = isinstance(payload, dict) and payload.get("hook_event_name") == "PermissionRequest"
    return payload if is_asking else None


def spool(hook: "ModuleType", home: str, at: int, data: bytes) -> None:
    """Tells the board. That it cannot be told is no reason not to ask."""
    head = b'{"v":1,"at":%d,"agent":"claude","pid":%d,"ppid":%d,' % (at, os.getpid(), hook.parent())
    try:
        hook.append(home, head + hook.told(data, len(data)) + b"}\n")
    except OSError:
        return


def question(payload: "dict[str, object]", at: int, wait_s: float) -> "dict[str, object]":
    """What a person needs to know to decide."""
    call = payload.get("tool_use_id")
    is_name = isinstance(call, str) and 0 < len(call) <= LONGEST_ID and ID_LETTERS.issuperset(call)
    asked = {
        "v": 1,
        "id": call if is_name else os.urandom(4).hex(),
        "at": at,
        "until": at + int(wait_s * 1000),
        "pid": os.getpid(),
        "session": payload.get("session_id"),
        "thread": payload.get("agent_id"),
        "cwd": payload.get("cwd"),
        "mode": payload.get("permission_mode"),
        "tool": payload.get("tool_name"),
        "input": payload.get("tool_input"),
        "suggestions": payload.get("permission_suggestions"),
    }
    text = json.dumps(asked["input"])
    if len(text) > MOST_INPUT:
        asked |= {"input": text[:MOST_INPUT], "input_bytes": len(text)}
    if len(json.dumps(asked["suggestions"])) > MOST_SUGGESTED:
        asked["suggestions"] = None
    return asked


def put(asks: str, asked: "dict[str, object]") -> str:
    """Puts the question in its place, whole and locked. The lock stays ours until we end."""
    if not os.path.isdir(asks):
        os.mkdir(asks, PRIVATE_FOLDER)
    id, other = str(asked["id"]), os.urandom(4).hex()
    if os.path.lexists(place(asks, id)):
        id = other  # the same call is asked about twice
    aside = place(asks, f"{other}.new")
    file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, PRIVATE_FILE)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        write(file, json.dumps({**asked, "id": id}).encode() + b"\n")
        os.link(aside, place(asks, id))
    finally:
        remove(aside)
    return id


def place(asks: str, name: str) -> str:
    """The file of this name."""
    return os.path.join(asks, f"{name}.json")


def remove(path: str) -> None:
    """Takes a file away that may be gone with its whole folder."""
    try:
        os.unlink(path)
    except OSError:
        return


def awaited(asks: str, id: str, wait_s: float) -> "tuple[dict[str, object], int]":
    """The answer and its file; an empty one if the time is over, the question taken away, or nobody hears us any more."""
    until = time.monotonic() + wait_s
    hearer = select.poll()
    hearer.register(1, 0)  # tells only that the other end is closed
    while True:
        answer, file = taken(asks, id)
        left_ms = (until - time.monotonic()) * 1000
        if answer or left_ms <= 0 or not os.path.lexists(place(asks, id)):
            return answer, file
        if hearer.poll(min(TICK_MS, left_ms)):
            return {}, -1


def taken(asks: str, id: str) -> "tuple[dict[str, object], int]":
    """The answer and its file, if one is there; what is none is dropped."""
    ours = place(asks, f"{id}.taken")
    try:
        os.rename(place(asks, f"{id}.answer"), ours)
        file = os.open(ours, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return {}, -1
    finally:
        remove(ours)
    return verdict_in(file), file


def verdict_in(file: int) -> "dict[str, object]":
    """The contents of a file of our own user that says allow or deny; empty if it is none."""
    facts = os.fstat(file)
    if facts.st_mode & 0o170022 != 0o100000 or facts.st_uid != os.geteuid():
        return {}
    try:
        answer = json.loads(os.read(file, MOST_ANSWER))
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) and answer.get("verdict") in ("allow", "deny") else {}


def say(answer: "dict[str, object]") -> None:
    """Prints the decision in the client's words (docs/answer.md#what-the-client-is-told)."""
    decision = {"behavior": answer["verdict"]}
    if answer["verdict"] == "deny":
        reason = answer.get("reason")
        decision["message"] = reason if isinstance(reason, str) and reason else WITHOUT_A_REASON
    said = {"hookEventName": "PermissionRequest", "decision": decision}
    write(1, json.dumps({"hookSpecificOutput": said}).encode() + b"\n")


def write(file: int, data: bytes) -> None:
    """All of it."""
    while data:
        data = data[os.write(file, data) :]


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    finally:  # a door: no mistake, no signal and no full disk may reach the agent
        os._exit(0)
