"""`tracklog places` and `tracklog path`: where the agents keep their logs, and the file of a session."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

import click

from tracklog.app.logs.places import LogFolder, SessionPath, Skipped, log_folders, session_path
from tracklog.app.scope.filters import Filters
from tracklog.app.scope.resolve import ResolvedLogs, find_logs
from tracklog.errors import NotThere
from tracklog.home import tilde
from tracklog.views.cli.options import A_PATH, shared_options
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.documents.places import places_document
from tracklog.views.text.printing import answer, answer_json, count, safe, size

# Lazy imports: rich takes longer to load than most answers, and --json needs none of it.


@click.command
@click.argument("session")
@click.option(
    "--cwd",
    type=A_PATH,
    metavar="DIR",
    help="The session's working directory: says where a session that is not there yet will be written.",
)
@shared_options
def path(
    session: str,
    cwd: Path | None,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """The file that a session is written to.

    SESSION is an id, the start of one, a file, or @last. With --cwd and a whole id the answer is also given for a
    session of Claude Code that has not begun: the path where it will be written. Exits with 1 if there is no such
    session.
    """
    found = session_path(session, roots, cwd=cwd, agent=agent, home=home, talk=STDERR)
    if found is not None:
        _answer(found, as_json=as_json)
        return
    if as_json:
        answer_json({"path": None, "agent": None, "exists": False})
    raise NotThere(f"no session {session}: `tracklog places` shows where logs are, --root looks elsewhere")


def _answer(found: SessionPath, *, as_json: bool) -> None:
    if as_json:
        answer_json({"path": str(found.path), "agent": found.agent, "exists": found.exists})
    elif sys.stdout.isatty():
        answer(safe(str(found.path)))
    else:
        sys.stdout.buffer.write(os.fsencode(found.path) + b"\n")  # for scripts: the very bytes


_EXAMPLES_SHOWN = 3


@click.command
@shared_options
def places(agent: str | None, roots: tuple[Path, ...], home: Path | None, as_json: bool) -> None:  # noqa: ARG001
    """Where the agents keep their logs, and how much is there.

    Lists files and bytes by agent, place and kind of file, and says what was left alone and why: symbolic links,
    pipes, folders that may not be entered. Nothing is read but names and sizes; only logs outside of an agent's
    home are opened, to see whose they are.
    """
    found = find_logs(roots, agent=agent)
    if as_json:
        answer_json(places_document(found))
    elif found.files:
        show_places(found)
        show_skipped(found.skipped)
    else:
        show_nothing_found(found, default=not roots)


def show_places(found: ResolvedLogs) -> None:
    """One block per agent and place, then the total."""
    from tracklog.views.cli.output.drawing import line, painted, table

    for (agent, path), rows in groupby(_by_agent(log_folders(found)), key=lambda row: (row.agent, row.path)):
        line(painted(agent or "unknown agent", "bold"), "  ", tilde(path))
        table([(row.kind.value, *count(row.files, "file").split(), size(row.bytes)) for row in rows], "<><>")
    line(painted("total", "bold"), f"  {count(len(found.files), 'file')}, {size(found.bytes)}")


def show_skipped(skipped: list[Skipped]) -> None:
    """What was left alone: each reason with its count and the first places."""
    from tracklog.views.cli.output.drawing import line, painted, table

    if not skipped:
        return
    line()
    line(painted("skipped", "bold"))
    for why, n in Counter(one.why for one in skipped).most_common():
        examples = [one.path for one in skipped if one.why == why][:_EXAMPLES_SHOWN]
        more = f" (the first {_EXAMPLES_SHOWN} of {n:,})" if n > _EXAMPLES_SHOWN else ""
        line(f"  {why}{more}")
        table([(tilde(path),) for path in examples], "<", indent=4)


def show_nothing_found(found: ResolvedLogs, *, default: bool) -> None:
    """Where we looked in vain, and what to do about it."""
    answer("No logs found.")
    reasons = {one.path: one.why for one in found.skipped}
    for root in found.roots:
        answer(f"  looked in {safe(tilde(root.path))}: {reasons.get(root.path, 'no logs')}")
    if default and not found.roots:
        config = os.environ.get("XDG_CONFIG_HOME") or "~/.config"
        answer(f"  looked for ~/.claude, {safe(tilde(config))}/claude and ~/.codex: none exists")
    show_skipped([one for one in found.skipped if one.path not in {root.path for root in found.roots}])
    answer("")
    answer("Logs elsewhere?  tracklog places --root DIR")
    answer("                 or set CLAUDE_CONFIG_DIR and CODEX_HOME, as for the agents")
    answer("No logs yet?     tracklog demo")
    answer("                 writes a small sample home to try everything on")


def show_no_session(roots: Sequence[Path], *, agent: str | None, filters: Filters, home: Path | None) -> None:
    """Why there is no session that fits, and what to do about it."""
    from tracklog.app.scope.read_sessions import SessionReader  # it loads the whole model

    reader = SessionReader(roots, agent=agent, filters=filters, home=home, talk=STDERR)
    n_files, n_sessions = len(reader.found.files), len(reader.groups)
    if n_sessions and filters.asks:
        answer(f"None of {count(n_sessions, 'session')} fits --since, --until, --project and --model.")
    elif n_files:
        answer(f"No session in {count(n_files, 'file')}: `tracklog places` shows what they are.")
    else:
        show_nothing_found(reader.found, default=not roots)


def _by_agent(rows: list[LogFolder]) -> list[LogFolder]:
    return sorted(rows, key=lambda row: (row.agent is None, row.agent or "", str(row.path)))
