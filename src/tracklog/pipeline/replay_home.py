"""The home that a replay writes: a folder of its own, never one that an agent uses.

Rules of this room
  1. A folder is taken if it is not there, is empty, or holds our mark and no log that the mark does not list.
  2. The homes of this machine's agents are refused, and whatever lies in them, mark or not.
  3. A name stands in the mark before its file is made, so a replay that was killed can be repeated.
  4. Only files that the mark lists are ever removed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from tracklog.errors import UserError
from tracklog.sources import claude_code, codex
from tracklog.sources.found import LogFile
from tracklog.sources.homes import claude_homes, codex_homes, user_home
from tracklog.sources.reasons import why_failed
from tracklog.store.home import open_private

MARK = ".tracklog-replay"
_MARK_TEXT = (
    "Sessions replayed by tracklog: `tracklog replay` may write here. Delete the folder when you like.\n"
)
_PRIVATE_FOLDER = 0o700


class ReplayHome:
    """A folder that replays write to, and the files in it that they made."""

    def __init__(self, path: Path, env: Mapping[str, str] | None = None) -> None:
        self.path = Path(os.path.realpath(path))
        self._env = os.environ if env is None else env

    def claim(self, places: Iterable[PurePosixPath]) -> None:
        """Takes the folder and makes room for these files; raises UserError if it is somebody else's."""
        self._refuse_homes_in_use()
        with self._refusals():
            self.path.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)
            listed = self._listed()
            places = list(places)
            self.list(places)
            for place in places:
                if str(place) in listed:
                    (self.path / place).unlink(missing_ok=True)
                (self.path / place).parent.mkdir(mode=_PRIVATE_FOLDER, parents=True, exist_ok=True)

    def list(self, places: Iterable[PurePosixPath]) -> None:
        """Writes into the mark that these files are ours."""
        text = "".join(f"{json.dumps(str(place))}\n" for place in places)
        with open(open_private(self.path / MARK, os.O_WRONLY | os.O_CREAT | os.O_APPEND), "ab") as stream:
            stream.write(((_MARK_TEXT if not stream.tell() else "") + text).encode())

    def _listed(self) -> set[str]:
        """What earlier replays made here; raises UserError where others wrote, too."""
        inside = os.listdir(self.path)
        if inside and MARK not in inside:
            raise UserError(
                f"{self.path} holds other files: name an empty folder, or one that is not there yet"
            )
        lines = (self.path / MARK).read_text("utf-8").splitlines()[1:] if inside else []
        listed = {json.loads(line) for line in lines}
        for log in self._logs():
            if str(log.path.relative_to(self.path)) not in listed:
                raise UserError(f"{log.path} was not made by a replay: name another folder")
        return listed

    def _logs(self) -> Iterator[LogFile]:
        for find in (claude_code.find, codex.find):
            yield from (found for found in find(self.path) if isinstance(found, LogFile))

    def _refuse_homes_in_use(self) -> None:
        usual = [user_home(self._env) / name for name in (".claude", ".codex", ".config/claude")]
        for home in {*claude_homes(self._env), *codex_homes(self._env), *usual}:
            if self.path.is_relative_to(os.path.realpath(home)):
                raise UserError(f"{self.path} is in the home of an agent ({home}): name a folder of its own")

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UserError(
                f"cannot replay into {self.path}: {why_failed(error)}; name another folder"
            ) from error
        except ValueError as error:
            raise UserError(
                f"{self.path / MARK} is damaged: delete the folder, or name another one"
            ) from error
