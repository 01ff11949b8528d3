"""Install our hooks into the agents' settings, and remove them again.

Rules
  1. Installing twice is installing once. Asking for other events, or from another place, replaces what was ours.
  2. Removing removes only ours: a file that nobody edited since is byte for byte what it was, and later edits
     stay. Files and folders that we made are deleted if nothing else is in them; a folder goes with the last of
     our files in it.
  3. We grant no trust for the user: Codex runs a new hook when its user has agreed to it, in Codex.
  4. A receipt of each change is kept in our home, so that it can be undone to the last byte. It is written before
     the file is changed: a change without a receipt would be worse than a receipt without a change.
  5. Before a file is changed for the first time its bytes are copied into our home, readable by us alone (0600).
  6. Without receipts (another home, a lost one) our hooks are still found and removed; only which containers were
     empty before is guessed.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from tracklog.agents.base import AgentHooks
from tracklog.agents.hooks.command import TIMEOUT_S, Recorder, handler, notify_words
from tracklog.agents.hooks.places import HookFile
from tracklog.agents.hooks.settings import Handlers, InstalledHooks, holds_just, with_hooks, without_hooks
from tracklog.agents.supported import SUPPORTED, support_for
from tracklog.errors import UserError
from tracklog.home import make_private_folder, open_private, write_private
from tracklog.sources.processes import is_running
from tracklog.sources.settings_files import change_file, locked, tidy


def chosen_events(agent: str, words: Sequence[str]) -> list[str]:
    """The events that a person means by names and sets (`default`, `oldest`, `all`), in the order we list them."""
    sets = support_for(agent).hooks.event_sets
    meant: set[str] = set()
    for word in words or ("default",):
        meant.update(sets.get(word, (word,)))
    return [event for event in sets["all"] if event in meant]


def refuse_unknown_events(words: Sequence[str]) -> None:
    """Refuse names that no agent knows: one of them can make a client ignore all its settings."""
    agents = [support.hooks for support in SUPPORTED.values()]
    known = {name for hooks in agents for name in (*hooks.event_sets, *hooks.event_sets["all"])}
    blocking = {event for hooks in agents for event in hooks.blocking_events}
    for word in words:
        if word in blocking:
            raise UserError(f"{word} is not for listening: the client waits for an answer of its hook")
        if word not in known:
            raise UserError(f"no such event: {word!r}; `tracklog hooks install --help` names them")


_MOST_BACKUPS = 20  # of one file


class Receipt(msgspec.Struct, omit_defaults=True):
    """What must be known of one file."""

    is_new: bool = False
    blank: str | None = None
    empty: dict[str, str] = {}
    folders: list[str] = []  # that we made for it, the outermost first

    @property
    def before(self) -> InstalledHooks:
        """As taking out wants it."""
        return InstalledHooks(self.is_new, self.blank, self.empty)


class Receipts:
    """All receipts of one home."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._folder = home / "hooks"
        self._path = self._folder / "installed.json"

    def paths(self) -> list[Path]:
        """The files that we have changed."""
        return [Path(path) for path in self._all()]

    def of(self, path: Path) -> Receipt:
        """The receipt of this file; an empty one if there is none."""
        return self._all().get(os.path.realpath(path), Receipt())

    def folders_around(self, target: Path, left: Collection[Path]) -> set[str]:
        """The folders around this file that we made for other files, which are still there or were `left` unfinished.

        Of a file that is gone the user may have removed the folder, too, and made one of the same name.
        """
        around = {str(folder) for folder in target.parents}
        return {
            folder
            for other, receipt in self._all().items()
            if os.path.lexists(other) or Path(other) in left
            for folder in receipt.folders
            if folder in around
        }

    def keep(self, path: Path, receipt: Receipt) -> None:
        """Keeps the receipt of this file."""
        self._make()
        with locked(self._folder):
            self._write({**self._all(), os.path.realpath(path): receipt})

    def forget(self, path: Path) -> None:
        """There is nothing of ours in this file any more."""
        if os.path.realpath(path) not in self._all():
            return
        with locked(self._folder):
            kept = self._all()
            kept.pop(os.path.realpath(path), None)
            self._write(kept)

    def back_up(self, path: Path, data: bytes) -> None:
        """Keeps the bytes of a file as they are before we change them; the newest few of each."""
        folder = self._folder / "backups"
        self._make()
        make_private_folder(folder)
        name = hashlib.sha256(os.fsencode(os.path.realpath(path))).hexdigest()[:12]
        stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        aside = folder / f"{name}-{stamp}-{time.time_ns() % 10**9:09d}-{path.name}"
        with open(open_private(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as stream:
            stream.write(data)
        for old in sorted(folder.glob(f"{name}-*"))[:-_MOST_BACKUPS]:
            old.unlink(missing_ok=True)

    def _make(self) -> None:
        if not self._home.exists():
            make_private_folder(self._home)
        make_private_folder(self._folder)

    def _all(self) -> dict[str, Receipt]:
        try:
            data = self._path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return {}
        try:
            return msgspec.convert(json.loads(data), dict[str, Receipt])
        except (ValueError, msgspec.ValidationError):  # rule 6: as if it were lost
            return {}

    def _write(self, receipts: dict[str, Receipt]) -> None:
        for left in self._folder.glob(f".{self._path.name}.*"):
            _remove_if_its_writer_is_gone(left)
        whole = msgspec.to_builtins(receipts)
        write_private(self._path, json.dumps(whole, indent=2).encode())  # of a path any byte can be written


def _remove_if_its_writer_is_gone(left: Path) -> None:
    """Remove a temporary file of `write_private`, whose name ends with the id of the process that writes it."""
    writer = left.suffix.removeprefix(".")
    if writer.isascii() and writer.isdigit() and not is_running(int(writer)):
        left.unlink(missing_ok=True)


Outcome = Literal["installed", "changed", "already there", "taken out", "was not there", "not free"]
Text = str | None


class InstallOutcome(NamedTuple):
    """What became of one file."""

    agent: str
    level: str
    path: Path
    outcome: Outcome
    events: tuple[str, ...] = ()


class Ours(NamedTuple):
    """What is ours in a kind of file: whether it is there, how a text is without it, and with it."""

    is_there: Callable[[Text], bool]
    without: Callable[[str, Receipt], Text]
    within: Callable[[Text], tuple[str, Receipt]]


def install(
    place: HookFile, events: Sequence[str], *, recorder: Recorder, receipts: Receipts
) -> InstallOutcome:
    """Puts our hooks for these events into one file."""
    timeouts = support_for(place.agent).hooks.timeouts_s
    handlers: Handlers = {
        event: handler(recorder, place.agent, timeout_s=timeouts.get(event, TIMEOUT_S)) for event in events
    }

    def within(bare: Text) -> tuple[str, Receipt]:
        new, before = with_hooks(bare, handlers)
        return new, Receipt(before.is_new, before.blank, dict(before.empty))

    ours = Ours(lambda text: holds_just(text, handlers), _bare_settings, within)
    return InstallOutcome(*place[:3], _put(place.path, ours, receipts), tuple(events))


def uninstall(place: HookFile, *, receipts: Receipts) -> InstallOutcome:
    """Takes our hooks out of one file."""
    return InstallOutcome(*place[:3], _take(place.path, _bare_settings, receipts))


def _bare_settings(text: str, receipt: Receipt) -> Text:
    return without_hooks(text, receipt.before)


def install_notify(place: HookFile, *, recorder: Recorder, receipts: Receipts) -> InstallOutcome:
    """Puts our program into the `notify` of a client, unless another program is named there."""
    hooks, words = support_for(place.agent).hooks, notify_words(recorder, place.agent)
    is_taken = False

    def is_settled(text: Text) -> bool:
        nonlocal is_taken
        is_taken = not hooks.is_notify_free(text)
        return is_taken or hooks.has_notify(text, words)

    def within(bare: Text) -> tuple[str, Receipt]:
        return hooks.with_notify(bare, words), Receipt(is_new=bare is None)

    outcome = _put(place.path, Ours(is_settled, partial(_bare_config, hooks), within), receipts)
    return (
        InstallOutcome(*place[:3], "not free")
        if is_taken
        else InstallOutcome(*place[:3], outcome, ("notify",))
    )


def uninstall_notify(place: HookFile, *, receipts: Receipts) -> InstallOutcome:
    """Takes our program out of the `notify` of a client."""
    hooks = support_for(place.agent).hooks
    return InstallOutcome(*place[:3], _take(place.path, partial(_bare_config, hooks), receipts))


def _bare_config(hooks: AgentHooks, text: str, receipt: Receipt) -> Text:
    bare = hooks.without_notify(text)
    return None if receipt.is_new and bare != text and not bare else bare


def _put(path: Path, ours: Ours, receipts: Receipts) -> Outcome:
    """Makes folders, keeps the receipt and a copy, then changes the file."""
    target = Path(os.path.realpath(path))
    left = tidy(target.parent)
    made = _make_folders(target.parent)
    outcome: Outcome = "already there"

    def change(old: bytes | None) -> bytes | None:
        nonlocal outcome
        text, known = _decoded(old), receipts.of(path)
        if ours.is_there(text):
            outcome = "already there"
            return old
        bare = ours.without(text, known) if text is not None else None
        new, receipt = ours.within(bare)
        receipt.folders = _outermost_first(
            [*known.folders, *map(str, made), *receipts.folders_around(target, left)]
        )
        if old is not None:
            receipts.back_up(path, old)
        receipts.keep(path, receipt)
        outcome = "installed" if bare == text else "changed"
        return _encoded(new)

    try:
        change_file(path, change)
    except UserError:
        _remove_folders(made)
        raise
    return outcome


def _take(path: Path, without: Callable[[str, Receipt], Text], receipts: Receipts) -> Outcome:
    """Takes out what is ours, after a copy was kept; then the folders that we made, if nothing is in them."""
    receipt = receipts.of(path)

    def change(old: bytes | None) -> bytes | None:
        text = _decoded(old)
        data = _encoded(without(text, receipt)) if text is not None else None
        if old is not None and data != old:
            receipts.back_up(path, old)
        return data

    target = Path(os.path.realpath(path))
    left = tidy(target.parent)
    if not may_be_there(path):
        if target in left:  # an install or uninstall was killed
            _remove_folders([Path(folder) for folder in receipt.folders])
        receipts.forget(path)
        return "was not there"
    changed = change_file(path, change)
    if changed.after is None:
        _remove_folders([Path(folder) for folder in receipt.folders])
    receipts.forget(path)
    return "taken out" if changed.is_changed else "was not there"


def may_be_there(path: Path) -> bool:
    """Whether there is a file, or something that keeps us from telling."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _decoded(data: bytes | None) -> Text:
    """As text, in which a byte that is no UTF-8 stays what it is."""
    return None if data is None else data.decode("utf-8", "surrogateescape")


def _encoded(text: Text) -> bytes | None:
    return None if text is None else text.encode("utf-8", "surrogateescape")


def _outermost_first(folders: Iterable[str]) -> list[str]:
    return sorted(set(folders), key=lambda folder: len(Path(folder).parts))


def _make_folders(folder: Path) -> list[Path]:
    """Makes the folders that are missing and returns them, the outermost first."""
    missing = []
    while not os.path.lexists(folder):
        missing.append(folder)
        folder = folder.parent
    made: list[Path] = []
    try:
        for one in reversed(missing):
            one.mkdir()
            made.append(one)
    except OSError as error:
        _remove_folders(made)
        raise UserError(f"cannot make {one}: {(error.strerror or '').lower()}") from error
    return made


def _remove_folders(made: Sequence[Path]) -> None:
    """Removes folders that we made, if nothing else is in them."""
    with suppress(OSError):
        for folder in reversed(made):
            folder.rmdir()
