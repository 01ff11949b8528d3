"""The plan of a replay: every write, hook call and registry state, each with its time.

Rules
  1. Lines reach the disk up to 100 ms after they were made, several at once, as the clients buffer them. Hooks and
     the registry do not wait: Stop comes before the last words of the turn are in the log.
  2. At the same moment signs come before lines; but a session ends when its last line is written.
  3. A recording that is played N times faster also states times that pass N times faster: a line's time is the
     moment at which it was due, so nothing in a replayed log lies in the future.
  4. Played at once, everything has just ended: its last line is of now, its pauses are those of the recording.
  5. A time is overwritten with as many bytes as it had; nothing else in a line changes.
"""

from __future__ import annotations

import random
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import msgspec

from tracklog.agents.supported import support_for
from tracklog.clock import NO_TIME, moment_ms
from tracklog.replay.cues import HookCall, StatusCue
from tracklog.replay.fake_home import Host, ReplayHome, stand_in, waiting_as
from tracklog.replay.growing_files import GrowingFile, RegistryFile, ReplayedBytes, SpoolWriter
from tracklog.replay.recording import RecordedFile, RecordedWrite, Recording

_TIMESTAMP = re.compile(
    rb'("timestamp":\s?")(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?((?:Z|\+00:00)")'
)  # inside of a text its quotes would be escaped
_YEAR_10000 = 253_402_300_800_000


class ReplayPace:
    """From moments of a recording to those of its replay, in milliseconds since 1970.

    `moments` are those at which something happened; where nothing did for longer than `longest_pause_ms`, the rest of
    the pause is left out. Without `speed` it all lies in the past, and its end is the start of the replay.
    """

    def __init__(
        self,
        moments: Iterable[int],
        *,
        starts_ms: int,
        speed: float | None = 1.0,
        longest_pause_ms: int | None = None,
    ) -> None:
        known = sorted(set(moments))
        self._first = known[0] if known else starts_ms
        self._pause_ends: list[int] = []
        self._left_out: list[int] = []  # up to the end of each pause, with it
        for before, after in pairwise(known):
            if longest_pause_ms is not None and after - before > longest_pause_ms:
                self._left_out.append(self._left_out_by(before) + after - before - longest_pause_ms)
                self._pause_ends.append(after)
        self._speed = speed or 1.0
        whole = self._elapsed(known[-1]) if known else 0
        self._starts = starts_ms if speed else starts_ms - whole

    def due_ms(self, recorded_ms: int) -> int:
        """When it is due in the replay."""
        return self._starts + round(self._elapsed(recorded_ms) / self._speed)

    def _elapsed(self, moment: int) -> int:
        n = bisect_right(self._pause_ends, moment)
        elapsed = moment - self._left_out_by(moment)
        if n < len(self._pause_ends):  # within a pause that is cut short, time stops at its end
            elapsed = min(elapsed, self._pause_ends[n] - self._left_out[n])
        return elapsed - self._first

    def _left_out_by(self, moment: int) -> int:
        n = bisect_right(self._pause_ends, moment)
        return self._left_out[n - 1] if n else 0


def with_times(line: bytes, stated_ms: Callable[[int], int]) -> bytes:
    """The line with the values of its `timestamp` keys rewritten; it keeps its length."""

    def rewritten(match: re.Match[bytes]) -> bytes:
        key, moment, fraction, end = match.groups()
        recorded = moment_ms(f"{moment.decode()}.{(fraction or b'0').decode()[:3]}Z")
        stated = NO_TIME if recorded == NO_TIME else stated_ms(recorded)
        return bytes(key + _written(stated, fraction) + end) if 0 <= stated < _YEAR_10000 else match[0]

    return _TIMESTAMP.sub(rewritten, line)


def _written(moment: int, fraction: bytes | None) -> bytes:
    """A moment with as many digits behind the second as there were; those below a millisecond stay."""
    text = datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S").encode()
    if fraction is None:
        return text
    return text + b"." + (b"%03d" % (moment % 1000) + fraction[3:])[: len(fraction)]


BATCH_MS = 100  # how long the clients hold lines back
_LEAD_MS = 200  # from the client's start to its first line
_TAIL_MS = 150  # from its last line to its end
_TORN_MS = 7  # between the pieces of a write
_MOST_CUTS = 3


