"""What `tracklog doctor` says of watching: whether the system tells us of changes, or whether we have to look."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from tracklog.pipeline.watch_files import WatchedFiles
from tracklog.sources.found import Root
from tracklog.sources.hints import most_watches
from tracklog.views.cli.check import Check
from tracklog.views.cli.printing import count

_PLENTY = 524_288


def live_check(roots: Sequence[Root]) -> Check:
    """Watches all folders for a moment, as `top` and `watch` do."""
    with closing(WatchedFiles(roots)) as files:
        files.begin()
        n_folders, why = files.n_folders, files.why_without_hints
    if not n_folders and why is None:
        return Check("live", "ok", "no folder to watch yet")
    allowed = most_watches()
    limit = f", which allows {allowed:,}" if allowed is not None else ""
    if why is None:
        return Check("live", "ok", f"{count(n_folders, 'folder')} watched by the system{limit}")
    return Check("live", "warn", f"{why}: changes are seen by looking, a second later", _advice(why, allowed))


def _advice(why: str, allowed: int | None) -> str:
    if "network" in why:
        return "nothing to do: nothing is lost"
    if "open files" in why:  # the limit of watchers, not of watched folders
        return "sudo sysctl fs.inotify.max_user_instances=1024"
    return f"sudo sysctl fs.inotify.max_user_watches={max(_PLENTY, 2 * (allowed or 0))}"
