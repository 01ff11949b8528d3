"""A session's graph as the fold makes it, and which of its records the SDK would show."""

from __future__ import annotations

from pathlib import Path

from tracklog import read_records
from tracklog.agents.claude_code.records.messages import AssistantLine, UserLine
from tracklog.agents.claude_code.records.system import CompactBoundary
from tracklog.agents.claude_code.translate.translator import ClaudeTranslator
from tracklog.model.events import LeafMarked
from tracklog.model.fold.log import FileFold
from tracklog.model.records import Piece


class Reading:
    """A graph, and which of its nodes the SDK would show."""

    def __init__(self, path: Path, *, with_marks: bool = True) -> None:
        fold, translator = FileFold(str(path)), ClaudeTranslator(str(path))
        self.graph = fold.graph
        self.visible: set[str] = set()
        self.kept: set[str] = set()  # word by word, over compactions
        for piece in read_records(path):
            events = translator.translate(piece)
            fold.add(event for event in events if with_marks or not isinstance(event, LeafMarked))
            self._take(piece)

    @property
    def results(self) -> set[str]:
        """The records that hold results of calls."""
        return {node.id for node in self.graph.nodes.values() if node.kind == "result"}

    @property
    def unanswered(self) -> set[str]:
        """The records whose calls got no result."""
        nodes = self.graph.nodes.values()
        answered = {call for node in nodes if node.kind == "result" for call in node.calls}
        return {node.id for node in nodes if node.calls and answered.isdisjoint(node.calls)}

    @property
    def living(self) -> list[str]:
        """Our living branch, with what the SDK hides left out."""
        return [id for id in self.graph.path() if id in self.visible]

    def _take(self, piece: Piece) -> None:
        record = piece.record
        if isinstance(record, (UserLine, AssistantLine)) and record.uuid is not None:
            is_hidden = record.is_sidechain or record.team_name or record.is_meta
            self.visible |= set() if is_hidden else {record.uuid}
        if isinstance(record, CompactBoundary) and record.compact_metadata:
            kept = record.compact_metadata.preserved_messages
            self.kept.update((kept.uuids or ()) if kept else ())
