"""Replace secrets and private values in what is given to others, and keep the key of their hashes.

Rules
  1. The local original is never changed.
  2. A value that was found once is replaced wherever it occurs, in every encoding that it may have there.
  3. The same value has the same placeholder, `«secret:kind:hash8»`. The hash is keyed: without this machine's key
     nobody can try values against it.
  4. A caller that gives out several texts first calls `learn` with all of them, then `clean` with each.
  5. When in doubt, redact: where replacements overlap, everything that they cover is removed.
  6. A placeholder is no secret: cleaning a text twice keeps it.
  7. Time is linear: the number of values that are searched everywhere is limited. A text with more is `NotClean`,
     and is not given out.
  8. The key is made once and never leaves this home. A damaged key is reported and not replaced: with another key,
     the hashes in the allowlist (secrets/allowlist.py) would match nothing.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from stringzilla import Str

from tracklog.errors import UserError, why_failed
from tracklog.home import Home, open_private
from tracklog.secrets.allowlist import allow_list
from tracklog.secrets.encodings import BASE64_LETTERS, forms_of
from tracklog.secrets.find import SecretMatch, find
from tracklog.secrets.identity import Private, private_in
from tracklog.secrets.identity_spots import Spotter
from tracklog.secrets.key_blocks import LONGEST_BLOCK
from tracklog.secrets.rules import RuleBook, shipped_rules

Class = Literal["secret", "private"]
MOST_LEARNED = 1000  # values that are looked for in every shape
MOST_PRIVATE = 1000  # homes, names and accounts
LEAST_LEARNED = 8  # bytes; a shorter value is replaced where it was found, and left alone elsewhere
_MOST_PLACES = 20  # that a review names
_WINDOW = 1 << 20  # cleaned at once
_BEFORE = 1 << 12  # bytes before a window that help to understand it
_AHEAD = LONGEST_BLOCK + (1 << 13)  # bytes behind a cut that must be known before it is made
Allowed = Callable[[str, str, str | None], bool]  # kind, hash, place: whether it may be given out as it is


class NotClean(Exception):  # noqa: N818 - a state of the text, which its reader is told
    """What cannot be cleaned, and why; it is not to be given out."""


class TextReplacement(NamedTuple):
    """What is to be replaced."""

    of: Class
    kind: str
    hash: str  # 16 digits, keyed

    @property
    def placeholder(self) -> bytes:
        """What stands in its place."""
        return f"«{self.of}:{self.kind}:{self.hash[:8]}»".encode()


class RedactedValue(NamedTuple):
    """A value that was replaced: how often, and where first."""

    of: Class
    kind: str
    hash: str
    n_times: int
    places: tuple[str, ...]


class NearMiss(NamedTuple):
    """What has the shape of a secret and was left: why, how often, and where first."""

    kind: str
    why: str
    n_times: int
    places: tuple[str, ...]


class Review(NamedTuple):
    """What a person should look at before it is given out."""

    replaced: list[RedactedValue]
    missed: list[NearMiss]


class _Span(NamedTuple):
    start: int
    end: int
    value: TextReplacement


def hash_of(key: bytes, value: bytes) -> str:
    """The keyed hash of a value, 16 digits of it."""
    return hmac.new(key, value, hashlib.sha256).hexdigest()[:16]


def nobody(_kind: str, _hash: str, _place: str | None) -> bool:
    """Nothing is allowed."""
    return False


class Redactor:
    """Learns what is secret and private, and takes it out."""

    def __init__(
        self,
        *,
        key: bytes,
        private: Iterable[Private] = (),
        allowed: Allowed = nobody,
        book: RuleBook | None = None,
    ) -> None:
        self._key = key
        self._allowed = allowed
        self._book = book if book is not None else shipped_rules()
        self._values: dict[bytes, TextReplacement] = {}
        self._forms: list[tuple[bytes, TextReplacement]] = []
        self._private: dict[Private, TextReplacement] = {}
        self._n_private = 0
        self._spotter: Spotter | None = None  # of all private things; None: there are new ones
        self._counts: dict[TextReplacement, int] = {}
        self._places: dict[object, dict[str, None]] = {}
        self._missed: dict[tuple[str, str], int] = {}
        for one in private:
            self._learn_private(one)

    @property
    def review(self) -> Review:
        """What was replaced, and what nearly was."""
        replaced = [RedactedValue(*value, count, self._told(value)) for value, count in self._counts.items()]
        missed = [NearMiss(*key, count, self._told(key)) for key, count in self._missed.items()]
        return Review(replaced, missed)

    def learn(self, data: bytes, place: str | None = None) -> None:
        """Takes in what is secret and private here, for all that is cleaned from now on."""
        self._found(data, place, is_given_out=False)
        for one in private_in(data):
            self._learn_private(one)

    def clean(self, data: bytes, place: str | None = None) -> bytes:
        """The data without what is secret or private."""
        return self._without(data, self._spans(data, place), place)

    def text(self, text: str, place: str | None = None) -> str:
        """The same for a text."""
        return self.clean(text.encode("utf-8", "surrogatepass"), place).decode("utf-8", "surrogatepass")

    def chunks(self, chunks: Iterable[bytes], place: str | None = None) -> Iterator[bytes]:
        """The same for what comes piece by piece: a value may be cut anywhere."""
        before, waiting = b"", bytearray()
        for chunk in chunks:
            waiting += chunk
            while len(waiting) >= _WINDOW + _AHEAD:
                data = before + waiting[: _WINDOW + _AHEAD]
                spans = self._spans(data, place, begin=len(before))
                cut = _cut_apart(spans, len(before) + _WINDOW)
                yield self._without(data[:cut], [one for one in spans if one.start < cut], place, len(before))
                del waiting[: cut - len(before)]
                before = data[_in_step(data, max(0, cut - _BEFORE)) : cut]
        data = before + bytes(waiting)
        yield self._without(data, self._spans(data, place, begin=len(before)), place, len(before))

    def _spans(self, data: bytes, place: str | None, *, begin: int = 0) -> list[_Span]:
        """What is to be replaced, in order and apart."""
        spans = [*self._found(data, place), *self._known(data), *self._private_spans(data)]
        return _merged([one for one in spans if one.start >= begin])

    def _found(self, data: bytes, place: str | None, *, is_given_out: bool = True) -> list[_Span]:
        looked = find(data, self._book)
        for missed in looked.missed if is_given_out else ():
            key = (missed.kind, missed.why)
            self._missed[key] = self._missed.get(key, 0) + 1
            self._note(key, place)
        spans = []
        for one in looked.found:
            value = self._values.get(one.value) or TextReplacement(
                "secret", one.kind, hash_of(self._key, one.value)
            )
            if not self._allowed(one.kind, value.hash, place):
                if not one.is_sign:
                    self._learn_value(one, value)
                spans.append(_Span(one.start, one.end, value))
        return spans

    def _learn_value(self, found: SecretMatch, value: TextReplacement) -> None:
        plain = found.value
        if plain in self._values:
            return
        is_full = len(self._values) >= MOST_LEARNED
        if is_full and not found.stands_alone:
            raise NotClean(f"more than {MOST_LEARNED} different secrets stand there: give out less at once")
        self._values[plain] = value
        if len(plain) >= LEAST_LEARNED and not is_full:
            self._forms += [(form, value) for form in forms_of(plain) if len(form) >= LEAST_LEARNED]

    def _learn_private(self, one: Private) -> None:
        if one in self._private:
            return
        value = TextReplacement("private", one.kind, hash_of(self._key, one.value))
        if self._allowed(one.kind, value.hash, None):
            return
        self._n_private += one.kind != "email"  # of which there may be any number
        if self._n_private > MOST_PRIVATE:
            raise NotClean(f"more than {MOST_PRIVATE} different names stand there: give out less at once")
        self._private[one] = value
        self._spotter = None

    def _known(self, data: bytes) -> Iterator[_Span]:
        haystack = Str(data)
        for form, value in self._forms:
            at = haystack.find(form)
            while at >= 0:
                yield _Span(at, at + len(form), value)
                at = haystack.find(form, at + len(form))

    def _private_spans(self, data: bytes) -> list[_Span]:
        if self._spotter is None:
            self._spotter = Spotter(self._private)
        return [
            _Span(spot.start, spot.end, self._private[spot.private]) for spot in self._spotter.spots(data)
        ]

    def _without(self, data: bytes, spans: list[_Span], place: str | None, begin: int = 0) -> bytes:
        parts, at = [], begin
        for span in spans:
            parts += [data[at : span.start], span.value.placeholder]
            at = span.end
            self._counts[span.value] = self._counts.get(span.value, 0) + 1
            self._note(span.value, place)
        return b"".join([*parts, data[at:]])

    def _note(self, what: object, place: str | None) -> None:
        places = self._places.setdefault(what, {})
        if place is not None and len(places) < _MOST_PLACES:
            places[place] = None

    def _told(self, what: object) -> tuple[str, ...]:
        return tuple(self._places.get(what, ()))


def _merged(spans: list[_Span]) -> list[_Span]:
    """In order; those that overlap become one. A secret's name comes before a private one, the first before the others."""
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda one: (one.start, one.value.of != "secret", -one.end)):
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            continue
        last = merged[-1]
        value = span.value if last.value.of == "private" and span.value.of == "secret" else last.value
        merged[-1] = _Span(last.start, max(last.end, span.end), value)
    return merged


