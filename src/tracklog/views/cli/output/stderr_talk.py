"""What use cases tell people, on stderr: a line each, and a progress bar on a terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from tracklog.views.text.printing import talk

if TYPE_CHECKING:  # every fast command loads this module
    from tracklog.app.talk import Progress, Talk


class _StderrTalk:
    """Shows messages and progress beside the answer."""

    def say(self, text: str) -> None:
        talk(text)

    def progress(self, label: str) -> AbstractContextManager[Progress]:
        # only work loads it, no fast answer
        from tracklog.views.cli.output.progress import progress_of_unknown

        return progress_of_unknown(label)


STDERR: Talk = _StderrTalk()
