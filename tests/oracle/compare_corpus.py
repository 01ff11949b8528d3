"""Any folder of logs: tracklog's sums beside the brute force's, by session, day and model; and the way to ccusage's.

python -m tests.oracle.compare_corpus [--peers DIR] DIR…
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.oracle.answers import ask, count_in, hidden_in, sum_in
from tests.oracle.ccusage_rules import walk
from tests.oracle.peers import Four, tools_in
from tests.oracle.reading import log_files, objects
from tests.oracle.reference import is_codex, reference
from tests.oracle.truth import NO_NAME, NOTHING, Spent, Sum, by, total_of

_SHOWN = 20


def differences(root: Path) -> Iterator[str]:
    """One line for each sum that is not the same."""
    truth = reference(root)
    sessions = ask(root, "session")
    yield from _differing("total", {"": sum_in(sessions["total"])}, {"": total_of(truth.spent)})
    for group, key in (("session", _session), ("daily", _day)):
        said = {row["key"]: sum_in(row) for row in ask(root, group)["rows"]}
        yield from _differing(group, said, by(truth.spent, key))
    models = {row["key"]: Sum(tokens=count_in(row)) for row in ask(root, "model")["rows"]}
    true_models = {model: Sum(tokens=one.tokens) for model, one in by(truth.spent, _model).items()}
    yield from _differing("model", models, true_models)
    hidden = {f"{h.session} {h.model}": Sum(tokens=h.tokens) for h in truth.hidden}
    found = {f"{h.session} {h.model}": Sum(tokens=h.tokens) for h in map(hidden_in, sessions["hidden"])}
    yield from _differing("hidden", found, hidden)


def _session(one: Spent) -> str:
    return one.session


def _day(one: Spent) -> str:
    return one.day or "(no time)"


def _model(one: Spent) -> str:
    return one.model or NO_NAME


def _differing(group: str, said: Mapping[str, Sum], truth: Mapping[str, Sum]) -> Iterator[str]:
    for key in sorted({*said, *truth}):
        one, other = said.get(key, Sum()), truth.get(key, Sum())
        if one != other:
            what = (
                "figures" if one.tokens != other.tokens or one.partial != other.partial else "without figures"
            )
            yield f"{what}: {group} {key}: tracklog {_words(one)} · reference {_words(other)}"


def _words(one: Sum) -> str:
    head = f"{one.requests} requests, {one.partial} partial, {one.missing} missing"
    return head + (f", {'/'.join(map(str, one.tokens))}" if one.tokens != NOTHING else "")


def steps_to_ccusage(root: Path, peers: Path) -> Iterator[str]:
    """What each rule of ccusage changes, and what it says itself, on a home made of the folder's logs."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _lay_out(root, home)
        if not (home / ".claude").exists():
            return
        asked = [tool for tool in tools_in(peers) if tool.name == "ccusage daily"]
        before: Four | None = None
        for step in walk(home):
            change = [now - then for now, then in zip(step.four, before or step.four, strict=True)]
            yield f"{step.name}: {step.requests} requests, {_plain(step.four)} ({_plain(change)})"
            before = step.four
        for tool in asked:
            said = tool.ask(home, "claude").four
            left = [one - two for one, two in zip(said, before or said, strict=True)]
            yield f"{tool.name} says {_plain(said)}: {_plain(left)} left to explain"


def _lay_out(root: Path, home: Path) -> None:
    """ccusage looks into homes alone: each log gets a folder of its own, in the order of their paths."""
    for n, path in enumerate(log_files(root)):
        if path.suffix == ".jsonl" and not is_codex(list(objects(path))):
            place = home / ".claude" / "projects" / f"p{n:05d}" / path.name
            place.parent.mkdir(parents=True)
            shutil.copyfile(path, place)  # it does not follow links


def _plain(numbers: Iterable[int]) -> str:
    return "/".join(map(str, numbers))


def main() -> int:
    """Prints what differs; 1 if any figures do."""
    parser = argparse.ArgumentParser(prog="python -m tests.oracle.compare_corpus")
    parser.add_argument("roots", type=Path, nargs="+", metavar="DIR")
    parser.add_argument("--peers", type=Path, metavar="DIR", help="where ccusage is installed")
    given = parser.parse_args()
    n = 0
    for root in given.roots:
        lines = list(differences(root))
        n += sum(line.startswith("figures") for line in lines)
        print(f"{root}: {len(lines)} sums differ" if lines else f"{root}: all sums are the same")
        print(*lines[:_SHOWN], sep="\n")
        if given.peers:
            print(*steps_to_ccusage(root, given.peers), sep="\n")
    return 1 if n else 0


if __name__ == "__main__":
    sys.exit(main())
