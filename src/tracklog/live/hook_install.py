"""Puts our hooks into the agents' settings, and takes them out again.

Rules of this room
  1. Installing twice is installing once. Asking for other events, or from another place, replaces what was ours.
  2. Taking out takes out ours: a file that nobody edited since is byte for byte what it was, later edits stay, a file
     and a folder that we made go if nothing else is in them. The last of several files that we put into it removes it.
  3. Nobody's trust is given in their place: Codex runs a new hook when its user has agreed to it, in Codex.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from tracklog.errors import UserError
from tracklog.live.hook_command import Recorder, handler, notify_words
from tracklog.live.hook_files import change_file, tidy
from tracklog.live.hook_notify import is_free, notifies, with_notify, without_notify
from tracklog.live.hook_places import Place
from tracklog.live.hook_receipts import Receipt, Receipts
from tracklog.live.hook_settings import Handlers, holds_just, with_hooks, without_hooks

Outcome = Literal["installed", "changed", "already there", "taken out", "was not there", "not free"]
Text = str | None


class Done(NamedTuple):
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


def install(place: Place, events: Sequence[str], *, recorder: Recorder, receipts: Receipts) -> Done:
    """Puts our hooks for these events into one file."""
    handlers: Handlers = {event: handler(recorder, place.agent, event) for event in events}

    def within(bare: Text) -> tuple[str, Receipt]:
        new, before = with_hooks(bare, handlers)
        return new, Receipt(before.is_new, before.blank, dict(before.empty))

    ours = Ours(lambda text: holds_just(text, handlers), _bare_settings, within)
    return Done(*place[:3], _put(place.path, ours, receipts), tuple(events))


def uninstall(place: Place, *, receipts: Receipts) -> Done:
    """Takes our hooks out of one file."""
    return Done(*place[:3], _take(place.path, _bare_settings, receipts))


def _bare_settings(text: str, receipt: Receipt) -> Text:
    return without_hooks(text, receipt.before)


def install_notify(place: Place, *, recorder: Recorder, receipts: Receipts) -> Done:
    """Puts our program into the `notify` of Codex, unless somebody else's is there."""
    words = notify_words(recorder)
    is_taken = False

    def is_settled(text: Text) -> bool:
        nonlocal is_taken
        is_taken = not is_free(text)
        return is_taken or notifies(text, words)

    def within(bare: Text) -> tuple[str, Receipt]:
        return with_notify(bare, words), Receipt(is_new=bare is None)

    outcome = _put(place.path, Ours(is_settled, _bare_config, within), receipts)
    return Done(*place[:3], "not free") if is_taken else Done(*place[:3], outcome, ("notify",))


def uninstall_notify(place: Place, *, receipts: Receipts) -> Done:
    """Takes our program out of the `notify` of Codex."""
    return Done(*place[:3], _take(place.path, _bare_config, receipts))


def _bare_config(text: str, receipt: Receipt) -> Text:
    bare = without_notify(text)
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
