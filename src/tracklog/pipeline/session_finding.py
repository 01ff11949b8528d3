r"""Finds words in the lines of a thread, as a reader of its page would: whatever their case, in what the page shows.

Rules of this room
  1. Bytes first: a line that does not hold the words as a log spells them (escaped by JSON, in any case) is never decoded.
     Then what the line says is looked at, without the ids and folders around it; white space of any kind and amount is
     one space.
  2. No index is needed; the logs themselves are asked.
  3. What is said is sure. Lines are looked at in order for as long as the caller has patience, and the answer says how
     far that went: whoever wants to know more asks again from there.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from heapq import merge
from pathlib import Path
from typing import NamedTuple

from stringzilla import Str

from tracklog.pipeline.full_results import OutputFiles
from tracklog.pipeline.reading import ONE_DOCUMENT, reader_for
from tracklog.pipeline.story import Translator, translator_of
from tracklog.pipeline.texts import texts_of
from tracklog.pipeline.thread_lines import LineAt, ThreadLines
from tracklog.sources.found import LogFile
from tracklog.sources.lines import Line

MOST = 5_000
_PREVIEW = b"persisted-output"  # of such a line the words may stand in an output file
LONGEST = 1_000  # letters of what is looked for
PATIENCE_S = 0.2
_HELD_FOR = 30  # lines at most between a prompt of Codex and what it waits for
_SAFE = re.compile(r"[^\s\"\\/<>&'\x00-\x20\x7f-\U0010ffff]+")  # letters that no writer of JSON escapes


class Found(NamedTuple):
    """The lines of a thread that hold some words."""

    seqs: list[int]
    counts: list[int]  # how often each of these holds them
    checked_to: int  # up to this line that is all
    is_all: bool  # and there are no lines behind it


def find_in(
    lines: ThreadLines,
    text: str,
    *,
    start: int = 1,
    most: int = MOST,
    patience_s: float = PATIENCE_S,
    archive: Path | None = None,
) -> Found:
    """Which lines of a thread hold a text, from one line on; `archive`: its folder, for long outputs of tools."""
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
    """Looks at one candidate after the other."""

    def __init__(self, lines: ThreadLines, words: list[str], archive: Path | None) -> None:
        self._lines = lines
        self._archive = archive
        self._words = _Words(words)
        self._translators: dict[str, Translator] = {}
        self.counts: dict[int, int] = {}
        self.read_to = 0  # lines up to this one were looked at, be they candidates or not

    def look_at(self, candidate: _Candidate) -> None:
        """Counts what a candidate tells."""
        place = self._lines.place_of(candidate.seq)
        if place is None or candidate.seq <= self.read_to:
            return
        file, number = place
        line = Line(number, candidate.offset, len(candidate.raw), candidate.raw)
        has_told = self._look_at(LineAt(candidate.seq, file, line))
        if not has_told and file.agent == "codex":
            self._wait_for_more(candidate.seq)

    def _look_at(self, at: LineAt) -> bool:
        """Counts what a line tells, as well as what was held back before; says whether it told anything."""
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
        """Codex says a prompt twice, or once: its first line tells nothing until the lines behind it were read."""
        for at in self._lines.between(seq + 1, seq + _HELD_FOR):
            if self._look_at(at):
                return

    def _translator(self, file: LogFile) -> Translator:
        path = str(file.path)
        if path not in self._translators:
            self._translators[path] = translator_of(file)
        return self._translators[path]

    def found(self, checked_to: int) -> Found:
        """What was found up to a line."""
        seqs = sorted(self.counts)
        counts = [self.counts[seq] for seq in seqs]
        return Found(seqs, counts, checked_to, checked_to >= self._lines.n)


class _Words:
    """What is looked for, in texts that are decoded."""

    def __init__(self, words: list[str]) -> None:
        self._first = words[0].lower() if words else ""
        self._pattern = re.compile(r"\s+".join(map(re.escape, words)), re.IGNORECASE)
        self._is_one = len(words) == 1

    def count_in(self, text: str) -> int:
        """How often they stand there."""
        lowered = text.lower()
        if self._first not in lowered:
            return 0
        if self._is_one:
            return lowered.count(self._first)
        return sum(1 for _ in self._pattern.finditer(text))


def _candidates(lines: ThreadLines, words: list[str], start: int) -> Iterator[_Candidate]:
    """The lines whose bytes may hold the words, in order."""
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
    """Whether all of a log is one line, however many it has."""
    place = lines.place_of(seq)
    return place is not None and place[0].kind in ONE_DOCUMENT


def _in_order(lowered: bytes, needles: list[bytes]) -> Iterator[int]:
    found = [_places(lowered, needle) for needle in needles]
    return found[0] if len(found) == 1 else merge(*found)


def _spellings(word: str) -> list[bytes]:
    """How a word may be written whose letters are all of those that JSON may escape; as bytes in small letters."""
    ways = {word, word.lower(), word.upper(), word.title()}
    plain = {json.dumps(way, ensure_ascii=is_ascii)[1:-1] for way in ways for is_ascii in (False, True)}
    plain |= {one.replace("/", "\\/") for one in plain}
    plain |= {re.sub(r"[<>&']", lambda sign: f"\\u{ord(sign[0]):04x}", one) for one in plain}
    return sorted({one.encode("utf-8", "surrogatepass").lower() for one in plain})


def _places(lowered: bytes, needle: bytes) -> Iterator[int]:
    """Where a needle stands, once for each line."""
    find, at = Str(lowered).find, 0
    while (found := find(needle, at)) >= 0:
        yield found
        at = lowered.find(b"\n", found)
        if at < 0:
            return


def _lines_at(block: bytes, first: int, places: Iterator[int]) -> Iterator[_Candidate]:
    """The lines in which some places stand, each once."""
    seq, start, end = first, 0, -1
    for place in places:
        if place < end:
            continue
        seq += block.count(b"\n", start, place)
        start = block.rfind(b"\n", 0, place) + 1
        end = block.find(b"\n", place)
        yield _Candidate(seq, start, block[start:end])
