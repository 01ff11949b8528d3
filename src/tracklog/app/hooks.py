"""Install, remove and list hooks: in which settings files, and what became of each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tracklog.agents.hooks.command import recorder_for
from tracklog.agents.hooks.places import LEVELS as LEVELS
from tracklog.agents.hooks.places import HookEntry as HookEntry
from tracklog.agents.hooks.places import HookFile, Machine, each_file_once
from tracklog.agents.hooks.places import Level as Level
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.app.talk import QUIET, Talk
from tracklog.errors import UserError
from tracklog.home import Home
from tracklog.hooks.install import InstallOutcome as InstallOutcome
from tracklog.hooks.install import (
    Receipts,
    chosen_events,
    install,
    install_notify,
    may_be_there,
    refuse_unknown_events,
    uninstall,
    uninstall_notify,
)
from tracklog.hooks.status import HookStatus as HookStatus
from tracklog.hooks.status import status_of

AGENTS = tuple(SUPPORTED)


class HookChanges(NamedTuple):
    """What was done, what could not be, and what each agent wants of its user next."""

    done: list[InstallOutcome]
    failures: list[UserError]
    notes: list[str]


def install_hooks(
    ours: Home,
    cwd: Path,
    *,
    agent: str | None,
    level: Level | None,
    events: Sequence[str],
    with_notify: bool,
    talk: Talk = QUIET,
) -> HookChanges:
    """Put our hooks for these events into the settings of an agent, or of all whose home exists."""
    refuse_unknown_events(events)
    machine = Machine(os.environ, cwd)
    places = list(_places(machine, agent, level or "user"))
    ours.make()
    receipts, recorder = Receipts(ours.path), recorder_for(ours.path)
    work: list[Callable[[], InstallOutcome]] = []
    for place in places:
        if meant := chosen_events(place.agent, events or _fitting(place, machine, talk)):
            work.append(partial(install, place, meant, recorder=recorder, receipts=receipts))
        if (notify := _notify_file(place, machine)) is not None and with_notify:
            work.append(partial(install_notify, notify, recorder=recorder, receipts=receipts))
    changes = _all_done(work)
    changed = dict.fromkeys(one.agent for one in changes.done if one.outcome in ("installed", "changed"))
    notes = (support_for(name).hooks.note_after_install for name in changed)
    return changes._replace(notes=[note for note in notes if note is not None])


def uninstall_hooks(home: Path, cwd: Path, *, agent: str | None, level: Level | None) -> HookChanges:
    """Take our hooks out; without a level from everywhere they were put, and from all levels of this folder."""
    machine, receipts = Machine(os.environ, cwd), Receipts(home)
    levels = (level,) if level else LEVELS
    places = each_file_once(place for one in levels for place in _present(machine, receipts, agent, one))
    places += _remembered(places, receipts, agent) if level is None else []
    ways = [(uninstall_notify if place.path.suffix == ".toml" else uninstall, place) for place in places]
    return _all_done([partial(way, place, receipts=receipts) for way, place in ways])


def hook_status(cwd: Path, *, agent: str | None) -> HookStatus:
    """Every hook on every level, in the order in which they fire."""
    return status_of(Machine(os.environ, cwd), (agent,) if agent else AGENTS)


def _fitting(place: HookFile, machine: Machine, talk: Talk) -> list[str]:
    """The set of events that the client understands, as far as its newest log shows."""
    support = support_for(place.agent)
    events, old_release = support.hooks.suitable_events(machine)
    if old_release is not None:
        talk.say(
            f"tracklog: {support.label} {old_release} knows few events, and only those are asked for: "
            "install again after an update"
        )
    return [events]


def _places(machine: Machine, agent: str | None, level: Level) -> Iterator[HookFile]:
    """Where to install: at the agent that was named, else at all that are there."""
    meant = [agent] if agent else [one for one in SUPPORTED if _has_home(one, machine)]
    if not meant:
        labels = " nor ".join(support.label for support in SUPPORTED.values())
        raise UserError(f"neither {labels} has a home here: say which one with --agent")
    places = [place for one in meant if (place := support_for(one).hooks.file_for(machine, level))]
    if not places:
        raise UserError(f"{support_for(meant[0]).label} has no {level} level: say --user or --project")
    yield from places


def _has_home(agent: str, machine: Machine) -> bool:
    home = support_for(agent).hooks.home(machine.env)
    return home is not None and home.is_dir()


def _present(machine: Machine, receipts: Receipts, agent: str | None, level: Level) -> Iterator[HookFile]:
    """Where our hooks may be on this level, or were about to be when an install was killed."""
    remembered = {str(path) for path in receipts.paths()}
    for one in [agent] if agent else SUPPORTED:
        place = support_for(one).hooks.file_for(machine, level)
        if place and (may_be_there(place.path) or os.path.realpath(place.path) in remembered):
            yield place
        if place and (notify := _notify_file(place, machine)) and may_be_there(notify.path):
            yield notify


def _notify_file(place: HookFile, machine: Machine) -> HookFile | None:
    return support_for(place.agent).hooks.notify_file(machine, place.level)


def _remembered(known: list[HookFile], receipts: Receipts, agent: str | None) -> Iterator[HookFile]:
    """Files elsewhere that we have changed: in other projects, in homes that the environment names no more."""
    seen = {os.path.realpath(place.path) for place in known}
    for path in receipts.paths():
        # The name may be of the user's own making: a link was followed. All files of hooks have the same form.
        levels = {one: level for one in SUPPORTED if (level := support_for(one).hooks.level_of(path))}
        whose, level = next(iter(levels.items()), (next(iter(SUPPORTED)), "project"))
        if str(path) not in seen and agent in (None, whose):
            yield HookFile(whose, level, path)


def _all_done(work: Iterable[Callable[[], InstallOutcome]]) -> HookChanges:
    """Do all of it, also after one part failed."""
    changes = HookChanges([], [], [])
    for one in work:
        try:
            changes.done.append(one())
        except UserError as error:
            changes.failures.append(error)
    return changes
