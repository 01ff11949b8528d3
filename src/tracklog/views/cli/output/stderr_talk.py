"""What use cases tell people, on stderr: a line each, and a progress bar on a terminal."""

from __future__ import annotations

from contextlib import AbstractContextManager

from tracklog.app.talk import Progress, Talk
from tracklog.views.cli.output.progress import progress_of_unknown
from tracklog.views.text.printing import talk


class _StderrTalk:
    """Shows messages and progress beside the answer."""

    def say(self, text: str) -> None:
        talk(text)

    def progress(self, label: str) -> AbstractContextManager[Progress]:
        return progress_of_unknown(label)


STDERR: Talk = _StderrTalk()
