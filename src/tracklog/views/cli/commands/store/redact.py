"""`tracklog redact`: takes secrets and private things out of files, or out of what comes by a pipe.

Rules of this room
  1. All is read to its end and learned before the first byte is given out: what cannot be read whole gives nothing.
  2. What comes by a pipe is kept meanwhile in a file without a name, in our own home.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import click

from tracklog.errors import NotThere, UserError, why_failed
from tracklog.home import Home, tracklog_home, write_private
from tracklog.sources.files import CHUNK, NotReadable, chunks, open_log
from tracklog.views.cli.options import A_PATH, home_option
from tracklog.views.text.printing import SCHEMA_VERSION, count, talk

if TYPE_CHECKING:
    from tracklog.secrets.redact import Redactor, Review

_STDIN = Path("-")


class Input(NamedTuple):
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


@click.command
@click.argument("files", nargs=-1, type=A_PATH, metavar="[FILE]...")
@click.option(
    "--review",
    "review_path",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write there, as JSON, what was replaced, and what looked like a secret and was left.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the same document on stderr, instead of a line of words."
)
@home_option
def redact(files: tuple[Path, ...], review_path: Path | None, as_json: bool, home: Path | None) -> None:
    """Take secrets and private things out of files, or of what comes by a pipe.

    Prints FILE, or what comes on stdin, with placeholders in the place of keys, tokens, passwords, of home directories,
    names of users and machines, and e-mail addresses; a value that is found once is replaced wherever it stands, also
    encoded. The same value has the same placeholder on this machine. The files stay as they are. Values and files that
    `tracklog scan --allow` names are left. What cannot be read to its end, or holds more secrets than can be looked for,
    is not printed, and the exit code is 1.

    \b
    tracklog redact session.jsonl > clean.jsonl
    git diff | tracklog redact --review review.json
    """
    ours = Home(tracklog_home(home))
    with ExitStack() as stack:
        inputs = [stack.enter_context(_opened(path, ours)) for path in files or (_STDIN,)]
        redactor = _redactor(ours)
        with _told_plainly():
            _learn(redactor, inputs)
            _give_out(redactor, inputs)
    review = _fit_to_show(redactor)
    if review_path is not None:
        _write_review(review_path, review)
    talk(_as_json(review) if as_json else _summary(review))


def _fit_to_show(redactor: Redactor) -> Review:
    """The review, in which names of files are as clean as what was given out."""
    review = redactor.review
    replaced = [one._replace(places=tuple(map(redactor.text, one.places))) for one in review.replaced]
    missed = [one._replace(places=tuple(map(redactor.text, one.places))) for one in review.missed]
    return review._replace(replaced=replaced, missed=missed)


def _redactor(home: Home) -> Redactor:
    from tracklog.secrets.identity import known
    from tracklog.secrets.redact import redactor_of

    env = os.environ
    user = env.get("USER") or env.get("LOGNAME") or ""
    return redactor_of(home, private=known(home=env.get("HOME", ""), user=user, host=os.uname().nodename))


@contextmanager
def _opened(path: Path, home: Home) -> Iterator[Input]:
    """A plain file as it stands; what comes by a pipe, or compressed, is read to its end first."""
    with ExitStack() as stack:
        with _told_plainly(path):
            one = _input(path, home, stack)
        yield one


def _input(path: Path, home: Home, stack: ExitStack) -> Input:
    if path == _STDIN:
        if sys.stdin is None:  # it was closed before we began
            raise NotReadable(_STDIN, "stdin is closed: name a FILE, or pipe something in")
        stream = stack.enter_context(_kept(_read_all(sys.stdin.buffer), home))
        return Input(None, stream, stream.tell())
    real = Path(os.path.realpath(path))
    name = os.path.abspath(path)
    if path.suffix == ".zst":
        stream = stack.enter_context(_kept(chunks(real), home))
        return Input(name, stream, stream.tell())
    plain = stack.enter_context(open_log(real))
    return Input(name, plain, os.fstat(plain.fileno()).st_size)


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
    from tracklog.secrets.redact import NotClean

    try:
        yield
    except NotReadable as error:
        raise NotThere(f"cannot read {path or error.path}: {error.why}") from error
    except NotClean as error:
        raise NotThere(f"nothing is given out: {error}") from error


def _learn(redactor: Redactor, inputs: Sequence[Input]) -> None:
    from tracklog.secrets.find import windows

    for one in inputs:
        for window in windows(one.chunks()):
            redactor.learn(window.data, one.name)


def _give_out(redactor: Redactor, inputs: Sequence[Input]) -> None:
    for one in inputs:
        for piece in redactor.chunks(one.chunks(), one.name):
            sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _summary(review: Review) -> str:
    parts = [_counted(review, "secret", "secret"), _counted(review, "private", "private value")]
    said = " and ".join(part for part in parts if part)
    return f"tracklog: {said or 'nothing'} replaced"


def _counted(review: Review, of: str, noun: str) -> str:
    those = [one for one in review.replaced if one.of == of]
    kinds = {one.kind for one in those}
    return f"{count(len(those), noun)} of {count(len(kinds), 'kind')}" if those else ""


def _document(review: Review) -> dict[str, Any]:
    replaced = [
        {"class": of, "kind": kind, "hash": hash, "count": n, "places": places}
        for of, kind, hash, n, places in review.replaced
    ]
    missed = [
        {"kind": kind, "why": why, "count": n, "places": places} for kind, why, n, places in review.missed
    ]
    return {"schema_version": SCHEMA_VERSION, "replaced": replaced, "near_misses": missed}


def _as_json(review: Review) -> str:
    import json

    return json.dumps(_document(review))


def _write_review(path: Path, review: Review) -> None:
    try:
        write_private(path, f"{_as_json(review)}\n".encode())
    except OSError as error:
        raise UserError(f"cannot write {path}: {why_failed(error)}") from error
