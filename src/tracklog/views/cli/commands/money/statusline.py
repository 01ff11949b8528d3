"""`tracklog statusline`, when it is reached through click: behind options, in the help, in the reference.

Named first on the command line it never comes here: `main` of this package takes the short way.
"""

from __future__ import annotations

from pathlib import Path

import click

from tracklog.statusline import HELP, main
from tracklog.views.cli.options import home_option, json_option


@click.command(help=HELP.replace("\n\n  {", "\n\n\b\n  {"))
@home_option
@json_option
def statusline(home: Path | None, as_json: bool) -> None:
    asked = ["--json"] if as_json else []
    main([*asked, f"--home={home}"] if home else asked)
