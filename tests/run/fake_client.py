"""A program that behaves like `claude -p --output-format stream-json`, and obeys words in its prompt.

    sleep 2          after its first request it does nothing for two seconds
    fail             its result is an error
    overload twice   the first two times that it gets this prompt, the API has no room (`once`, `twice`, `thrice`)
    die              it is killed before its first request; `die late`: after it
    say anything     its last words, to the end of the line; without it `done: PROMPT`
    differ           its last words are its session's id
    write a.txt      it calls a tool that changes this file
    spend 5          it costs five times as much

It writes a transcript where Claude Code would. In the folder FAKE_CLIENT_STATE it notes every start, a line each, in
`starts`, every request that it has paid for in `requests`, and its process in `pids`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import stat
import sys
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

MODEL = "claude-sonnet-4-5-20250929"
USAGE = {
    "input_tokens": 1_000,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "output_tokens": 100,
    "service_tier": "standard",
}
COST_MICRO_USD = 1_000 * 3 + 100 * 15  # of one request, at the prices of Sonnet 4.5
TIMES = {"once": 1, "twice": 2, "thrice": 3}


def install(folder: Path) -> Path:
    """Puts the program into a folder, under the name of the real one."""
    folder.mkdir(parents=True, exist_ok=True)
    source = Path(__file__).resolve().parents[2] / "src"
    program = folder / "claude"
    program.write_text(
        f"#!{sys.executable} -IS\nimport sys\nsys.path.insert(0, {str(source)!r})\n"
        f"__file__ = {__file__!r}\nexec(compile(open(__file__).read(), __file__, 'exec'))\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


class Session:
    """What is written of one session, to its log and to stdout."""

    def __init__(self, session: str, cwd: str, *, persists: bool) -> None:
        from tracklog.agents.claude_code.places import transcript_path

        self.id = session
        self.cwd = cwd
        self._path = transcript_path(session, cwd, env=os.environ) if persists else None
        self._parent: str | None = None
        self.began = time.monotonic()
        self.n_turns = 0
        self.cost_micro_usd = 0

    def log(self, kind: str, message: dict[str, Any], **more: Any) -> None:
        """A line of the transcript."""
        if self._path is None:
            return
        line = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            "message": message,
            "uuid": str(uuid.uuid4()),
            "timestamp": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z",
            "userType": "external",
            "entrypoint": "sdk-cli",
            "cwd": self.cwd,
            "sessionId": self.id,
            "version": "2.1.325",
            "gitBranch": "HEAD",
            **more,
        }
        self._parent = line["uuid"]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("ab") as stream:
            stream.write(json.dumps(line).encode() + b"\n")

    def say(self, document: dict[str, Any]) -> None:
        """A line of the stream."""
        sys.stdout.write(json.dumps({**document, "session_id": self.id}) + "\n")
        sys.stdout.flush()

    def reply(self, block: dict[str, Any], *, times: int, stop_reason: str) -> None:
        """One request, with what the model said."""
        self.n_turns += 1
        self.cost_micro_usd += COST_MICRO_USD * times
        usage = {name: value * times if isinstance(value, int) else value for name, value in USAGE.items()}
        message = {
            "id": f"msg_01{uuid.uuid4().hex[:22]}",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": stop_reason,
            "stop_sequence": None,
            "usage": usage,
        }
        note("requests", f"{self.id} {COST_MICRO_USD * times}")
        self.log("assistant", message, requestId=f"req_01{uuid.uuid4().hex[:22]}")
        self.say({"type": "assistant", "message": message, "parent_tool_use_id": None})

    def end(self, text: str, *, is_error: bool = False, status: int | None = None) -> int:
        """The result; returns the exit code."""
        took_ms = int((time.monotonic() - self.began) * 1000)
        self.say(
            {
                "type": "result",
                "subtype": "success",
                "is_error": is_error,
                "api_error_status": status,
                "duration_ms": took_ms,
                "duration_api_ms": took_ms,
                "num_turns": self.n_turns,
                "result": text,
                "total_cost_usd": self.cost_micro_usd / 1e6,
                "usage": USAGE,
                "modelUsage": {},
                "permission_denials": [],
                "uuid": str(uuid.uuid4()),
            }
        )
        return int(is_error)


def note(name: str, text: str) -> None:
    """Adds a line to a file of the state, whoever else does so, too."""
    if not (folder := os.environ.get("FAKE_CLIENT_STATE")):
        return
    descriptor = os.open(Path(folder, name), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(descriptor, f"{text}\n".encode())
    os.close(descriptor)


def noted(name: str, text: str) -> int:
    """How often a line stands in a file of the state."""
    path = Path(os.environ["FAKE_CLIENT_STATE"], name)
    return path.read_text().splitlines().count(text) if path.exists() else 0


def obey(prompt: str, session: Session) -> int:
    """Does what the prompt says; returns the exit code."""
    one_line = json.dumps(prompt)
    note("starts", one_line)
    note("pids", str(os.getpid()))
    session.say({"type": "system", "subtype": "init", "cwd": session.cwd, "model": MODEL, "tools": []})
    session.log("user", {"role": "user", "content": prompt}, promptId=str(uuid.uuid4()))
    found = re.search(r"overload (once|twice|thrice)", prompt)
    if found and noted("starts", one_line) <= TIMES[found[1]]:
        words = "API Error: 529 overloaded_error"
        return session.end(words, is_error=True, status=529)
    if re.search(r"\bdie\b(?! late)", prompt):
        os.kill(os.getpid(), signal.SIGKILL)
    return work(prompt, session)


def work(prompt: str, session: Session) -> int:
    """The requests that it makes."""
    spend = re.search(r"spend (\d+)", prompt)
    times = int(spend[1]) if spend else 1
    if written := re.search(r"write (\S+)", prompt):
        call = f"toolu_01{uuid.uuid4().hex[:22]}"
        given = {"file_path": os.path.join(session.cwd, written[1]), "content": "x"}
        session.reply(
            {"type": "tool_use", "id": call, "name": "Write", "input": given},
            times=times,
            stop_reason="tool_use",
        )
        Path(given["file_path"]).write_text(given["content"])
        came_back = {"type": "tool_result", "tool_use_id": call, "content": "File created successfully"}
        session.log(
            "user", {"role": "user", "content": [came_back]}, toolUseResult={"type": "create", **given}
        )
    sleeps = re.search(r"sleep ([\d.]+)", prompt)
    if sleeps or "die late" in prompt:
        call = f"toolu_01{uuid.uuid4().hex[:22]}"
        given = {"command": f"sleep {sleeps[1] if sleeps else 1}"}
        session.reply(
            {"type": "tool_use", "id": call, "name": "Bash", "input": given},
            times=times,
            stop_reason="tool_use",
        )
        if "die late" in prompt:
            os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(float(sleeps[1]) if sleeps else 0)
        session.log(
            "user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": ""}]}
        )
    said = re.search(r"say (.+)", prompt)
    text = said[1] if said else session.id if "differ" in prompt else f"done: {prompt}"
    session.reply({"type": "text", "text": text}, times=times, stop_reason="end_turn")
    if re.search(r"\bfail\b", prompt):
        return session.end("it could not be done", is_error=True)
    return session.end(text)


def main() -> int:
    """What the shell starts."""
    options = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("--session-id", "--resume", "--output-format", "--settings", "--model", "--permission-mode"):
        options.add_argument(name)
    for name in ("-p", "--verbose", "--no-session-persistence", "--fork-session"):
        options.add_argument(name, action="store_true")
    given, _others = options.parse_known_args()
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    prompt = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    session = given.session_id or given.resume or str(uuid.uuid4())
    return obey(prompt, Session(session, os.getcwd(), persists=not given.no_session_persistence))


if __name__ == "__main__":
    sys.exit(main())