class ReplayStep(NamedTuple):
    """Something that was just done."""

    at_ms: int  # when it was due
    what: Literal["wrote", "registry", "hook", "ended"]
    session: str
    path: Path
    n_bytes: int = 0
    detail: str = ""  # the event of a hook, the status in the registry, `removed`


class ScheduledStep(NamedTuple):
    """A step to come, in the order of the plan."""

    at_ms: int
    is_last: bool  # of what is due at the same moment
    n: int
    do: Callable[[], ReplayStep]


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """How it is to be played."""

    speed: float | None
    longest_pause_ms: int | None
    keeps_times: bool
    registers: bool
    spool: SpoolWriter | None
    tears: random.Random | None


@dataclass
class Playing:
    """One session that is being played."""

    recording: Recording
    pace: ReplayPace
    home: Path
    options: ReplayOptions
    host: Host
    files: list[GrowingFile] = field(default_factory=list)
    registry: RegistryFile | None = None
    due: list[ScheduledStep] = field(default_factory=list)
    life: ExitStack = field(default_factory=ExitStack)  # what lives as long as the session does

    @property
    def last_ms(self) -> int:
        """When the last of what is planned so far is due."""
        return max(due.at_ms for due in self.due)


def pace_of(recording: Recording, starts_ms: int, *, options: ReplayOptions) -> ReplayPace:
    """The pace at which a recording is played."""
    moments = [recording.first_ms - _LEAD_MS, *recording.moments, recording.last_ms + _TAIL_MS]
    return ReplayPace(
        moments, starts_ms=starts_ms, speed=options.speed, longest_pause_ms=options.longest_pause_ms
    )


def leave_in_order(session: Playing) -> None:
    """Ends a session that is being played, at whatever moment."""
    with session.life:
        for file in session.files:
            with closing(file):
                file.finish_line()
        if session.registry is not None:
            session.registry.remove()


def plan(session: Playing, home: ReplayHome) -> None:
    """Fills in what is to be done, and when."""
    for recorded in session.recording.files:
        _plan_file(session, recorded)
    registry_folder = support_for(session.recording.agent).processes.registry_folder
    if session.options.registers and registry_folder is not None:
        _plan_registry(session, home, registry_folder)
    if session.options.spool is not None:
        _plan_hooks(session, session.options.spool)
    if session.registry is not None:
        _add_state(
            session, session.registry, session.last_ms, "removed", session.registry.remove, is_last=True
        )
    transcript = session.home / session.recording.transcript
    _add_end(session, ReplayStep(session.last_ms, "ended", session.recording.id, transcript))


def _add_end(session: Playing, step: ReplayStep) -> None:
    def do() -> ReplayStep:
        leave_in_order(session)
        return step

    _add(session, step.at_ms, do, is_last=True)


def _add(session: Playing, at_ms: int, do: Callable[[], ReplayStep], *, is_last: bool = False) -> None:
    session.due.append(ScheduledStep(at_ms, is_last, len(session.due), do))


def _plan_file(session: Playing, recorded: RecordedFile) -> None:
    rewrite = partial(_rewritten, session, has_times=recorded.is_log)
    is_held = support_for(session.recording.agent).processes.holds_logs_open
    file = GrowingFile(
        session.home / recorded.place,
        ReplayedBytes(recorded, rewrite),
        is_held=is_held,
        on_open=partial(_let_client_hold, session) if is_held and session.options.registers else None,
    )
    session.files.append(file)
    due = [RecordedWrite(session.pace.due_ms(part.at_ms), part.n_bytes) for part in recorded.parts]
    for at_ms, n_bytes in _batched(due) if recorded.is_log else due:
        for n, size in enumerate(_pieces(n_bytes, session.options.tears if recorded.is_log else None)):
            step = ReplayStep(at_ms + n * _TORN_MS, "wrote", session.recording.id, file.path, size)
            _add(session, step.at_ms, partial(_append, file, step), is_last=recorded.is_log)


def _let_client_hold(session: Playing, descriptor: int) -> None:
    name = support_for(session.recording.agent).processes.program
    program = session.life.enter_context(waiting_as(name))
    session.life.enter_context(stand_in(program, holding=[descriptor]))


