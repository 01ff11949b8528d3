"""What the registry files `sessions/<pid>.json` say while a client lives: they are gone when it ends."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path

GLANCE_S = 0.02


@dataclass(frozen=True)
class Glimpse:
    """A registry file as it stood at one moment while the client lived."""

    name: str
    content: bytes


class RegistryWatch(threading.Thread):
    """Keeps every distinct content that the registry files had while the client lived."""

    def __init__(self, directory: Path) -> None:
        super().__init__(daemon=True)
        self.glimpses: list[Glimpse] = []
        self._directory = directory
        self._torn: dict[str, bytes] = {}
        self._done = threading.Event()

    def run(self) -> None:
        while not self._done.wait(GLANCE_S):
            for path in sorted(self._directory.glob("*.json")):
                self._look(path)

    def stop(self) -> None:
        """Ends the watch."""
        self._done.set()
        self.join()

    def _look(self, path: Path) -> None:
        try:
            glimpse = Glimpse(path.name, path.read_bytes())
        except FileNotFoundError:  # the client ended between the listing and the reading
            return
        if glimpse not in self.glimpses and self._is_settled(glimpse):
            self.glimpses.append(glimpse)

    def _is_settled(self, glimpse: Glimpse) -> bool:
        """A half-written file is only kept if it still stands there at the next look."""
        if not glimpse.content or _is_json(glimpse.content):
            return True
        stood = self._torn.get(glimpse.name) == glimpse.content
        self._torn[glimpse.name] = glimpse.content
        return stood


def _is_json(content: bytes) -> bool:
    try:
        json.loads(content)
    except ValueError:
        return False
    return True
