"""What Codex would execute or be steered by in a folder. Learned from its source.

It looks into `.codex` of the folder and of those above it up to the repository's root; in a linked worktree it takes the
hooks of the same folder in the repository's first checkout. Whether it heeds them depends on whom the user has told it to
trust, and releases differ in which keys they refuse: all are reported here, but for those that only say how it talks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tracklog.agents.hooks.places import Machine
from tracklog.agents.risks import (
    Danger,
    Unreadable,
    danger,
    document_in,
    files_below,
    folders_of_the_repository,
    hook_dangers,
    is_said,
    is_same_place,
    main_checkouts,
    name_of,
    text_in,
    told_first,
    unreadable,
)

_HARMLESS = frozenset(
    [
        "$schema",
        "check_for_update_on_startup",
        "description",
        "file_opener",
        "hide_agent_reasoning",
        "history",
        "model",
        "model_auto_compact_token_limit",
        "model_context_window",
        "model_reasoning_effort",
        "model_reasoning_summary",
        "model_supports_reasoning_summaries",
        "model_verbosity",
        "name",
        "nickname_candidates",
        "personality",
        "plan_mode_reasoning_effort",
        "project_doc_max_bytes",
        "review_model",
        "service_tier",
        "show_raw_agent_reasoning",
        "suppress_unstable_features_warning",
        "tui",
    ]
)
_ONE_BY_ONE = {"mcp_servers": "MCP server", "model_providers": "model provider"}


def codex_dangers(cwd: Path, machine: Machine) -> Iterator[Danger]:
    """Everything in this folder, and above it, that belongs to the folder and not to the user."""
    for folder in _homes_of(folders_of_the_repository(cwd) or [cwd], machine):
        yield from _config_dangers(folder / "config.toml")
        yield from _hook_file_dangers(folder / "hooks.json")
        yield from _kept_dangers(folder / "agents", ".toml", _config_dangers)
        yield from _kept_dangers(folder / "rules", ".rules", _rule_dangers)
    for folder in _homes_of(_first_checkouts(cwd), machine):
        yield from _hook_file_dangers(folder / "config.toml")
        yield from _hook_file_dangers(folder / "hooks.json")


def _homes_of(folders: list[Path], machine: Machine) -> list[Path]:
    homes = [folder / ".codex" for folder in folders]
    return [home for home in homes if not is_same_place(home, machine.codex)]


def _first_checkouts(cwd: Path) -> list[Path]:
    """The same folders in the first checkout of a linked worktree."""
    folders = folders_of_the_repository(cwd) or []
    mains = main_checkouts(folders[-1]) if folders else []
    return [main / folder.relative_to(folders[-1]) for main in mains for folder in folders]


def _hook_file_dangers(path: Path) -> Iterator[Danger]:
    try:
        yield from hook_dangers(path, document_in(path).get("hooks"))
    except Unreadable as why:
        yield unreadable(path, why)


def _config_dangers(path: Path) -> Iterator[Danger]:
    try:
        for key, value in document_in(path).items():
            yield from _setting_dangers(path, key, value)
    except Unreadable as why:
        yield unreadable(path, why)


def _setting_dangers(path: Path, key: str, value: Any) -> Iterator[Danger]:
    if key == "hooks":
        yield from hook_dangers(path, value)
    elif key in _ONE_BY_ONE and isinstance(value, dict):
        yield from (_entry_danger(path, _ONE_BY_ONE[key], name, one) for name, one in value.items())
    elif key not in _HARMLESS and is_said(value):
        yield danger(path, name_of(key), value)


def _entry_danger(path: Path, what: str, name: str, entry: Any) -> Danger:
    told = {"url": entry["base_url"], **entry} if isinstance(entry, dict) and "base_url" in entry else entry
    return danger(path, f"{what} {name_of(name)}", told_first(told) if isinstance(told, dict) else told)


def _kept_dangers(folder: Path, suffix: str, judge: Callable[[Path], Iterator[Danger]]) -> Iterator[Danger]:
    try:
        paths = files_below(folder, suffix)
    except Unreadable as why:
        yield unreadable(folder, why)
        return
    for path in paths:
        yield from judge(path)


def _rule_dangers(path: Path) -> Iterator[Danger]:
    """Which commands are run without a question."""
    try:
        text = (text_in(path) or "").strip()
    except Unreadable as why:
        yield unreadable(path, why)
        return
    if text:
        yield danger(path, "rules", text)
