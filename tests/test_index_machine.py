"""An index that was kept up to date equals one that was made at once, whatever happens to the logs and to us."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import zstandard
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.index.killing import killed_at
from tests.index.known_homes import (
    Made,
    answers,
    append,
    claude_session,
    claude_turn,
    codex_session,
    codex_turn,
    fresh_index,
    index_of,
    is_anything_gone,
    lines,
    snapshot,
    stored_bytes,
    transcript,
    write,
)
from tests.oracle.logs import ClaudeLog, CodexLog, session_id
from tracklog.home import Home

STEPS = int(os.environ.get("TRACKLOG_STEPS", "150"))
STEPS_IN_A_ROW = 30
SLUGS = ("-home-dev-project", "-home-dev-other")
WHICH = st.integers(0, 1 << 16)
SOME = st.integers(1, 3)


class Logs(RuleBasedStateMachine):
    """Two agents and a person at work, with a tracklog that is run now and then, and killed now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.made = Made(Path(tempfile.mkdtemp(prefix="tracklog-machine-")))
        self.n = 0
        self.n_fresh = 0
        self.writers: dict[str, ClaudeLog | CodexLog] = {}  # by the name of a file, wherever it stands
        self.rests: dict[Path, bytes] = {}  # of lines that were written in half
        for home in (self.made.claude / "projects", self.made.codex / "sessions"):
            home.mkdir(parents=True)

    def teardown(self) -> None:
        try:
            self.settle()
        finally:
            shutil.rmtree(self.made.top)

    # the agents write

    @initialize()
    def begin(self) -> None:
        self.claude_begins(0)
        self.codex_begins()

    @rule(slug=st.integers(0, 1))
    def claude_begins(self, slug: int) -> None:
        log = claude_session(self._next())
        path = transcript(self.made, log.session, slug=SLUGS[slug])
        self._written(path, log)

    @rule()
    def codex_begins(self) -> None:
        log = codex_session(self._next())
        self._written(self.made.top / log.path, log)

    @rule(which=WHICH, copied=SOME, slug=st.integers(0, 1), is_marked=st.booleans())
    def claude_forks(self, which: int, copied: int, slug: int, is_marked: bool) -> None:
        parent = self._writer(which, ClaudeLog)
        if parent is None:
            return
        log = ClaudeLog(session_id(self._next()))
        for record in parent.records[: 4 * copied]:
            mark = {"forkedFrom": {"sessionId": parent.session, "messageUuid": record["uuid"]}}
            log.copy([record], **(mark if is_marked else {}))
        claude_turn(log, self.n)
        self._written(transcript(self.made, log.session, slug=SLUGS[slug]), log)

    @rule(which=WHICH)
    def codex_forks(self, which: int) -> None:
        parent = self._writer(which, CodexLog)
        if parent is not None:
            log = codex_session(self._next())
            log.replay(parent)
            codex_turn(log, self.n)
            self._written(self.made.top / log.path, log)

    @rule(which=WHICH, has_meta=st.booleans())
    def a_subagent_begins(self, which: int, has_meta: bool) -> None:
        parent = self._writer(which, ClaudeLog)
        if parent is not None:
            n = self._next()
            log = ClaudeLog(parent.session, sidechain=True, agent=f"a{n}")
            claude_turn(log, n)
            below = transcript(self.made, parent.session).with_suffix("") / "subagents"
            self._written(below / f"agent-a{n}.jsonl", log)
            if has_meta:
                write(below / f"agent-a{n}.meta.json", b'{"agentType":"Explore","description":"%d"}' % n)

    @rule(which=WHICH, times=SOME)
    def append_lines(self, which: int, times: int) -> None:
        path = self._log(which)
        if path is not None:
            append(path, b"".join(self._more(path) for _ in range(times)))

    @rule(which=WHICH, share=st.floats(0.01, 0.99))
    def append_half_a_line(self, which: int, share: float) -> None:
        path = self._log(which)
        if path is not None:
            first, newline, _ = self._more(path).partition(b"\n")
            cut = max(int(len(first) * share), 1)
            append(path, first[:cut])
            self.rests[path] = first[cut:] + newline

    @precondition(lambda self: self.rests)
    @rule(which=WHICH, ends=st.booleans())
    def complete_the_line(self, which: int, ends: bool) -> None:
        path = sorted(self.rests)[which % len(self.rests)]
        rest = self.rests.pop(path)
        if path.exists():
            append(path, rest if ends else rest[:-1])

    # somebody changes what stands there

    @rule(which=WHICH, share=st.floats(0, 1), at_a_line=st.booleans())
    def truncate(self, which: int, share: float, at_a_line: bool) -> None:
        path = self._log(which)
        if path is not None:
            data = path.read_bytes()
            cut = int(len(data) * share)
            os.truncate(path, data.rfind(b"\n", 0, cut) + 1 if at_a_line else cut)

    @rule(which=WHICH, keeps_time=st.booleans())
    def rewrite_in_the_same_size(self, which: int, keeps_time: bool) -> None:
        path = self._log(which)
        if path is not None:
            before = path.stat()
            data = path.read_bytes()
            with open(path, "r+b") as stream:
                stream.write(data.replace(b"part", b"page", 1) if b"part" in data else data[::-1])
            if keeps_time:
                os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(which=WHICH, is_new_file=st.booleans())
    def rewrite_in_another_size(self, which: int, is_new_file: bool) -> None:
        path = self._log(which)
        if path is not None:
            data = b"".join(path.read_bytes().splitlines(keepends=True)[1:]).replace(b"fine", b"well done")
            if is_new_file:
                write(path.with_name("aside"), data)
                os.replace(path.with_name("aside"), path)
            else:
                path.write_bytes(data)

    @rule(which=WHICH, slug=st.integers(0, 1))
    def move_to_another_folder(self, which: int, slug: int) -> None:
        path = self._log(which)
        if path is not None:
            self._move(path, self._elsewhere(path, slug))

    @rule(which=WHICH)
    def give_another_name(self, which: int) -> None:
        path = self._log(which)
        if path is not None:
            self._move(path, path.with_name(self._other_name(path)))

    @rule(which=WHICH, other=WHICH)
    def put_another_in_its_place(self, which: int, other: int) -> None:
        path, source = self._log(which), self._log(other)
        if path is not None and source is not None and self._are_of_one_kind(path, source):
            os.replace(source, path)

    @rule(which=WHICH, slug=st.integers(0, 1), has_name=st.booleans())
    def copy(self, which: int, slug: int, has_name: bool) -> None:
        path = self._log(which)
        if path is not None:
            is_named = (
                has_name and self.made.claude in path.parents
            )  # nothing but their name joins two rollouts
            there = path.with_name(self._other_name(path)) if is_named else self._elsewhere(path, slug)
            there.parent.mkdir(parents=True, exist_ok=True)
            if there != path:
                shutil.copy2(path, there)

    @rule(which=WHICH)
    def delete(self, which: int) -> None:
        path = self._log(which)
        if path is not None:
            path.unlink()

    @rule(which=WHICH, is_same=st.booleans())
    def delete_and_make_again(self, which: int, is_same: bool) -> None:
        path = self._log(which)
        if path is not None:
            data = path.read_bytes() if is_same else claude_session(self._next()).bytes()
            path.unlink()
            write(path, data)

    @rule(which=WHICH)
    def compress(self, which: int) -> None:
        path = self._log(which)
        if path is not None and path.suffix == ".jsonl":
            write(path.with_name(f"{path.name}.zst"), zstandard.compress(path.read_bytes()))
            path.unlink()

    @rule(which=WHICH)
    def decompress(self, which: int) -> None:
        packed = self._logs(".zst")
        if packed:
            path = packed[which % len(packed)]
            data = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
            write(path.with_suffix(""), data)
            path.unlink()

    @rule(which=WHICH)
    def touch(self, which: int) -> None:
        path = self._log(which)
        if path is not None:
            os.utime(path)

    @rule(which=WHICH)
    def restore(self, which: int) -> None:
        stored = stored_bytes(self.made.home) if self.made.home.index.exists() else {}
        gone = sorted(path for path in stored if not Path(path).exists())
        if gone:
            path = gone[which % len(gone)]
            data = stored[path]
            write(Path(path), zstandard.compress(data) if path.endswith(".zst") else data)

    # tracklog

    @rule()
    def sync(self) -> None:
        index_of(self.made, settles=False)

    @rule(at=st.integers(0, 40))
    def killed(self, at: int) -> None:
        killed_at(at, lambda: index_of(self.made))

    @rule()
    def settle(self) -> None:
        index_of(self.made)
        ours = snapshot(self.made.home)
        said = answers(self.made, self.made.home)
        fresh = self._fresh(with_archive=True)
        same(ours, snapshot(fresh))
        same(said, answers(self.made, fresh))
        self._compare_bytes()
        if not is_anything_gone(self.made.home):
            same(ours, snapshot(self._fresh(with_archive=False)))
            same(said, answers(self.made, Home(self.made.top / "none")))

    def _compare_bytes(self) -> None:
        stored = stored_bytes(self.made.home)
        here = {str(path): contents_of(path) for path in self.made.logs() if not has_plain_twin(path)}
        for path, data in stored.items():
            assert data == here.get(path, data), path
        assert sorted(here.keys() - stored.keys()) == []

    def _fresh(self, *, with_archive: bool) -> Home:
        self.n_fresh += 1
        return fresh_index(self.made, self.made.top / f"fresh-{self.n_fresh}", with_archive=with_archive)

    # what there is

    def _next(self) -> int:
        self.n += 1
        return self.n

    def _written(self, path: Path, log: ClaudeLog | CodexLog) -> None:
        write(path, lines(log))
        self.writers[path.name] = log

    def _logs(self, *suffixes: str) -> list[Path]:
        return [path for path in self.made.logs() if path.suffix in suffixes]

    def _log(self, which: int) -> Path | None:
        found = self._logs(".jsonl", ".json")
        return found[which % len(found)] if found else None

    def _writer(self, which: int, kind: type[Any]) -> Any:
        found = [log for _, log in sorted(self.writers.items()) if isinstance(log, kind)]
        return found[which % len(found)] if found else None

    def _more(self, path: Path) -> bytes:
        log = self.writers.get(path.name)
        if log is None or path.suffix != ".jsonl":
            return b'{"agentType":"Other"}\n'
        turn: Any = claude_turn if isinstance(log, ClaudeLog) else codex_turn
        more: bytes = turn(log, self._next())
        return more

    def _are_of_one_kind(self, one: Path, other: Path) -> bool:
        is_claude = [self.made.claude in path.parents for path in (one, other)]
        return one.suffix == other.suffix and is_claude[0] == is_claude[1]

    def _elsewhere(self, path: Path, slug: int) -> Path:
        if self.made.claude in path.parents:
            inside = path.relative_to(self.made.claude / "projects").parts[1:]
            return self.made.claude.joinpath("projects", SLUGS[slug], *inside)
        return self.made.codex / ("archived_sessions" if slug else "sessions/2026/03/05") / path.name

    def _other_name(self, path: Path) -> str:
        n = self._next()
        if path.name.startswith("agent-"):
            return f"agent-b{n}{''.join(path.suffixes)}"
        name = path.name.replace(path.name.split(".")[0][-12:], f"{n:012d}")
        if path.name in self.writers:
            self.writers[name] = self.writers[path.name]
        return name

    def _move(self, path: Path, there: Path) -> None:
        there.parent.mkdir(parents=True, exist_ok=True)
        os.replace(path, there)


def has_plain_twin(path: Path) -> bool:
    """Whether it is compressed and stands, uncompressed, beside itself: then nobody reads it."""
    return path.suffix == ".zst" and path.with_suffix("").exists()


def contents_of(path: Path) -> bytes:
    """The bytes of a log; of a compressed one those in it."""
    data = path.read_bytes()
    return zstandard.ZstdDecompressor().decompressobj().decompress(data) if path.suffix == ".zst" else data


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Compares part by part, so that a difference is shown where it is."""
    for name in ours:
        assert ours[name] == theirs[name], name


TestLogs = Logs.TestCase
TestLogs.settings = settings(
    max_examples=max(STEPS // STEPS_IN_A_ROW, 1),
    stateful_step_count=STEPS_IN_A_ROW,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
