"""Precision and recall on a labelled set of ours: `python -m tests.redaction.figures`.

A secret counts as found when every byte of it is covered, wherever the cover ends, or in a disguise when it was seen
through; what covers nothing that is labelled is a false alarm. `labelled.toml` holds invented values in snippets as they stand in transcripts, and look-alikes without any.
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tracklog.secrets.find import SecretMatch, find
from tracklog.secrets.rules import MUTE

LABELLED = Path(__file__).with_name("labelled.toml")


class Snippet(NamedTuple):
    """A piece of a transcript, with the secrets that it holds."""

    family: str
    text: bytes
    values: tuple[bytes, ...]


@dataclass
class Figures:
    """How well the secrets of a family were found."""

    n_snippets: int = 0
    n_secrets: int = 0
    n_found: int = 0
    n_false: int = 0
    misses: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        alarms = self.n_found + self.n_false
        return self.n_found / alarms if alarms else 1.0

    @property
    def recall(self) -> float:
        return self.n_found / self.n_secrets if self.n_secrets else 1.0


def snippets() -> list[Snippet]:
    """The labelled set."""
    document = tomllib.loads(LABELLED.read_text("utf-8"))
    return [
        Snippet(one["family"], _unmuted(one["text"]), tuple(map(_unmuted, one.get("values", []))))
        for one in [*document["secret"], *document["harmless"]]
    ]


def _unmuted(text: str) -> bytes:
    return text.replace(MUTE, "").encode()


def measured(labelled: Iterable[Snippet]) -> dict[str, Figures]:
    """The figures of each family, in the order of the set; `all` comes last."""
    families: dict[str, Figures] = defaultdict(Figures)
    total = Figures()
    for snippet in labelled:
        found = find(snippet.text).found
        for figures in (families[snippet.family], total):
            _count(figures, snippet, found)
    return {**families, "all": total}


def _count(figures: Figures, snippet: Snippet, found: list[SecretMatch]) -> None:
    hit = [any(_covers(one, value, snippet.text) for one in found) for value in snippet.values]
    alarms = [one for one in found if not any(_touches(one, value, snippet.text) for value in snippet.values)]
    figures.n_snippets += 1
    figures.n_secrets += len(hit)
    figures.n_found += sum(hit)
    figures.n_false += len(alarms)
    if not all(hit) or alarms:
        kinds = ", ".join(one.kind for one in alarms)
        what = f"false alarm ({kinds})" if alarms else "not found"
        figures.misses.append(f"{what}: {snippet.text.decode()!r}")


def _covers(one: SecretMatch, value: bytes, text: bytes) -> bool:
    """Whether all of a value is found; of one that stands there in a disguise, whether it was seen through."""
    start = text.find(value)
    return value in one.value if start < 0 else one.start <= start and start + len(value) <= one.end


def _touches(one: SecretMatch, value: bytes, text: bytes) -> bool:
    start = text.find(value)
    return (
        value in one.value or one.value in value
        if start < 0
        else one.start < start + len(value) and start < one.end
    )


def table(figures: dict[str, Figures]) -> str:
    """As it stands in docs/redaction.md."""
    rows = [
        "| family | snippets | secrets | found | false alarms | precision | recall |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    rows += (
        f"| {family} | {one.n_snippets} | {one.n_secrets} | {one.n_found} | {one.n_false} "
        f"| {one.precision:.3f} | {one.recall:.3f} |"
        for family, one in figures.items()
    )
    return "\n".join(rows)


def main(argv: Sequence[str]) -> int:
    """Prints the table, and what went wrong."""
    figures = measured(snippets())
    print(table(figures))
    for miss in figures["all"].misses if "--quiet" not in argv else ():
        print(miss)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
