"""The command that agents run at every hook event, and how we know it again.

Rules
  1. It works with any PATH and in any folder, in any shell: every path is absolute and quoted, the rest is /bin/sh's.
  2. It ends with 0 and says nothing, whatever becomes of Python or of us: 2 would block the agent, anything else annoys.
     So the guard does not `exec`: a Python that does not know one of our options ends with 2.
  3. The word behind the guard is `tracklog`: by this word a hook is ours, whichever home or release it was made for.
  4. The agent's shell makes room for ours (`exec`), so that the parent of ours is the agent itself.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.errors import UserError

MARK = "tracklog"
GUARD = '[ -x "$1" ] && [ -f "$4" ] && TRACKLOG_PPID=$PPID "$@" >/dev/null 2>&1; exit 0'
TIMEOUT_S = 10  # a disk that hangs must not hold the agent for the ten minutes that clients would wait


class Recorder(NamedTuple):
    """What is to be run: the interpreter, our hook, and the home that it writes to."""

    python: str
    hook: str
    home: str

    def words(self, agent: str) -> list[str]:
        """The command, word by word."""
        ours = [self.python, "-I", "-S", self.hook, "--home", self.home, "--agent", agent]
        return ["/bin/sh", "-c", GUARD, MARK, *ours]


def recorder_for(home: Path) -> Recorder:
    """This very installation of tracklog, writing to this home."""
    from tracklog import hook  # only its path is needed, and only to install

    ours = Path(hook.__file__).absolute()
    recorder = Recorder(os.path.abspath(sys.executable), str(ours), str(home.absolute()))
    for path in recorder:
        if not path.isascii() and path != path.encode("utf-8", "replace").decode():
            raise UserError(f"{path!a} is not UTF-8, and settings cannot hold it: name another --home")
    return recorder


def handler(recorder: Recorder, agent: str, *, timeout_s: int = TIMEOUT_S) -> dict[str, Any]:
    """One hook, as an entry of settings."""
    return {"type": "command", "command": f"exec {shlex.join(recorder.words(agent))}", "timeout": timeout_s}


def notify_words(recorder: Recorder, agent: str) -> list[str]:
    """The program that a client runs after every turn; the client appends its notice as the last argument."""
    return [*recorder.words(agent), "--notify"]


def is_our_command(command: object) -> bool:
    """Whether this hook command is one of ours."""
    if not isinstance(command, str) or MARK not in command:
        return False
    try:
        return are_our_words(shlex.split(command.removeprefix("exec ")))
    except ValueError:  # quotes that do not match
        return False


def are_our_words(words: object) -> bool:
    """Whether this program is one of ours."""
    return isinstance(words, list) and words[:2] == ["/bin/sh", "-c"] and words[3:4] == [MARK]
