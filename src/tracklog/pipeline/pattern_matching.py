"""Regular expressions over texts, in a process that can be ended.

A pattern may need longer than the universe lasts, on one short text, and nothing but its end stops a match from outside
of the main thread. So another process reads and matches; whoever waits for it takes what has come when the time is over.
"""

from __future__ import annotations

import os
import re
import select
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from tracklog.model.events import TextSource
from tracklog.pipeline.found_texts import FoundText, FoundTexts
from tracklog.pipeline.snippets import Snippet, cut_out, pattern_spans
from tracklog.store.search import COUNTED, Hit

_AT_ONCE = 1 << 16
_COUNTING_S = 0.3  # for which matches are counted that nobody will see


class Match(msgspec.Struct, array_like=True):
    """A candidate that matched, by its number; the snippet of those that are shown."""

    n: int
    text: str | None = None
    marks: list[tuple[int, int]] = []
    source: TextSource = "result"


class Matches(NamedTuple):
    """What came in time, and whether that is all."""

    found: list[tuple[Hit, Snippet, TextSource]]
    n_matched: int
    is_all: bool


def matches(
    pattern: str,
    candidates: Sequence[Hit],
    texts: FoundTexts,
    *,
    limit: int,
    is_meant: Callable[[str], bool],
    time_limit_s: float,
) -> Matches:
    """The first candidates that match, in their order; at most so many, and the number of the others as far as it goes."""
    ends = time.monotonic() + time_limit_s
    came: list[Match] = []
    with _Child(lambda: _matching(pattern, candidates, texts, limit, is_meant)) as child:
        for message in child.messages(ends):
            came.append(msgspec.msgpack.decode(message, type=Match))
    found = [
        (candidates[one.n], Snippet(one.text, one.marks), one.source) for one in came if one.text is not None
    ]
    is_all = child.is_done and len(came) < COUNTED and not (came and came[-1].n < 0)
    return Matches(found, sum(one.n >= 0 for one in came), is_all)


def _matching(
    pattern: str,
    candidates: Sequence[Hit],
    texts: FoundTexts,
    limit: int,
    is_meant: Callable[[str], bool],
) -> Iterator[bytes]:
    """The work of the child: a message for each match; one with a negative number if it gave up counting."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = re.compile(pattern, re.MULTILINE)
    n_matched, counts_until = 0, float("inf")
    for n, hit in enumerate(candidates):
        found = texts.found(hit, lambda _: True)
        text = None if found is None else found.text
        at = next(pattern_spans(compiled, text), None) if text is not None and is_meant(text) else None
        if found is None or at is None:
            continue
        n_matched += 1
        match = _shown(n, compiled, found, at[0]) if n_matched <= limit else Match(n)
        yield msgspec.msgpack.encode(match)
        if n_matched == limit:
            counts_until = time.monotonic() + _COUNTING_S
        if n_matched >= COUNTED or time.monotonic() > counts_until:
            yield msgspec.msgpack.encode(Match(-1))
            return


def _shown(n: int, compiled: re.Pattern[str], found: FoundText, at: int) -> Match:
    text = found.text

    def spans(begin: int, end: int) -> Iterator[tuple[int, int]]:
        for span in pattern_spans(compiled, text):
            if span[0] >= end:
                return
            if span[1] > begin:
                yield span

    snippet = cut_out(text, at, spans)
    return Match(n, snippet.text, snippet.marks, found.source)


class _Child:
    """A process that yields messages, each on its way with its length before it."""

    def __init__(self, work: Callable[[], Iterator[bytes]]) -> None:
        self._reading, writing = os.pipe()
        self.is_done = False
        self._pid = os.fork()
        if self._pid == 0:
            _live(work, self._reading, writing)
        os.close(writing)

    def __enter__(self) -> _Child:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reading)
        os.kill(self._pid, signal.SIGKILL)  # it has not been waited for, so the number is still its own
        os.waitpid(self._pid, 0)

    def messages(self, ends: float) -> Iterator[bytes]:
        """Whole messages, until there are no more or the time is over."""
        held = b""
        while (left := ends - time.monotonic()) > 0 and select.select([self._reading], [], [], left)[0]:
            part = os.read(self._reading, _AT_ONCE)
            if not part:
                self.is_done = True
                return
            held += part
            while len(held) >= 4 and len(held) >= 4 + (length := int.from_bytes(held[:4], "little")):
                yield held[4 : 4 + length]
                held = held[4 + length :]


def _live(work: Callable[[], Iterator[bytes]], reading: int, writing: int) -> None:
    """The life of the child. It ends here whatever happens, without what the parent does at its own end."""
    try:
        os.close(reading)
        with os.fdopen(writing, "wb", buffering=0) as stream:
            for message in work():
                stream.write(len(message).to_bytes(4, "little") + message)
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    except BaseException:  # the parent cannot see it: it is shown here, and the answer is incomplete
        traceback.print_exc()
    finally:
        os._exit(0)
