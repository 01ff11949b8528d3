"""`tracklog serve`: mission control in the browser."""

from __future__ import annotations

import os
from pathlib import Path

import click

from tracklog.app.index.open import asked_roots
from tracklog.errors import UserError
from tracklog.home import Home, tracklog_home
from tracklog.views.cli.options import home_option, json_option, root_option

_LAST_PORT = 65535


@click.command
@click.option(
    "--port",
    type=click.IntRange(0, _LAST_PORT),
    envvar="TRACKLOG_PORT",
    show_envvar=True,
    metavar="N",
    help="Where to listen: 7717 unless told otherwise; 0 for any port that is free.",
)
@click.option(
    "--no-open",
    "opens",
    is_flag=True,
    flag_value=False,
    default=True,
    help="Open no browser, only print the link.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="On which address of this machine; also ::1.",
)
@click.option(
    "--dangerously-listen-on-the-network",
    "is_for_the_network",
    is_flag=True,
    help="Let --host be an address that others can reach. Nothing is encrypted.",
)
@root_option
@home_option
@json_option
def serve(
    port: int | None,
    opens: bool,
    host: str,
    is_for_the_network: bool,
    roots: tuple[Path, ...],
    home: Path | None,
    as_json: bool,
) -> None:
    """Mission control in the browser: the board, all sessions, search.

    Prints a link that signs in the first browser that opens it, and opens yours. It answers at once, while what is new
    in the logs is still read, and only on this machine. If it runs already, a new link to it is printed. Scripts ask
    /api/v1/ with the token that stands in tracklog's home (`Authorization: Bearer …`). How it is kept safe:
    docs/security.md.

    \b
    tracklog serve
    tracklog serve --port 8000 --no-open
    """
    serve_until_told(
        roots,
        home=home,
        port=port,
        opens=opens,
        host=host,
        is_for_the_network=is_for_the_network,
        as_json=as_json,
    )


def port_of_environment() -> int | None:
    """The port in TRACKLOG_PORT, if there is one."""
    given = os.environ.get("TRACKLOG_PORT")
    if not given:
        return None
    if not (given.isdecimal() and int(given) <= _LAST_PORT):
        raise UserError(f"TRACKLOG_PORT is {given!r}: give a number up to {_LAST_PORT}")
    return int(given)


def serve_until_told(
    roots: tuple[Path, ...],
    *,
    home: Path | None,
    port: int | None = None,
    opens: bool = True,
    host: str = "127.0.0.1",
    is_for_the_network: bool = False,
    as_json: bool = False,
) -> None:
    """Serve these folders until a signal comes."""
    from tracklog.views.web.server.serve import ServeOptions, serve  # help needs no server

    wish = ServeOptions(
        Home(tracklog_home(home)),
        roots,
        asked_roots(roots, home=home),
        host=host,
        port=port,
        opens=opens,
        is_for_the_network=is_for_the_network,
        as_json=as_json,
    )
    raise click.exceptions.Exit(serve(wish))
