"""What the calls of a session brought back, in the fullest text there is, for `show`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from tracklog.model.session import Call
from tracklog.pipeline.full_results import FullText, OutputFiles
from tracklog.sources.found import LogFile
from tracklog.views.cli.session_rows import Row


class CallOutputs:
    """Reads the outputs of calls, each when it is asked for; `archive` is the folder of the archive."""

    def __init__(self, files: Iterable[LogFile], archive: Path) -> None:
        self._files: Mapping[str, LogFile] = {str(file.path): file for file in files}
        self._archive = archive

    def of(self, call: Call) -> FullText | None:
        """The fullest text of the result that counts; None where nothing came back."""
        result = call.result
        if result is None:
            return None
        file = self._files.get(result.place.path)
        if file is None:
            is_preview = result.text_source != "result"
            return FullText(result.full_text or result.text, result.text_source, not is_preview)
        return OutputFiles(file, self._archive).of_result(result)

    def rows(self, calls: Iterable[Call]) -> list[Row]:
        """The outputs as the JSON document has them."""
        found = ((call, self.of(call)) for call in calls)
        return [
            {"call": call.id, "source": full.source, "is_whole": full.is_whole, "text": full.text}
            for call, full in found
            if full is not None
        ]
