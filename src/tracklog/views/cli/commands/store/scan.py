"""`tracklog scan`: list secrets in the logs by kind and place, never their values.

`app.secrets` is imported where it is called: the rules of all secrets come with it, and help needs none.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tracklog.errors import NOT_FINE
from tracklog.home import Home, tilde, tracklog_home
from tracklog.views.cli.options import A_PATH, shared_options, since_option, sync_option
from tracklog.views.cli.output.stderr_talk import STDERR
from tracklog.views.text.printing import answer, answer_json, safe, talk

if TYPE_CHECKING:
    from tracklog.app.secrets import Allowance, LoggedSecret, ScanResult


@click.command
@click.argument("paths", nargs=-1, type=A_PATH, metavar="[PATH]...")
@click.option(
    "--kind", "kinds", multiple=True, metavar="KIND", help="Only secrets of this kind. May be repeated."
)
@click.option(
    "--since",
    callback=since_option,
    metavar="WHEN",
    help="Only logs that were written to since then: a day, a time, or 7d, 12h, 30m.",
)
@click.option("--all", "shows_all", is_flag=True, help="Show all places, not only the first 40.")
@click.option(
    "--allow",
    "to_allow",
    metavar="WHAT",
    help="Leave aside from now on: a hash that was shown, a log or a folder of logs, or LOG:LINE.",
)
@click.option("--disallow", "to_disallow", metavar="WHAT", help="Leave it aside no more.")
@click.option("--why", metavar="TEXT", help="With --allow: the reason, for whoever reads the list.")
@click.option("--allowed", "lists_allowed", is_flag=True, help="List what is left aside.")
@shared_options
@sync_option
def scan(
    paths: tuple[Path, ...],
    kinds: tuple[str, ...],
    since: datetime | None,
    shows_all: bool,
    to_allow: str | None,
    to_disallow: str | None,
    why: str | None,
    lists_allowed: bool,
    syncs: bool,
    agent: str | None,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Secrets that stand in the logs, by kind and place.

    Never shows a value: a hash, keyed with a key of this machine, tells one from another. Without PATH all logs are
    looked through, those of the archive too, from the second time on only what is new; a log or a folder that is named
    is looked through from its beginning to its end. Exits with 1 if a secret was found, and also if something could
    not be looked through, as nobody knows then. What may stay is left aside by its hash or its place.

    \b
    tracklog scan --since 7d
    tracklog scan --kind github-pat ~/.claude/projects
    tracklog scan --allow 0f3a9c5e --why 'the key of our test server'
    """
    ours = Home(tracklog_home(home))
    if why is not None and to_allow is None:
        raise click.UsageError("--why says why something is allowed: give --allow, too.")
    if lists_allowed or to_allow is not None or to_disallow is not None:
        if paths or (to_allow is not None and to_disallow is not None):
            raise click.UsageError("Give one of PATH, --allow, --disallow.")
        _change_and_list(ours, to_allow=to_allow, to_disallow=to_disallow, why=why or "", as_json=as_json)
        return
    from tracklog.app.secrets import ScanQuery, scan_logs  # the rules of all secrets come with it

    result = scan_logs(ScanQuery(agent, roots, home, since, kinds), paths, syncs=syncs, talk=STDERR)
    if as_json:
        answer_json(_document(result))
    else:
        from tracklog.views.cli.commands.store.scan_text import show_scan  # rich comes with it

        show_scan(result, shows_all=shows_all)
    if not result.is_clean:
        raise click.exceptions.Exit(NOT_FINE)


def _document(result: ScanResult) -> dict[str, Any]:
    from tracklog.views.documents.places import skipped_rows  # comes with app.secrets

    return {
        "findings": [_finding(one) for one in result.standing],
        "skipped": skipped_rows(result.skipped),
        "scanned": {"files": result.n_files, "bytes": result.n_bytes, "new_bytes": result.n_new_bytes},
        "rules": result.rules,
        "allowed": result.n_allowed,
    }


def _finding(one: LoggedSecret) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "path": one.path,
        "line": one.line,
        "count": one.times,
        "hash": one.hash,
        "session": one.session,
        "agent": one.agent,
        "only_here": one.only_here,
    }


def _change_and_list(
    home: Home, *, to_allow: str | None, to_disallow: str | None, why: str, as_json: bool
) -> None:
    """Changes the list as asked, and shows what is on it now."""
    from tracklog.app.secrets import allow_secret, allowances, allowlist_path, disallow_secret  # as above

    if to_allow is not None:
        if not allow_secret(home, to_allow, why=why, talk=STDERR):
            talk(f"tracklog: {to_allow} is allowed already")
    elif to_disallow is not None:
        disallow_secret(home, to_disallow)
    entries = allowances(home)
    if as_json:
        answer_json({"allowed": [one._asdict() for one in entries]})
        return
    for one in entries:
        answer(f"{_what(one)}{f'  {safe(one.why)}' if one.why else ''}")
    if not entries:
        answer("Nothing is allowed.")
    else:
        talk(f"tracklog: the list is {tilde(allowlist_path(home))}")


def _what(one: Allowance) -> str:
    if one.hash is not None:
        return one.hash
    return safe(tilde(one.path or "")) + (f":{one.line}" if one.line is not None else "")
