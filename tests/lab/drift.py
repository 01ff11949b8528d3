"""What in the logs of a lab run tracklog does not know: nothing, if our tables are complete."""

from __future__ import annotations

from tests.lab.run import LabRun
from tracklog.pipeline.survey import survey
from tracklog.records import claude_code
from tracklog.sources.found import LogFile
from tracklog.sources.lines import Line
from tracklog.sources.places import find_at


def drift_of(run: LabRun) -> list[str]:
    """Every unknown kind, unnamed key, broken line and unreadable file of a run, in words."""
    found = list(find_at(run.config_dir))
    result = survey(file for file in found if isinstance(file, LogFile))
    strange = [f"{s.kind} {s.key or ''}: {s.why} ({s.count}×)" for s in result.unknown]
    broken = [f"broken line: {place.rpartition('/')[2]}" for place in result.broken]
    return [
        *strange,
        *broken,
        *(f"{skip.path.name}: {skip.why}" for skip in result.skipped),
        *_registry_drift(run),
    ]


def _registry_drift(run: LabRun) -> list[str]:
    """The registry files are gone when the client is: what was seen of them while it lived."""
    words = []
    for glimpse in run.glimpses:
        raw = glimpse.content
        if not raw.strip():
            continue  # caught between creation and the first write
        drift = claude_code.REGISTRY_READER.drift()
        for piece in claude_code.REGISTRY_READER.read([Line(1, 0, len(raw), raw)]):
            words += [f"registry {path}" for path, _ in drift.strays(piece)]
            words += [f"registry: {piece.why}"] if piece.reading != "read" else []
    return words
