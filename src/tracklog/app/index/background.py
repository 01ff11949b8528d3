"""Keep the index fresh beside the server, and report its state.

Rules
  1. A child process does the work (`app.index.refresh_process`, with all steps of `index.refresh`), so pages answer as fast as ever.
  2. One pass at a time, with a rest between: at the start, after a change of the logs (`nudge`), and every minute in case
     no watcher noticed one.
  3. The status never claims more than is known: it stays `failed` until a pass succeeds. A failed pass is retried.
  4. Only the end of the server ends the work.
  5. A program gets answers from the logs as they are when it asks (`catch_up`): unlike a page, it hears no news later.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from threading import Condition, Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Literal

from tracklog.home import Home
from tracklog.index.freshness import is_counted, is_still
from tracklog.index.tables_health import LogTotals, n_files_read, totals
from tracklog.sources.log_file import Root
from tracklog.store.database import StoreError, reading
from tracklog.store.scope import scope_of

if TYPE_CHECKING:
    from tracklog.app.live.event_hub import Hub

_LEAST_S, _MOST_S = 2.0, 15.0  # between two passes: after the first one, which is long, news do not wait long
_SHARE = 4  # a short pass takes at most one part in so many of the time
_AGAIN_S, _LONGEST_AGAIN_S = 2.0, 15.0  # after a pass that could not be made, and after many
_NET_S = 60.0  # between two looks for changes that no watcher reported
_TOLD_S = 0.5
_PATIENCE_S = 5.0  # the longest that a query waits for a pass
_WORDS_KEPT = 2000

State = Literal["none", "reading", "fresh", "failed", "busy"]


@dataclass(frozen=True)
class IndexStatus:
    """The state of the index."""

    state: State = "none"
    files: int = 0  # that were read
    files_known: int = 0
    bytes_done: int = 0  # of the pass that goes on
    bytes_total: int = 0
    stage: str = ""
    behind_ms: int = 0  # since something changed that is not read yet
    passes: int = 0  # that came to their end
    why: str | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def is_first(self) -> bool:
        """Whether everything is read for the first time."""
        return self.passes == 0


class Indexing:
    """Keeps the index of some roots fresh."""

    def __init__(self, home: Home, roots: Sequence[Root], hub: Hub) -> None:
        self._home = home
        self._roots = list(roots)
        self._hub = hub
        self._lock = Lock()
        self._progress = Condition(self._lock)  # told when a pass begins or ends
        self._n_begun = 0  # passes
        self._status = IndexStatus()
        self._changed_at: float | None = None  # since when something is not read yet
        self._is_over = Event()
        self._wanted = Event()
        self._no_rest = Event()  # the next pass is waited for
        self._child: subprocess.Popen[str] | None = None
        self._damages: list[str] = []  # of an index that was set aside: shown as long as the server runs
        self._thread = Thread(target=self._run, name="indexing", daemon=True)

    def start(self) -> None:
        """Start with a pass over everything."""
        self._thread.start()

    def close(self) -> None:
        """End a running pass: it may be interrupted at any time."""
        self._is_over.set()
        self._wanted.set()
        self._no_rest.set()
        child = self._child
        if child is not None and child.poll() is None:
            child.terminate()
        if self._thread.is_alive():
            self._thread.join(5.0)

    def nudge(self) -> None:
        """Note that logs have changed."""
        with self._lock:
            if self._changed_at is None:
                self._changed_at = time.monotonic()
        self._wanted.set()

    def catch_up(self, patience_s: float = _PATIENCE_S) -> None:
        """Wait until the index is up to date; at most `patience_s`, and not where no pass is possible."""
        is_at_work = self._thread.is_alive() and self.status().state not in ("failed", "busy")
        if not is_at_work or self._knows_all():
            return
        with self._lock:
            n_before = self._n_begun
        self.nudge()
        self._no_rest.set()
        with self._progress:
            self._progress.wait_for(lambda: self._has_passed_since(n_before), patience_s)
        self._knows_all()

    def _knows_all(self) -> bool:
        """Whether the index is up to date; if so, forget changes that were noted while the logs were read."""
        with self._lock:
            since, is_fresh = self._changed_at, self._status.state == "fresh"
        if not is_fresh or self._has_changed():
            return False
        with self._lock:
            if self._changed_at == since:
                self._changed_at = None
        return True

    def _has_passed_since(self, n_before: int) -> bool:
        is_done = self._n_begun > n_before and self._status.state != "reading"
        return is_done or self._is_over.is_set()

    def status(self) -> IndexStatus:
        """The current status."""
        with self._lock:
            since = self._changed_at
            behind_ms = 0 if since is None else int((time.monotonic() - since) * 1000)
            return replace(self._status, behind_ms=behind_ms)

    def known(self) -> LogTotals | None:
        """What the index holds of these roots; None while there is no index."""
        with reading(self._home) as database:
            if database is None:
                return None
            return totals(database.db, scope_of(root.path for root in self._roots))

    def _run(self) -> None:
        again_s = _AGAIN_S
        while not self._is_over.is_set():
            try:
                self._round()
            except Exception as error:  # a door: whatever we fail at is said, and tried again
                self._set(state="failed", why=f"a mistake of tracklog: {error!r}")
            if self.status().state == "fresh":
                again_s = _AGAIN_S
            else:
                self._is_over.wait(again_s)
                again_s = min(again_s * 2, _LONGEST_AGAIN_S)

    def _round(self) -> None:
        """A pass; if it could be made, also the time until the next one is due."""
        began = time.monotonic()
        self._wanted.clear()
        self._no_rest.clear()
        self._pass()
        if self.status().state != "fresh":
            return
        took_s = time.monotonic() - began
        self._no_rest.wait(min(max(_LEAST_S, took_s * (_SHARE - 1)), _MOST_S))
        while not self._is_over.is_set() and not self._wanted.wait(_NET_S):
            if self._has_changed() or not self._is_counted():
                self.nudge()

    def _pass(self) -> None:
        """One run of the child, from its first word to its last."""
        with self._lock:
            taken, self._changed_at = self._changed_at, None
            self._n_begun += 1
        self._set(state="reading", bytes_done=0, bytes_total=0, stage="")
        try:
            end = self._listened()
        except OSError as error:
            end = {"end": "failed", "why": f"cannot start a process: {error.strerror}"}
        if end.get("end") != "fresh":
            with self._lock:
                self._changed_at = taken or time.monotonic()
        self._count()
        self._set(
            state=end.get("end", "failed"),
            why=end.get("why"),
            problems=[*self._damages, *end["problems"]] if "problems" in end else self._status.problems,
            passes=self._status.passes + (end.get("end") == "fresh"),
        )

    def _listened(self) -> dict[str, Any]:
        roots = [word for root in self._roots for word in _words_of(root)]
        command = [sys.executable, "-P", "-m", "tracklog.app.index.refresh_process"]
        child = self._child = subprocess.Popen(
            [*command, "--home", str(self._home.path), *roots],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        if self._is_over.is_set():  # `close` came too early to see this process
            child.terminate()
        complaints: list[str] = []
        assert child.stdout is not None
        assert child.stderr is not None
        aside = Thread(target=_drain, args=(child.stderr, complaints), daemon=True)
        aside.start()
        end: dict[str, Any] = {}
        next_look = 0.0
        for line in child.stdout:
            words = json.loads(line)
            end = words if "end" in words else end
            if time.monotonic() >= next_look or "end" in words:
                next_look = time.monotonic() + _TOLD_S
                self._count()
            self._hear(words)
        code = child.wait()
        aside.join(1.0)
        if not end:
            end = {"end": "failed", "why": complaints[-1] if complaints else _ended(code)}
        return end

    def _hear(self, words: dict[str, Any]) -> None:
        if "total" in words:
            self._set(bytes_total=words["total"], bytes_done=0)
        elif "done" in words:
            self._set(bytes_done=words["done"])
        elif "stage" in words:
            self._set(stage=words["stage"])
        elif "damaged" in words:
            self._damages.append(words["damaged"])
            self._set(problems=list(self._damages))

    def _count(self) -> None:
        """How many logs are read, of how many."""
        try:
            with reading(self._home) as database:
                if database is not None:
                    scope = scope_of(root.path for root in self._roots)
                    known, n_read = totals(database.db, scope), n_files_read(database.db, scope)
                    self._set(files=n_read, files_known=known.files, tells=False)
        except StoreError:
            pass  # the pass itself will say what is wrong with the index

    def _has_changed(self) -> bool:
        try:
            with reading(self._home) as database:
                return database is None or not is_still(database.db, self._roots, spool=self._home.spool)
        except StoreError:
            return True  # the next pass sets a damaged one aside, or says what is wrong

    def _is_counted(self) -> bool:
        """Whether ledger and status line know all that was read: others read logs and do not count them."""
        try:
            with reading(self._home) as database:
                return database is None or is_counted(database)
        except StoreError:
            return True  # the next pass will say

    def _set(self, *, tells: bool = True, **values: Any) -> None:
        with self._lock:
            before, self._status = self._status, replace(self._status, **values)
            self._progress.notify_all()
        if tells and self._status != before:
            self._hub.publish("index", asdict(self.status()))


def _words_of(root: Root) -> list[str]:
    """As the child takes it: a home that does not exist yet is the home of its agent none the less."""
    return ["--root", str(root.path), root.agent or "", root.part or ""]


def _ended(code: int) -> str:
    if code >= 0:
        return f"the process that reads ended with {code}"
    return f"the process that reads was ended by {signal.Signals(-code).name}"


def _drain(stream: Any, into: list[str]) -> None:
    for line in stream:
        into.append(line.strip()[:_WORDS_KEPT])
        del into[:-20]
