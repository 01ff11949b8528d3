"""A home of Claude Code with one session, indexed and archived, for tests of what the archive can do."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.views.cli.command import ONE, transcript_in, user_line, write
from tracklog.home import Home
from tracklog.index.sync import sync
from tracklog.sources.log_file import Root
from tracklog.store.database import Database, writing

DAY_S = 86_400
DAY_NS = DAY_S * 10**9


class ArchivedHome:
    """Logs below `top`, an index and an archive beside them."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = Home(top / "ours")
        self.root = top / ".claude"
        self.transcript = write(transcript_in(top), user_line() * 200)
        side = self.transcript.with_suffix("")
        self.output = write(side / "tool-results" / "b1.txt", b"long output\n" * 1000)
        self.subagent = write(side / "subagents" / "agent-a1.jsonl", user_line("sub", isSidechain=True))
        self.meta = write(side / "subagents" / "agent-a1.meta.json", b'{"agentType":"Explore"}')

    @property
    def logs(self) -> list[Path]:
        """All files that were written."""
        return [self.transcript, self.output, self.subagent, self.meta]

    @contextmanager
    def synced(self) -> Iterator[Database]:
        """The index, up to date, to be written."""
        with writing(self.home) as database:
            sync(database, [Root(self.root, "claude")])
            yield database

    def age(self, path: Path, *, days: float) -> None:
        """Makes a log as if nothing was written to it for some days."""
        then = time.time() - days * DAY_S
        os.utime(path, (then, then))

    def delete_sources(self) -> dict[Path, tuple[bytes, int]]:
        """What Claude Code does after thirty days; what was there, with its times."""
        held = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in self.logs}
        shutil.rmtree(self.root / "projects")
        return held

    def there(self) -> dict[Path, tuple[bytes, int]]:
        """What is there now."""
        return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in self.logs if path.exists()}


SESSION = ONE
