"""Take secrets and private things out of files, or out of a stream.

Rules
  1. All is read to its end and learned before the first byte is given out: what cannot be read whole gives nothing.
  2. A stream is kept meanwhile in a file without a name, in our own home.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from tracklog.errors import NotThere, UserError, why_failed
from tracklog.home import Home, tracklog_home
from tracklog.secrets.find import windows
from tracklog.secrets.identity import known
from tracklog.secrets.redact import NotClean, Redactor, redactor_of
from tracklog.secrets.redact import Review as Review
from tracklog.sources.files import CHUNK, NotReadable, chunks, open_log
from tracklog.sources.log_file import is_compressed

_STDIN = Path("-")


class _Input(NamedTuple):
    """What is to be cleaned: it can be read twice, and does not grow meanwhile."""

    name: str | None  # None: it came by a pipe
    stream: IO[bytes]
    size: int

    def chunks(self) -> Iterator[bytes]:
        """All of it; raises NotReadable if it is not what it was."""
        self.stream.seek(0)
        left = self.size
        while left:
            piece = self.stream.read(min(CHUNK, left))
            if not piece:
                raise NotReadable(Path(self.name or "-"), "changed while it was read")
            left -= len(piece)
            yield piece


def redact(
    paths: Sequence[Path], *, stdin: IO[bytes] | None, write: Callable[[bytes], object], home: Path | None
) -> Review:
    """Give the contents of files, or of stdin if none is named, to `write`, and say what was replaced in them."""
    ours = Home(tracklog_home(home))
    with ExitStack() as stack:
        inputs = [stack.enter_context(_opened(path, ours, stdin)) for path in paths or (_STDIN,)]
        redactor = _redactor(ours)
        with _told_plainly():
            for one in inputs:
                for window in windows(one.chunks()):
                    redactor.learn(window.data, one.name)
            for one in inputs:
                for piece in redactor.chunks(one.chunks(), one.name):
                    write(piece)
    return _fit_to_show(redactor)


def _fit_to_show(redactor: Redactor) -> Review:
    """The review, in which names of files are as clean as what was given out."""
    review = redactor.review
    replaced = [one._replace(places=tuple(map(redactor.text, one.places))) for one in review.replaced]
    missed = [one._replace(places=tuple(map(redactor.text, one.places))) for one in review.missed]
    return review._replace(replaced=replaced, missed=missed)


def _redactor(home: Home) -> Redactor:
    env = os.environ
    user = env.get("USER") or env.get("LOGNAME") or ""
    return redactor_of(home, private=known(home=env.get("HOME", ""), user=user, host=os.uname().nodename))


@contextmanager
def _opened(path: Path, home: Home, stdin: IO[bytes] | None) -> Iterator[_Input]:
    """Open a plain file in place; read a stream or a compressed file to its end first."""
    with ExitStack() as stack:
        with _told_plainly(path):
            one = _input(path, home, stack, stdin)
        yield one


def _input(path: Path, home: Home, stack: ExitStack, stdin: IO[bytes] | None) -> _Input:
    if path == _STDIN:
        if stdin is None:
            raise NotReadable(_STDIN, "stdin is closed: name a FILE, or pipe something in")
        stream = stack.enter_context(_kept(_read_all(stdin), home))
        return _Input(None, stream, stream.tell())
    real = Path(os.path.realpath(path))
    name = os.path.abspath(path)
    if is_compressed(path):
        stream = stack.enter_context(_kept(chunks(real), home))
        return _Input(name, stream, stream.tell())
    plain = stack.enter_context(open_log(real))
    return _Input(name, plain, os.fstat(plain.fileno()).st_size)


@contextmanager
def _kept(source: Iterator[bytes], home: Home) -> Iterator[IO[bytes]]:
    home.make()
    with ExitStack() as stack:
        try:
            stream = stack.enter_context(tempfile.TemporaryFile(dir=home.path, prefix=".redact-"))
            for piece in source:
                stream.write(piece)
            stream.flush()
        except OSError as error:
            what_to_do = "set TRACKLOG_HOME to a folder that can be written, or name a FILE"
            raise UserError(
                f"cannot keep what is read in {home.path}: {why_failed(error)}; {what_to_do}"
            ) from error
        yield stream


def _read_all(stream: IO[bytes]) -> Iterator[bytes]:
    while True:
        try:
            piece = stream.read(CHUNK)
        except OSError as error:
            raise NotReadable(_STDIN, why_failed(error)) from error
        if not piece:
            return
        yield piece


@contextmanager
def _told_plainly(path: Path | None = None) -> Iterator[None]:
    """Says what cannot be read, as the person called it, or not be cleaned."""
    try:
        yield
    except NotReadable as error:
        raise NotThere(f"cannot read {path or error.path}: {error.why}") from error
    except NotClean as error:
        raise NotThere(f"nothing is given out: {error}") from error
