"""What Codex would execute or be steered by in a folder. Learned from its source.

It looks into `.codex` of the folder and of those above it up to the repository's root; in a linked worktree it takes the
hooks of the same folder in the repository's first checkout. Whether it heeds them depends on whom the user has told it to
trust, and releases differ in which keys they refuse: all are reported here, but for those that only say how it talks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tracklog.agents.risks import (
    Risk,
    Unreadable,
    document_in,
    files_below,
    folders_of_the_repository,
    hook_risks,
    is_said,
    is_same_place,
    main_checkouts,
    name_of,
    risk,
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


def codex_risks(cwd: Path, home: Path) -> Iterator[Risk]:
    """Everything in this folder, and above it, that belongs to the folder and not to the user."""
    for folder in _project_folders(folders_of_the_repository(cwd) or [cwd], home):
        yield from _config_risks(folder / "config.toml")
        yield from _hook_file_risks(folder / "hooks.json")
        yield from _kept_risks(folder / "agents", ".toml", _config_risks)
        yield from _kept_risks(folder / "rules", ".rules", _rule_risks)
    for folder in _project_folders(_first_checkouts(cwd), home):
        yield from _hook_file_risks(folder / "config.toml")
        yield from _hook_file_risks(folder / "hooks.json")


def _project_folders(folders: list[Path], home: Path) -> list[Path]:
    found = [folder / ".codex" for folder in folders]
    return [folder for folder in found if not is_same_place(folder, home)]


def _first_checkouts(cwd: Path) -> list[Path]:
    """The same folders in the first checkout of a linked worktree."""
    folders = folders_of_the_repository(cwd) or []
    mains = main_checkouts(folders[-1]) if folders else []
    return [main / folder.relative_to(folders[-1]) for main in mains for folder in folders]


def _hook_file_risks(path: Path) -> Iterator[Risk]:
    try:
        yield from hook_risks(path, document_in(path).get("hooks"))
    except Unreadable as why:
        yield unreadable(path, why)


def _config_risks(path: Path) -> Iterator[Risk]:
    try:
        for key, value in document_in(path).items():
            yield from _setting_risks(path, key, value)
    except Unreadable as why:
        yield unreadable(path, why)


def _setting_risks(path: Path, key: str, value: Any) -> Iterator[Risk]:
    if key == "hooks":
        yield from hook_risks(path, value)
    elif key in _ONE_BY_ONE and isinstance(value, dict):
        yield from (_entry_risk(path, _ONE_BY_ONE[key], name, one) for name, one in value.items())
    elif key not in _HARMLESS and is_said(value):
        yield risk(path, name_of(key), value)


def _entry_risk(path: Path, what: str, name: str, entry: Any) -> Risk:
    told = {"url": entry["base_url"], **entry} if isinstance(entry, dict) and "base_url" in entry else entry
    return risk(path, f"{what} {name_of(name)}", told_first(told) if isinstance(told, dict) else told)


def _kept_risks(folder: Path, suffix: str, judge: Callable[[Path], Iterator[Risk]]) -> Iterator[Risk]:
    try:
        paths = files_below(folder, suffix)
    except Unreadable as why:
        yield unreadable(folder, why)
        return
    for path in paths:
        yield from judge(path)


def _rule_risks(path: Path) -> Iterator[Risk]:
    """Which commands are run without a question."""
    try:
        text = (text_in(path) or "").strip()
    except Unreadable as why:
        yield unreadable(path, why)
        return
    if text:
        yield risk(path, "rules", text)
