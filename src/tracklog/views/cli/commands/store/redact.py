"""`tracklog redact`: takes secrets and private things out of files, or out of what comes by a pipe."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracklog.errors import UserError, why_failed
from tracklog.home import write_private
from tracklog.views.cli.options import A_PATH, home_option
from tracklog.views.text.printing import SCHEMA_VERSION, count, talk

if TYPE_CHECKING:
    from tracklog.app.redact import Review


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
    # only now: the rules of secrets come with it
    from tracklog.app.redact import redact as clean

    stdin = None if sys.stdin is None else sys.stdin.buffer  # None: it was closed before we began
    review = clean(files, stdin=stdin, write=sys.stdout.buffer.write, home=home)
    sys.stdout.buffer.flush()
    if review_path is not None:
        _write_review(review_path, review)
    talk(_as_json(review) if as_json else _summary(review))


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
    return json.dumps(_document(review))


def _write_review(path: Path, review: Review) -> None:
    try:
        write_private(path, f"{_as_json(review)}\n".encode())
    except OSError as error:
        raise UserError(f"cannot write {path}: {why_failed(error)}") from error
