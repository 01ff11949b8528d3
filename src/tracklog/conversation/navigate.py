"""Find words in the lines of a thread, and its next prompt or error.

Words match in any case, in the texts that the page shows.

Rules
  1. Bytes first: a line that does not contain the words as a log spells them (escaped by JSON, in any case) is never
     decoded. Then the texts of the line are searched, without the ids and folders around them; white space of any kind
     and amount counts as one space.
  2. Finding words needs no index, only the logs.
  3. A reported result is certain. Lines are searched in order until the time is over, and the result says how far that
     went; the caller continues from there for more.
  4. The index knows the lines of prompts, failed calls, error answers, and lines that were not understood. Of other
     texts (failed requests, hooks, injected ones) it knows only the line: those are read, at most MOST_LOOKED.
  5. A line that is not shown, because it is not on the followed branch, is skipped.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from pathlib import Path
from sqlite3 import Connection
from typing import Literal, NamedTuple

from stringzilla import Str

from tracklog.agents.base import Translator
from tracklog.agents.registry import ONE_DOCUMENT, reader_for, translator_of
from tracklog.agents.supported import support_for
from tracklog.conversation.branches import VisibleBranch
from tracklog.conversation.lines import LineAt, ThreadLines
from tracklog.conversation.session import SessionHead
from tracklog.conversation.thread_reader import ThreadReading
from tracklog.reading.tool_outputs import OutputFiles
from tracklog.search.texts import texts_of
from tracklog.sessions.tables_session import LogLine, places_of_asides, places_of_errors, places_of_prompts
from tracklog.sources.lines import Line
from tracklog.sources.log_file import LogFile

MOST = 5_000
_PREVIEW = b"persisted-output"  # the words of such a line may be in an output file
LONGEST = 1_000  # letters of the text to find
PATIENCE_S = 0.2
_HELD_FOR = 30  # most lines between a prompt and the one that completes it
_SAFE = re.compile(r"[^\s\"\\/<>&'\x00-\x20\x7f-\U0010ffff]+")  # letters that no writer of JSON escapes


class FoundLines(NamedTuple):
    """The lines of a thread that contain some words."""

    seqs: list[int]
    counts: list[int]  # how often each of these holds them
    checked_to: int  # the search is complete up to this line
    is_all: bool  # and this is the last line


def find_in(
    lines: ThreadLines,
    text: str,
    *,
    start: int = 1,
    most: int = MOST,
    patience_s: float = PATIENCE_S,
    archive: Path | None = None,
) -> FoundLines:
    """Finds the lines of a thread that contain a text, from `start` on; `archive`: its folder, for long outputs."""
    words = text[:LONGEST].split()
    ends = time.monotonic() + patience_s
    finding = _Finding(lines, words, archive)
    for candidate in _candidates(lines, words, start) if words else ():
        if candidate.raw:
            finding.look_at(candidate)
        if len(finding.counts) >= most or time.monotonic() > ends:
            return finding.found(max(candidate.seq, finding.read_to))
    return finding.found(lines.n)


class _Candidate(NamedTuple):
    seq: int
    offset: int  # in its block
    raw: bytes  # empty: none up to this line


class _Finding:
    """Counts the words in one candidate after the other."""

    def __init__(self, lines: ThreadLines, words: list[str], archive: Path | None) -> None:
        self._lines = lines
        self._archive = archive
        self._words = _Words(words)
        self._translators: dict[str, Translator] = {}
        self.counts: dict[int, int] = {}
        self.read_to = 0  # all lines up to this one were read, candidates or not

    def look_at(self, candidate: _Candidate) -> None:
        """Counts the words in a candidate."""
        place = self._lines.place_of(candidate.seq)
        if place is None or candidate.seq <= self.read_to:
            return
        file, number = place
        line = Line(number, candidate.offset, len(candidate.raw), candidate.raw)
        has_told = self._look_at(LineAt(candidate.seq, file, line))
        if not has_told and support_for(file.agent).logs.translator_has_state:
            self._wait_for_more(candidate.seq)

    def _look_at(self, at: LineAt) -> bool:
        """Counts the words in a line's events, and in those held back before; returns whether there were any events."""
        has_told = False
        translator = self._translator(at.file)
        for piece in reader_for(at.file).read([at.line]):
            events = translator.translate(piece)
            has_told = has_told or bool(events)
            for text in texts_of(piece, OutputFiles(at.file, self._archive).all_filled(events)):
                n_times = self._words.count_in(text.text)
                if n_times:
                    seq = at.seq - at.line.number + text.line
                    self.counts[seq] = self.counts.get(seq, 0) + n_times
        self.read_to = at.seq
        return has_told

    def _wait_for_more(self, seq: int) -> None:
        """Reads on until an event comes: a prompt may be given only after its second line or what follows it."""
        for at in self._lines.between(seq + 1, seq + _HELD_FOR):
            if self._look_at(at):
                return

    def _translator(self, file: LogFile) -> Translator:
        path = str(file.path)
        if path not in self._translators:
            self._translators[path] = translator_of(file)
        return self._translators[path]

    def found(self, checked_to: int) -> FoundLines:
        """The lines found up to this one."""
        seqs = sorted(self.counts)
        counts = [self.counts[seq] for seq in seqs]
        return FoundLines(seqs, counts, checked_to, checked_to >= self._lines.n)


class _Words:
    """The words to find, in decoded texts."""

    def __init__(self, words: list[str]) -> None:
        self._first = words[0].lower() if words else ""
        self._pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
        self._is_one = len(words) == 1

    def count_in(self, text: str) -> int:
        """How often the words occur in a text."""
        lowered = text.lower()
        if self._first not in lowered:
            return 0
        if self._is_one:
            return lowered.count(self._first)
        return sum(1 for _ in self._pattern.finditer(text))


