"""The command line: one module per command, loaded when it is asked for."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry of `tracklog` and `python -m tracklog`."""
    if sys.argv[1:2] == ["statusline"]:  # run after every answer: it shares nothing with the others
        from tracklog import statusline

        raise SystemExit(statusline.main(sys.argv[2:]))
    from tracklog.views.cli.quick import quick_work

    if (work := quick_work(sys.argv[1:])) is not None:
        from tracklog.views.cli.running import ended

        raise SystemExit(ended(work))
    from tracklog.views.cli.app import run

    raise SystemExit(run())
