"""Examine logs, index and archive: every check of the doctor, and how much of the logs is understood.

    python -P -m tracklog.app.doctor.examine --home DIR --root DIR …

Run so, it prints an examination as JSON: for the page, in a process beside the server.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from tracklog.app.doctor.checks import Check, log_checks, own_checks
from tracklog.app.doctor.coverage import Coverage
from tracklog.app.doctor.store_checks import live_check, store_checks
from tracklog.app.scope.resolve import ResolvedLogs, find_logs
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import NotThere, UserError
from tracklog.home import tracklog_home
from tracklog.model.wording import roots_for_the_shell
from tracklog.reading.survey import Strange as Strange
from tracklog.reading.survey import Survey, survey
from tracklog.sources.log_file import LogFile
from tracklog.sources.log_file import Skipped as Skipped


class Examination(NamedTuple):
    """All that the doctor found."""

    checks: list[Check]
    coverage: list[Coverage]
    unknown: list[Strange]  # kinds and keys, the most frequent first
    broken: list[str]  # the first places
    skipped: list[Skipped]  # what was not opened, then what could not be read


def examine(
    given: Sequence[Path], *, agent: str | None = None, home: Path | None = None, talk: Talk = QUIET
) -> Examination:
    """Read all logs, and check them and what tracklog keeps; `given` are the folders to look in instead of homes."""
    ours, roots = tracklog_home(home), roots_for_the_shell(given)
    found, kept = _told_apart(find_logs(given, agent=agent, home=ours, talk=talk))
    survey = survey_logs(found, talk=talk)
    checks = [
        *log_checks(found, survey, roots=roots, n_kept=len(kept)),
        *store_checks(found, ours, roots=roots, now_ns=time.time_ns()),
        live_check(found.roots),
        *own_checks(ours),
    ]
    skipped = [*found.skipped, *survey.skipped]
    return Examination(checks, survey.coverage, survey.unknown, survey.broken, skipped)


def _told_apart(found: ResolvedLogs) -> tuple[ResolvedLogs, list[LogFile]]:
    """The logs at their source, and those that only the archive has; their folders may be gone."""
    kept = [file for file in found.files if file.stored is not None]
    gone = {
        root.path
        for root in found.roots
        if any(file.path.is_relative_to(root.path.absolute()) for file in kept)
    }
    here = [file for file in found.files if file.stored is None]
    return found._replace(files=here, skipped=[one for one in found.skipped if one.path not in gone]), kept


def survey_logs(found: ResolvedLogs, *, talk: Talk = QUIET) -> Survey:
    """How much of these logs is understood: reads them all."""
    with talk.progress("reading") as (set_total, advance):
        set_total(found.bytes)
        return survey(found.files, on_bytes=advance)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print an examination as `examination_of` takes it."""
    options = argparse.ArgumentParser()
    options.add_argument("--home", type=Path, required=True)
    options.add_argument("--root", type=Path, action="append", default=[])
    asked = options.parse_args(arguments)
    try:
        found = examine(asked.root, home=asked.home)
    except (UserError, NotThere) as error:
        sys.stderr.write(f"tracklog: {error}\n")
        return 2
    # names of files need not be text, which msgspec would refuse to write
    json.dump(msgspec.to_builtins(found, enc_hook=str), sys.stdout)
    return 0


def examination_of(printed: bytes) -> Examination:
    """An examination that another process printed. Raises ValueError."""
    return msgspec.convert(json.loads(printed), Examination, dec_hook=lambda kind, value: kind(value))


if __name__ == "__main__":
    sys.exit(main())
