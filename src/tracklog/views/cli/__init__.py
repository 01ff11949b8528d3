"""The command line: one module per command, loaded when it is asked for."""

from __future__ import annotations


def main() -> None:
    """The entry of `tracklog` and `python -m tracklog`."""
    from tracklog.views.cli.app import run

    raise SystemExit(run())
