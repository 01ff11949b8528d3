"""A child session: a thread reads its events until it has ended and all of its processes are gone.

Rules
  1. However it ends, there is one result; and when there is one, no process and no file of the run is left.
  2. Four sources report the end: the stream, the Stop hook, the log, the exit code. The first one counts; the others are
     added to it when they come.
  3. A slow reader loses events, never the result.
"""

from __future__ import annotations

import os
import selectors
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from tracklog.run.limits import LINGER_S, GentleEnd, LimitWatch, StopReason
from tracklog.run.prepare import Prepared, put_away
from tracklog.run.process.supervise import SupervisedClient
from tracklog.run.stream import DocumentSplitter, Events, LastWords, RunEvent, decoded

if TYPE_CHECKING:  # heavy: loaded while the client starts
    from tracklog.ledger.prices.rates import Prices
    from tracklog.run.log_facts import RunUsage
    from tracklog.run.registration import RunRegistration
    from tracklog.run.result import ClientOutcome, Result, ResultBuilder

# Lazy imports: what the end of a run needs loads while the client starts, and asyncio only for those who await.

_TICK_S = 0.25
_CHUNK = 1 << 18
_DRAIN_S = 1.0  # for the rest in the pipes when all processes are gone
_BEHIND_THE_CLIENT = 5  # nice: the client comes first, but a busy machine must not starve us
_SUPERVISOR_LOST = "the process that keeps it was killed, so it was ended"


