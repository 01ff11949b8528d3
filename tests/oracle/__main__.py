"""Plays all cases to tracklog and its peers, and prints who was right: `python -m tests.oracle [--peers DIR]`."""

from __future__ import annotations

import argparse
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tests.oracle.cases import CASES
from tests.oracle.peers import Four, Tool, tools_in
from tests.oracle.truth import Case, total_of

_WIDTH = 36
_AT_ONCE = 2  # tools are processes of their own


class Verdict(NamedTuple):
    """How a tool did on a case: right, or wrong by so much."""

    is_right: bool
    words: str


def verdict(tool: Tool, case: Case) -> Verdict:
    """Judged by the four sums, and by days where the case is about days."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        case.write(home)
        try:
            said = tool.ask(home, case.agent)
            wrong = [] if said.four == _true(case) else [_difference(said.four, _true(case))]
            if "session" not in tool.name:
                wrong += [
                    f"days of {zone}"
                    for zone, days in case.truth.days.items()
                    if tool.ask(home, case.agent, zone=zone).days != days
                ]
        except RuntimeError as error:
            return Verdict(False, str(error))
    return Verdict(not wrong, ", ".join(wrong))


def _true(case: Case) -> Four:
    return total_of(case.truth.spent).tokens.four


def _difference(said: Four, true: Four) -> str:
    """What is too much and too little: input/output/cache write/cache read."""
    return "/".join(f"{one - two:+d}" if one != two else "0" for one, two in zip(said, true, strict=True))


def main() -> int:
    """The table, and the score of each tool; 1 if we ourselves are wrong anywhere."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.add_argument("--peers", type=Path, metavar="DIR", help="where other tools are installed")
    parser.add_argument("--only", metavar="WORDS", default="", help="cases with these words in their name")
    given = parser.parse_args()
    tools = list(tools_in(given.peers and given.peers.absolute()))
    cases = [case for case in CASES if given.only in case.name]
    print("Wrong by: input/output/cache write/cache read\n")
    print(" ".join([f"{'case':{_WIDTH}}", *(f"{tool.name:26}" for tool in tools)]).rstrip())
    right = dict.fromkeys((tool.name for tool in tools), 0)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        played = [[pool.submit(verdict, tool, case) for tool in tools] for case in cases]
    for case, futures in zip(cases, played, strict=True):
        verdicts = [future.result() for future in futures]
        for tool, one in zip(tools, verdicts, strict=True):
            right[tool.name] += one.is_right
        cells = (f"{'right' if one.is_right else one.words:26}" for one in verdicts)
        print(" ".join([f"{case.name:{_WIDTH}}", *cells]).rstrip(), flush=True)
    print()
    for name, n in right.items():
        print(f"{name:{_WIDTH}} {n} of {len(cases)} right ({100 * n / len(cases):.0f} %)")
    return 0 if right[tools[0].name] == len(cases) else 1


if __name__ == "__main__":
    sys.exit(main())