def _in_step(data: bytes, at: int) -> int:
    """A place just before, at which four letters of base64 begin: in another step they would say something else."""
    start = len(data[:at].rstrip(BASE64_LETTERS))
    start += start < at and data[start - 1 : start] == b"\\"  # the letter of an escape
    return at - (at - start) % 4


def _cut_apart(spans: list[_Span], cut: int) -> int:
    """The nearest place at which nothing is cut through."""
    return next((one.end for one in spans if one.start < cut < one.end), cut)


KEY_NAME = "redaction.key"
_KEY_BYTES = 32
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def redactor_of(home: Home, *, private: Iterable[Private] = ()) -> Redactor:
    """Who takes secrets and private things out of what is given to others, with the key and the list of this home."""
    allowed = allow_list(home)
    return Redactor(key=redaction_key(home), private=private, allowed=allowed.may_stay)


def redaction_key(home: Home) -> bytes:
    """The key of this home; made if there is none."""
    home.make()
    path = home.path / KEY_NAME
    try:
        try:
            return _read(path)
        except FileNotFoundError:
            _make(path)
            return _read(path)
    except OSError as error:
        what_to_do = "; make room there and try again" if error.errno in _FULL else ""
        raise UserError(f"cannot use the key in {path}: {why_failed(error)}{what_to_do}") from error


def _read(path: Path) -> bytes:
    descriptor = open_private(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        mode = os.fstat(descriptor).st_mode
        key = os.read(descriptor, _KEY_BYTES + 1) if stat.S_ISREG(mode) else b""
        if len(key) != _KEY_BYTES:
            raise UserError(
                f"{path} is no key of {_KEY_BYTES} bytes: put the right one back, or delete it; "
                "what was allowed by its hash must then be allowed again"
            )
        if mode & 0o077:
            os.fchmod(descriptor, 0o600)
        return key
    finally:
        os.close(descriptor)


def _make(path: Path) -> None:
    """Puts a whole key in its place; if another process was faster, its key stays."""
    aside = path.with_name(f".{KEY_NAME}.{os.getpid()}")
    try:
        with open(open_private(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), "wb") as stream:
            stream.write(secrets.token_bytes(_KEY_BYTES))
            stream.flush()
            os.fsync(stream.fileno())
        os.link(aside, path)
    except FileExistsError:
        pass  # it was made meanwhile
    finally:
        aside.unlink(missing_ok=True)