class Child:
    """A session that we started. Leaving it as a context cancels it."""

    def __init__(
        self,
        prepared: Prepared,
        client: SupervisedClient,
        *,
        prices: Callable[[], Prices],
        recording: RunRegistration,
    ) -> None:
        self.run = prepared.run
        self.agent = prepared.request.agent
        self._prepared = prepared
        self._client = client
        self._prices = prices
        self._recording = recording
        self._stream = prepared.client.stream()
        self._lines, self._last_words = DocumentSplitter(), LastWords()
        self._stop: StopReason | None = None
        self._end = GentleEnd(client, prepared.request.limits.grace_s)
        self._limits = LimitWatch(prepared.request.limits, spent=self._spent, grown_ms=self._grown_ms)
        self._exit_code: int | None = None
        self._left_behind = 0
        self._is_supervisor_lost = False
        self._hook_texts: list[str] = []
        self._has_stop = self._has_asked = False
        self._finished_at: float | None = None
        self._events = Events()
        self._cancels = 0
        self._result: Result | None = None
        self._failure: BaseException | None = None
        self._is_done = threading.Event()
        self._closing = threading.Lock()
        self._wake, self._waker = os.pipe()
        os.set_blocking(self._waker, False)
        self._builder: ResultBuilder | None = None
        self._getting_ready = threading.Thread(target=self._get_ready, daemon=True)
        self._getting_ready.start()
        self._thread = threading.Thread(target=self._run, name=f"run {self.run}", daemon=True)
        self._thread.start()

    @property
    def session(self) -> str | None:
        """The session's id: known from the start for Claude Code, from its first event for Codex."""
        return self._stream.session or self._prepared.session

    @property
    def pid(self) -> int | None:
        """The client's process."""
        return self._client.pid

    @property
    def last(self) -> RunEvent | None:
        """The client's latest event."""
        return self._events.last

    @property
    def transcript_path(self) -> Path | None:
        """The path that the log has or will have; None without a log, or while its name is unknown."""
        session = self.session
        if session is None or not self._prepared.request.persists:
            return None
        return self._prepared.logs.path_of(session)

    def wait(self, timeout_s: float | None = None) -> Result | None:
        """The result; None if the time is over before it is there."""
        if not self._is_done.wait(timeout_s):
            return None
        if self._failure is not None:
            raise self._failure
        return self._result

    def result(self) -> Result:
        """Wait for the result."""
        result = self.wait()
        assert result is not None  # without a time to wait for, it is there
        return result

    def cancel(self) -> None:
        """End the child gently; the second call ends it at once."""
        with self._closing:
            self._cancels += 1
            if not self._is_done.is_set():
                with suppress(BlockingIOError):  # earlier wake-ups are still unread
                    os.write(self._waker, b"!")

    def events(self) -> Iterator[RunEvent]:
        """All events, from the first one until it is over."""
        return self._events.all()

    async def wait_async(self) -> Result:
        """Wait for the result; cancelling the wait cancels the child."""
        from asyncio import CancelledError

        try:
            async for _ in self._events.all_async():
                pass  # the end of it is the end of the child
            return self.result()
        except CancelledError:
            self.cancel()
            raise

    async def events_async(self) -> AsyncIterator[RunEvent]:
        """All events, without a thread that waits."""
        async for event in self._events.all_async():
            yield event

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._is_done.is_set():
            self.cancel()
        self._is_done.wait()

    def _run(self) -> None:
        try:
            self._read_until_the_end()
            builder = self._ready()
            self._result = builder.result(self._outcome(), problems=self._recording.problems)
        except BaseException as error:
            self._failure = error
        finally:
            self._client.close()
            put_away(self._prepared)
            try:
                self._getting_ready.join()  # it registers the beginning
                self._recording.ended(self._result)
            except BaseException as error:
                self._failure = self._failure or error
            finally:
                self._be_done()

    def _be_done(self) -> None:
        """Wake all that wait for the result, whatever failed before: they would wait forever."""
        with self._closing:  # a closed descriptor may belong to another thread at once
            self._is_done.set()
            for descriptor in (self._wake, self._waker):
                os.close(descriptor)
        self._events.end()

    def _ready(self) -> ResultBuilder:
        """The builder of the result, once it is loaded."""
        self._getting_ready.join()
        if self._builder is None:
            raise RuntimeError("the builder of the result could not be loaded") from self._failure
        return self._builder

    def _get_ready(self) -> None:
        """Load what the end needs and write the register while the client starts, at a lower priority."""
        if sys.platform == "linux":  # there each thread has a priority of its own
            with suppress(OSError):
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _BEHIND_THE_CLIENT)
        try:
            from tracklog.run.result import ResultBuilder

            self._recording.started()
            self._builder = ResultBuilder(self._prepared, self._prices)
        except BaseException as error:  # a thread boundary: raised again in `wait`
            self._failure = error

    def _warm_up(self) -> None:
        """Read the log once while the client ends: the first read is slow."""
        with suppress(Exception):  # an error will be reported where it counts
            self._ready().warm_up(self._stream)

    def _outcome(self) -> ClientOutcome:
        from tracklog.run.result import ClientOutcome

        return ClientOutcome(
            stream=self._stream,
            exit_code=self._exit_code,
            left_behind=self._left_behind,
            stop=self._stop,
            we_ended_it=self._end.has_begun,
            stop_texts=self._hook_texts,
            has_stop=self._has_stop,
            has_asked=self._has_asked,
            last_words=self._last_of_the_client(),
        )

    def _read_until_the_end(self) -> None:
        readers = {self._client.stdout: self._read_stdout, self._client.stderr: self._read_stderr}
        with selectors.DefaultSelector() as selector:
            for descriptor in (*readers, self._client.reports, self._wake):
                selector.register(descriptor, selectors.EVENT_READ)
            if self._prepared.fifo is not None:
                selector.register(self._prepared.fifo.descriptor, selectors.EVENT_READ)
            drained_at: float | None = None
            while not (self._client.is_over and (not readers or time.monotonic() >= (drained_at or 0.0))):
                for key, _ in selector.select(_TICK_S):
                    reader = readers.get(key.fd)
                    if reader is not None and not reader():
                        selector.unregister(key.fd)
                        del readers[key.fd]
                    elif key.fd == self._wake:
                        os.read(self._wake, 64)
                self._read_reports()
                if self._client.is_over and drained_at is None:
                    drained_at = time.monotonic() + _DRAIN_S
                    selector.unregister(self._client.reports)
                self._keep_limits()
                if self._end.is_in_vain:  # a stopped supervisor does not answer: closing ends it
                    self._client.close()
                    return
        for document in self._lines.end():
            self._add_document(document)
        self._read_reports()

    def _read_stdout(self) -> bool:
        data = _read(self._client.stdout)
        if data is None:
            return True
        for document in self._lines.cut(data):
            self._add_document(document)
        return bool(data)

    def _read_stderr(self) -> bool:
        data = _read(self._client.stderr)
        self._last_words.add(data or b"")
        return data is None or bool(data)

    def _add_document(self, document: Mapping[str, Any]) -> None:
        had_session = self._stream.session is not None
        what = self._stream.add(document)
        self._limits.sign()
        if self._stream.is_finished and self._finished_at is None:
            self._finished_at = time.monotonic()
            threading.Thread(target=self._warm_up, daemon=True).start()
        if not had_session and self._stream.session not in (None, self._prepared.session):
            # Readers of events do not wait for the loading.
            threading.Thread(target=self._register_name, daemon=True).start()
        self._events.append("stream", what, document)

    def _register_name(self) -> None:
        if (session := self.session) is not None:
            self._recording.named(session, self.transcript_path)

    def _read_reports(self) -> None:
        """Read what the supervisor and the hooks have reported."""
        for what, number in self._client.read_reports():
            if what == "exit":
                self._exit_code = number
            elif what == "stuck":
                self._prepared.problems.append(f"{number} of its processes could not be killed")
            elif what in ("left", "lost"):
                self._left_behind = number
                self._is_supervisor_lost = what == "lost"
            self._events.append("keeper", what, {"value": number})
        if self._prepared.fifo is not None:
            for payload in self._prepared.fifo.read_payloads():
                self._add_payload(payload)

    def _add_payload(self, payload: bytes) -> None:
        document = decoded(payload)
        if document is None:
            return  # anything of the child may write to our pipe
        event = str(document.get("hook_event_name"))
        text = document.get("last_assistant_message")
        self._has_asked |= event == self._prepared.client.permission_event
        if event == "Stop" and document.get("session_id") == self.session:
            self._has_stop = True
            self._hook_texts += [text] if isinstance(text, str) and text else []
        self._events.append("hook", event, document)

    def _keep_limits(self) -> None:
        self._end.tick()
        if self._client.is_over:
            return
        if self._cancels:
            self._cancels -= 1
            self._stop_for(StopReason("cancelled", "interrupted"))
            (self._end.hurry if self._end.has_begun else self._end.begin)()
        elif not self._end.has_begun and (stop := self._limits.passed()) is not None:
            self._stop_for(stop)
            self._end.begin()
        elif not self._end.has_begun and self._has_lingered():
            self._end.begin()

    def _has_lingered(self) -> bool:
        """Whether it printed its result long ago and does not exit."""
        return self._finished_at is not None and time.monotonic() - self._finished_at > LINGER_S

    def _stop_for(self, stop: StopReason) -> None:
        """Note why we end it; a limit that is passed after the work was done only ends the process."""
        if self._stop is None and not self._stream.is_finished:
            self._stop = stop
            self._events.append("limit", stop.by, {"why": stop.words})

    def _last_of_the_client(self) -> str:
        """Why the client may have ended without a result."""
        if self._client.failure is not None:
            return f"the client could not be started: {self._client.failure.strerror}"
        if self._is_supervisor_lost:
            return _SUPERVISOR_LOST
        return self._last_words.text or "\n".join(self._lines.noise)

    def _spent(self) -> RunUsage | None:
        return self._ready().spent(self._stream)

    def _grown_ms(self) -> int:
        """When a log last grew; now, while a permission request waits for a person."""
        session, folder = self.session, self._prepared.folder
        if self._prepared.request.ask_here_s is not None and folder is not None:
            from tracklog.liveness.permission_requests import permission_requests_of

            if permission_requests_of(folder.path):
                return time.time_ns() // 1_000_000
        return self._prepared.logs.changed_ns(session) // 1_000_000 if session is not None else 0


def _read(descriptor: int) -> bytes | None:
    """Read what a pipe holds: empty bytes at its end, None if there is nothing now."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:  # the other end is gone
        return b""
