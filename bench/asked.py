"""What every measurement asks for: how much to make, or where it stands, how often to run, how to answer."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.make_logs import make_logs


@contextmanager
def logs_asked_for(argv: Sequence[str], what: str | None) -> Iterator[tuple[argparse.Namespace, str]]:
    """The arguments, and a folder of logs: the one that was named, or one that is made and goes away again."""
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--logs", help="a folder that bench/make_logs.py has made")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="tracklog-bench-") as scratch:
        folder = asked.logs or os.path.join(scratch, "logs")
        if not asked.logs:
            print(f"making {asked.mb} MB of logs …", file=sys.stderr)
            os.mkdir(folder)
            make_logs(Path(folder), n_bytes=asked.mb * 1_000_000, seed=1, agent="both")
        yield asked, folder
