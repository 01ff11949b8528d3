"""Work on the index that goes on when it is damaged: the damaged one is set aside, a new one takes over the archive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tracklog.pipeline.rebuilding import ADOPTED, adopt_archive, known_roots
from tracklog.pipeline.sync import sync
from tracklog.store.database import Damaged, Database, opened, set_aside
from tracklog.store.home import Home, held_lock
from tracklog.store.settings import setting

Result = TypeVar("Result")
OnDamage = Callable[[Damaged, Path], None]


def with_index(home: Home, work: Callable[[Database], Result], *, on_damage: OnDamage) -> Result:
    """What `work` gives, done on the index that only we write. Raises Busy if another process writes it."""
    home.make()
    with held_lock(home):
        try:
            return _work_on(home, work)
        except Damaged as damage:
            on_damage(damage, set_aside(home))
        return _work_on(home, work)


def _work_on(home: Home, work: Callable[[Database], Result]) -> Result:
    with opened(home) as database:
        if setting(database.db, ADOPTED) is None:  # it is new, or whoever made it was stopped
            adopt_archive(database)
            roots = known_roots(database)
            if roots:
                sync(database, roots)
        return work(database)
