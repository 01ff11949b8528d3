"""The command line: one module per command, loaded when it is asked for."""

from __future__ import annotations

import os
import sys

# Lazy imports: the status line loads nothing of the command line, and a fast command no click.


def main() -> None:
    """The entry of `tracklog` and `python -m tracklog`."""
    _fill_gaps()
    if sys.argv[1:2] == ["statusline"]:  # run after every answer: it shares nothing with the others
        from tracklog import statusline

        raise SystemExit(statusline.main(sys.argv[2:]))
    if sys.argv[1:2] in (["run"], ["resume"], ["fork"]):  # its supervisor gets up while we read what is asked
        from tracklog.app.run.prestart import prestart

        prestart()
    from tracklog.views.cli.fast_path import quick_work

    if (work := quick_work(sys.argv[1:])) is not None:
        from tracklog.views.cli.exit_codes import ended

        _leave(ended(work))
    from tracklog.views.cli.click_app import run

    _leave(run())


def _fill_gaps() -> None:
    """Reopen closed standard streams on /dev/null, so that no later file gets fd 0, 1 or 2."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _leave(code: int) -> None:
    """Ends at once: what was to be said is said, and to take down all that was loaded takes as long as a short answer."""
    if sys.stderr is not None:
        sys.stderr.flush()
    os._exit(code)