def _rewritten(session: Playing, data: bytes, *, has_times: bool) -> bytes:
    renamed = session.recording.renamed(data)
    return (
        with_times(renamed, session.pace.due_ms) if has_times and not session.options.keeps_times else renamed
    )


def _batched(parts: Iterable[RecordedWrite]) -> Iterator[RecordedWrite]:
    """Lines that are written together: all that came within 100 ms of the first that had to wait."""
    flushed_ms, n_bytes = 0, 0
    for part in parts:
        if n_bytes and part.at_ms > flushed_ms:
            yield RecordedWrite(flushed_ms, n_bytes)
            n_bytes = 0
        if not n_bytes:
            flushed_ms = part.at_ms + BATCH_MS
        n_bytes += part.n_bytes
    if n_bytes:
        yield RecordedWrite(flushed_ms, n_bytes)


def _pieces(n_bytes: int, tears: random.Random | None) -> list[int]:
    """The sizes of the writes that bring so many bytes to the disk; torn anywhere, also within a letter."""
    if tears is None or n_bytes < 2:
        return [n_bytes]
    cuts = sorted({tears.randrange(1, n_bytes) for _ in range(tears.randint(1, _MOST_CUTS))})
    return [after - before for before, after in zip([0, *cuts], [*cuts, n_bytes], strict=True)]


def _append(file: GrowingFile, step: ReplayStep) -> ReplayStep:
    file.append(step.n_bytes)
    return step


def _plan_registry(session: Playing, home: ReplayHome, folder: str) -> None:
    place = PurePosixPath(folder, f"{session.host.pid}.json")
    home.claim([place])
    registry = RegistryFile(session.home / place, session.recording, session.host)
    session.registry = registry
    started_ms = session.recording.first_ms - _LEAD_MS
    if session.options.tears:
        _add_state(session, registry, session.pace.due_ms(started_ms), "empty", registry.touch)
    started = [StatusCue(started_ms, ""), StatusCue(started_ms + _LEAD_MS // 4, "idle")]
    for cue in [*started, *(cue for cue in session.recording.cues if isinstance(cue, StatusCue))]:
        write = partial(registry.write, cue.status, cue.waiting_for, _stated_ms(session, cue.at_ms))
        _add_state(session, registry, session.pace.due_ms(cue.at_ms), cue.status or "no status", write)


def _stated_ms(session: Playing, moment: int) -> int:
    return moment if session.options.keeps_times else session.pace.due_ms(moment)


def _add_state(
    session: Playing,
    registry: RegistryFile,
    at_ms: int,
    detail: str,
    act: Callable[[], None],
    *,
    is_last: bool = False,
) -> None:
    step = ReplayStep(at_ms, "registry", session.recording.id, registry.path, detail=detail)

    def do() -> ReplayStep:
        act()
        return step

    _add(session, at_ms, do, is_last=is_last)


def _plan_hooks(session: Playing, spool: SpoolWriter) -> None:
    start = HookCall(session.recording.first_ms - _LEAD_MS // 2, "SessionStart", {"source": "startup"})
    for call in [start, *(cue for cue in session.recording.cues if isinstance(cue, HookCall))]:
        _add_call(session, spool, call, session.pace.due_ms(call.at_ms))
    end = HookCall(session.recording.last_ms + _TAIL_MS, "SessionEnd", {"reason": "other"})
    _add_call(session, spool, end, max(session.pace.due_ms(end.at_ms), session.last_ms), is_last=True)


def _add_call(
    session: Playing, spool: SpoolWriter, call: HookCall, at_ms: int, *, is_last: bool = False
) -> None:
    stated_ms = call.at_ms if session.options.keeps_times else at_ms

    def do() -> ReplayStep:
        payload = _payload(session, call)
        n_bytes = spool.append(stated_ms, session.recording.agent, session.host.pid, payload)
        return ReplayStep(at_ms, "hook", session.recording.id, spool.path, n_bytes, detail=call.event)

    _add(session, at_ms, do, is_last=is_last)


def _payload(session: Playing, call: HookCall) -> bytes:
    recording = session.recording
    common = {
        "session_id": recording.id,
        "transcript_path": str(session.home / recording.transcript),
        "cwd": recording.cwd,
        "hook_event_name": call.event,
    }
    return recording.renamed(msgspec.json.encode({**common, **call.fields}))
