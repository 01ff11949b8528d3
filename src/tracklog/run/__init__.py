"""Child sessions as function calls: start an agent, follow its events, get a result, leave nothing behind.

    from tracklog import run

    with run.start(run.RunRequest(agent="claude", prompt="what is in this folder?", cwd=Path.cwd())) as child:
        for event in child.events():
            ...
        print(child.result().text)

Rules
  1. Uses only the agents' documented headless modes and the user's own client and login, and hides nothing of what it is.
  2. Nothing passes through a shell, and no prompt is part of an argument.
  3. No child outlives us, unless it was asked to; and no file of a run outlives the child.
  4. The client starts first. Modules that understand it are loaded while it starts: each name here loads its module when it
     is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tracklog.model.run_request import Limits, RunRequest
    from tracklog.run.child import Child
    from tracklog.run.launch import run, start
    from tracklog.run.recovery import recover
    from tracklog.run.result import EndedBy, Result
    from tracklog.run.stream import RunEvent
    from tracklog.run.trust import Untrusted

__all__ = [
    "Child",
    "EndedBy",
    "Limits",
    "Result",
    "RunEvent",
    "RunRequest",
    "Untrusted",
    "recover",
    "run",
    "start",
]

_HOME_OF = {
    "Child": "tracklog.run.child",
    "EndedBy": "tracklog.run.result",
    "RunEvent": "tracklog.run.stream",
    "Limits": "tracklog.model.run_request",
    "Result": "tracklog.run.result",
    "Untrusted": "tracklog.run.trust",
    "RunRequest": "tracklog.model.run_request",
    "recover": "tracklog.run.recovery",
    "run": "tracklog.run.launch",
    "start": "tracklog.run.launch",
}
_OLD_NAMES = {"Heard": "RunEvent", "Wish": "RunRequest"}


def __getattr__(name: str) -> Any:
    if name in _OLD_NAMES:
        from warnings import warn  # only for an old name

        warn(f"tracklog.run.{name} is now tracklog.run.{_OLD_NAMES[name]}", DeprecationWarning, stacklevel=2)
        return __getattr__(_OLD_NAMES[name])
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # the command line needs none of this package

    value = globals()[name] = getattr(import_module(_HOME_OF[name]), name)
    return value
