"""What the log tells of a run when it is over: its last words, its calls by verdict, what it changed.

Rules of this room
  1. Only what came since the run began counts: a session that was resumed has a past.
  2. The last lines may come after the client's own end by a moment: they are waited for, but not for long.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from tracklog.model.moments import NO_TIME, moment_ms
from tracklog.model.session import Call, Request, Session
from tracklog.pipeline.sessions import SessionFiles
from tracklog.pipeline.stop_race import answer_to_the_last_prompt, says
from tracklog.pipeline.story import read_session

PATIENCE_S = 2.0
_PAUSE_S = 0.05
_DENIED = ("denied", "blocked")
_RAN = ("ok", "backgrounded")
_FILE_TOOLS = {
    "Edit": "file_path",
    "Write": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
}
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$", re.MULTILINE)


class Collected(NamedTuple):
    """What stands in the log of one run."""

    text: str | None = None
    n_requests: int = 0  # of the main thread
    calls: dict[str, int] = {}  # noqa: RUF012 - a value that nobody changes
    denials: tuple[dict[str, Any], ...] = ()
    files_changed: tuple[str, ...] = ()
    entrypoint: str | None = None
    is_finished: bool = False  # whether the last turn was answered to its end
    waited_ms: int = 0  # for the last lines


NOTHING = Collected()


def collect(
    look: Callable[[], SessionFiles | None],
    *,
    since_ms: int,
    cwd: Path,
    said: str | None,
    patience_s: float = PATIENCE_S,
) -> Collected:
    """What the log tells once it holds what the client `said` last, or when patience ends."""
    began = time.monotonic()
    while True:
        files = look()
        story = read_session(files, is_alive=False, now=datetime.now(UTC)) if files is not None else None
        waited_s = time.monotonic() - began
        if (story is not None and _is_whole(story, said)) or waited_s >= patience_s:
            break
        time.sleep(_PAUSE_S)
    if story is None:
        return NOTHING._replace(waited_ms=int(waited_s * 1000))
    return _told_by(story, since_ms, cwd)._replace(waited_ms=int(waited_s * 1000))


def _is_whole(story: Session, said: str | None) -> bool:
    last = answer_to_the_last_prompt(story)
    if said is None or last is None:
        return said is None
    return says(last, said)


def _told_by(story: Session, since_ms: int, cwd: Path) -> Collected:
    last = answer_to_the_last_prompt(story)
    is_ours = last is not None and _is_since(last.at, since_ms)
    calls = [call for thread in story.main.walk() for call in thread.calls if _is_own(call, since_ms)]
    requests = [one for one in story.main.requests if not one.is_inherited and _is_since(one.at, since_ms)]
    return Collected(
        text=(last.final_text or None) if last is not None and is_ours else None,
        n_requests=sum(not one.is_synthetic for one in requests),
        calls=dict(sorted(Counter(call.verdict for call in calls).items())),
        denials=tuple(_denial(call) for call in calls if call.verdict in _DENIED),
        files_changed=tuple(sorted(set(_changed_by(calls, cwd)))),
        entrypoint=story.entrypoint,
        is_finished=is_ours and last is not None and _is_finished(story, last),
    )


def _is_finished(story: Session, last: Request) -> bool:
    turn = story.turns[-1] if story.turns else None
    is_closed = turn is not None and turn.is_closed and not turn.is_interrupted  # Codex closes both kinds
    return last.error is None and (last.stop_reason == "end_turn" or is_closed)


def _is_own(call: Call, since_ms: int) -> bool:
    return not call.is_inherited and _is_since(call.called_at, since_ms)


def _is_since(at: str | None, since_ms: int) -> bool:
    ms = moment_ms(at)
    return ms != NO_TIME and ms >= since_ms


def _denial(call: Call) -> dict[str, Any]:
    return {
        "tool_name": call.name,
        "tool_use_id": call.id,
        "tool_input": call.arguments,
        "verdict": call.verdict,
        "reason": call.feedback or call.error,
    }


def _changed_by(calls: Iterable[Call], cwd: Path) -> Iterable[str]:
    """The files that tools changed by their own word; what a shell command wrote is not told."""
    for call in calls:
        given = call.arguments
        if call.verdict not in _RAN:
            continue
        named = given.get(_FILE_TOOLS.get(call.name, "")) if isinstance(given, dict) else None
        if isinstance(named, str):
            yield os.path.join(cwd, named)
        for text in _texts(given):
            if "*** Begin Patch" in text:
                yield from (os.path.join(cwd, name.strip()) for name in _PATCHED.findall(text))


def _texts(given: Any) -> list[str]:
    values = given.values() if isinstance(given, dict) else [given]
    return [value for value in values if isinstance(value, str)]
