"""Traces of real clients (tests/lab): their hook calls, registry files and log lines, played back by their times.

`python -m tests.live.traces` rewrites the states that come out, beside each trace; review the difference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from tracklog.agents.claude_code.records import reader as claude_reader
from tracklog.agents.claude_code.session_registry import Registration, read_registration
from tracklog.agents.claude_code.translate import translator as claude_translator
from tracklog.agents.codex.records import reader as codex_reader
from tracklog.agents.codex.translate import translator as codex_translator
from tracklog.agents.hooks.records import HookInput
from tracklog.liveness.hook_signs import HookSigns
from tracklog.liveness.log_signs import LogSigns
from tracklog.model.events import LogEvent
from tracklog.model.states import LiveState, Sign, Source, state_of
from tracklog.sources.lines import cut
from tracklog.sources.process_start import Alive

DATA = Path(__file__).parent / "data"
LIVES = Alive("alive", "the process lives", 4410)
SETTLED_MS = 3_000


class Step(NamedTuple):
    """Something that was seen, and when."""

    at_ms: int
    hook: HookInput | None = None
    registration: Registration | None = None
    events: tuple[LogEvent, ...] = ()


def names() -> list[str]:
    """The traces there are."""
    return sorted(path.name.removesuffix(".jsonl") for path in DATA.glob("*.jsonl"))


def steps_of(name: str) -> list[Step]:
    """A trace, step by step."""
    rows = [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]
    events = _events(name, [row["log"] for row in rows if "log" in row])
    return [_step(row, events) for row in rows]


def played(name: str, *, without: frozenset[Source] = frozenset()) -> Iterator[tuple[int, LiveState]]:
    """The states that a trace goes through, each with the moment at which it was first seen."""
    hooks, log = HookSigns(), LogSigns()
    registry: Sign | None = None
    before: LiveState | None = None
    steps = steps_of(name)
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        if step.hook is not None and "hook" not in without:
            hooks.add(step.hook, step.at_ms)
        if step.registration is not None and "registry" not in without:
            registry = step.registration.sign()
        if "log" not in without:
            log.add(step.events)
        until = following.at_ms if following else step.at_ms + SETTLED_MS
        for now_ms in (step.at_ms, *range(step.at_ms + 250, until, 250)):
            signs = [one for one in (hooks.sign, registry, log.sign(now_ms)) if one is not None]
            state = state_of(signs, LIVES, now_ms=now_ms)
            if before is None or _shown(state) != _shown(before):
                yield now_ms, state
            before = state


def told(name: str, *, without: frozenset[Source] = frozenset()) -> str:
    """The states of a trace as text, times in milliseconds since its first step."""
    began = steps_of(name)[0].at_ms
    return "".join(f"{now_ms - began:>6} {_line(state)}\n" for now_ms, state in played(name, without=without))


def _line(state: LiveState) -> str:
    words = (state.state, state.waiting_for and f"for {state.waiting_for}", state.doing)
    return f"{' · '.join(word for word in words if word):<60} {', '.join(state.evidence[:-1])}".rstrip()


def _shown(state: LiveState) -> tuple[str, str | None, str | None, str | None]:
    return state.state, state.waiting_for, state.doing, state.call


def _events(name: str, lines: list[str]) -> Iterator[list[LogEvent]]:
    reader = (claude_reader if name.startswith("claude") else codex_reader).READER
    translator = (
        claude_translator.ClaudeTranslator if name.startswith("claude") else codex_translator.CodexTranslator
    )(name)
    content = "".join(f"{line}\n" for line in lines).encode()
    return iter([list(translator.translate(piece)) for piece in reader.read(cut([content]))])


def _step(row: dict[str, Any], events: Iterator[list[LogEvent]]) -> Step:
    if "hook" in row:
        hook = msgspec.json.decode(json.dumps(row["hook"]), type=HookInput)
        return Step(row["at"], hook=hook)
    if "registry" in row:
        registration = read_registration(row["file"], json.dumps(row["registry"]).encode())
        assert isinstance(registration, Registration)
        return Step(row["at"], registration=registration)
    return Step(row["at"], events=tuple(next(events)))


def _rewrite() -> None:
    for name in names():
        (DATA / f"{name}.states.txt").write_text(told(name), "utf-8")


if __name__ == "__main__":
    _rewrite()