def _candidates(lines: ThreadLines, words: list[str], start: int) -> Iterator[_Candidate]:
    """The lines whose bytes may contain the words, in order."""
    sure = max((part for word in words for part in _SAFE.findall(word)), key=len, default="")
    needles = [sure.lower().encode()] if sure else _spellings(max(words, key=len))
    for first, block in lines.chunks():
        if _is_document(lines, first):
            yield _Candidate(first, 0, block)
            continue
        n_lines = block.count(b"\n")
        if first + n_lines > start:
            places = _in_order(block.lower(), [*needles, _PREVIEW])
            yield from (one for one in _lines_at(block, first, places) if one.seq >= start)
            yield _Candidate(first + n_lines - 1, 0, b"")


def _is_document(lines: ThreadLines, seq: int) -> bool:
    """Whether a log is one document, which counts as one line."""
    place = lines.place_of(seq)
    return place is not None and place[0].kind in ONE_DOCUMENT


def _in_order(lowered: bytes, needles: list[bytes]) -> Iterator[int]:
    found = [_places(lowered, needle) for needle in needles]
    return found[0] if len(found) == 1 else merge(*found)


def _spellings(word: str) -> list[bytes]:
    """All ways to write a word whose letters JSON may all escape, as lower-case bytes."""
    ways = {word, word.lower(), word.upper(), word.title()}
    plain = {json.dumps(way, ensure_ascii=is_ascii)[1:-1] for way in ways for is_ascii in (False, True)}
    plain |= {one.replace("/", "\\/") for one in plain}
    plain |= {re.sub(r"[<>&']", lambda sign: f"\\u{ord(sign[0]):04x}", one) for one in plain}
    return sorted({one.encode("utf-8", "surrogatepass").lower() for one in plain})


def _places(lowered: bytes, needle: bytes) -> Iterator[int]:
    """Offsets of a needle, one for each line."""
    find, at = Str(lowered).find, 0
    while (found := find(needle, at)) >= 0:
        yield found
        at = lowered.find(b"\n", found)
        if at < 0:
            return


def _lines_at(block: bytes, first: int, places: Iterator[int]) -> Iterator[_Candidate]:
    """The lines that contain these offsets, each once."""
    seq, start, end = first, 0, -1
    for place in places:
        if place < end:
            continue
        seq += block.count(b"\n", start, place)
        start = block.rfind(b"\n", 0, place) + 1
        end = block.find(b"\n", place)
        yield _Candidate(seq, start, block[start:end])


What = Literal["prompt", "error"]
MOST_LOOKED = 500
_PLACES: dict[What, Callable[[Connection, int], list[LogLine]]] = {
    "prompt": places_of_prompts,
    "error": places_of_errors,
}


class NextLine(NamedTuple):
    """The next prompt or error; `is_sure`: if it is None, there really is none."""

    seq: int | None = None
    is_sure: bool = False


def next_line(
    db: Connection,
    head: SessionHead,
    reading: ThreadReading,
    what: What,
    *,
    after: int | None = None,
    before: int | None = None,
    seen: VisibleBranch | None = None,
) -> NextLine:
    """The first prompt or error after a line, or the last one before it; `seen`: only among what is shown there."""
    known = lines_of(db, head, reading.lines, what)
    asides = _asides(db, head, reading.lines) if what == "error" else set()
    to_look = MOST_LOOKED
    for seq in in_order({*known, *asides}, after=after, before=before, seen=seen):
        if seq not in known:
            to_look -= 1
        if to_look < 0:
            return NextLine()
        if seq in known or _is_bad(reading, seq):
            return NextLine(seq, head.is_settled)
    return NextLine(None, head.is_settled)


def _is_bad(reading: ThreadReading, seq: int) -> bool:
    return any(
        row.is_bad and row.kind != "result" for row in reading.rows(seq, seq)
    )  # a result belongs to its call


def lines_of(db: Connection, head: SessionHead, lines: ThreadLines, what: What) -> set[int]:
    """The lines of a thread with prompts or errors; none while the index does not know the session."""
    return set() if head.known is None else _seqs(head, lines, _PLACES[what](db, head.known.row))


def _asides(db: Connection, head: SessionHead, lines: ThreadLines) -> set[int]:
    """The lines that must be read to know whether they hold an error."""
    files = [head.numbers[path] for file in lines.files if (path := str(file.path)) in head.numbers]
    return _seqs(head, lines, places_of_asides(db, files)) if head.known is not None else set()


def _seqs(head: SessionHead, lines: ThreadLines, places: Iterable[LogLine]) -> set[int]:
    paths = {number: path for path, number in head.numbers.items()}
    found = (lines.seq_of(paths[place.file], place.line) for place in places if place.file in paths)
    return {seq for seq in found if seq is not None}


def in_order(
    seqs: Iterable[int],
    *,
    after: int | None = None,
    before: int | None = None,
    seen: VisibleBranch | None = None,
) -> Iterator[int]:
    """The lines after one, or before one, nearest first; `seen`: only those that are shown there."""
    if before is not None:
        candidates = sorted((seq for seq in seqs if seq < before), reverse=True)
    else:
        candidates = sorted(seq for seq in seqs if seq > (after or 0))
    heads = {turn.seq for turn in seen.turns if turn.is_head} if seen is not None else set()
    return (seq for seq in candidates if seen is None or seq in heads or not seen.left_lines(seq, seq))
