"""What is installed where, in the order in which it fires, and why it does not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tracklog.agents.codex.hooks import fingerprint, hook_key, with_notify
from tracklog.agents.hooks.command import Recorder, handler, notify_words
from tracklog.agents.hooks.places import HookEntry, HookFile, Machine
from tracklog.agents.hooks.settings import LocatedHook
from tracklog.agents.roots import claude_home, codex_home
from tracklog.hooks.status import UnreadableSettings, status_of

RECORDER = Recorder("/usr/bin/python3", "/opt/tracklog/hook.py", "/home/dev/tracklog")
NOT_TRUSTED = "Codex has not been told to trust it: start `codex` and agree, or look at /hooks there"


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine of its own: both homes, a project, a system."""
    made = Machine({"HOME": str(tmp_path)}, tmp_path / "project", tmp_path / "system")
    for folder in (tmp_path / ".claude", tmp_path / ".codex", made.cwd, made.system):
        folder.mkdir()
    return made


def command(text: str) -> dict[str, Any]:
    return {"type": "command", "command": text}


def settings(path: Path, hooks: Any = None, **others: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(others if hooks is None else {"hooks": hooks, **others}))
    return path


def test_hooks_of_claude_code_are_listed_by_level_then_as_the_file_does(machine: Machine) -> None:
    ours = handler(RECORDER, "claude")
    group = {"matcher": "Bash", "hooks": [command("one"), command("two")]}
    user = settings(
        claude_home(machine.env) / "settings.json", {"Stop": [{"hooks": [ours]}], "PreToolUse": [group]}
    )
    project = settings(machine.cwd / ".claude/settings.json", {"Stop": [{"hooks": [command("three")]}]})
    local = settings(
        machine.cwd / ".claude/settings.local.json",
        {"Stop": [{"hooks": [{"type": "http", "url": "http://localhost/"}]}]},
        enabledPlugins={"fine@market": True, "off@market": False},
    )
    managed = settings(
        machine.system / "etc/claude-code/managed-settings.json", {"Stop": [{"hooks": [command("four")]}]}
    )
    part = settings(
        machine.system / "etc/claude-code/managed-settings.d/10.json",
        {"Stop": [{"hooks": [command("five")]}]},
    )
    fine, off = (
        claude_home(machine.env) / "plugins/cache/fine",
        claude_home(machine.env) / "plugins/cache/off",
    )
    settings(
        claude_home(machine.env) / "plugins/installed_plugins.json",
        plugins={"fine@market": [{"installPath": str(fine)}], "off@market": [{"installPath": str(off)}]},
    )
    plugin = settings(fine / "hooks/hooks.json", {"Stop": [{"hooks": [command("six")]}]})
    settings(off / "hooks/hooks.json", {"Stop": [{"hooks": [command("never")]}]})
    more = settings(fine / "hooks/more.json", {"SessionStart": [{"hooks": [command("seven")]}]})
    settings(fine / ".claude-plugin/plugin.json", name="fine", hooks="./hooks/more.json")
    status = status_of(machine, ("claude",))
    assert status.problems == []
    assert status.hooks == [
        HookEntry("claude", "user", user, "Stop", None, ours["command"], ours=True),
        HookEntry("claude", "user", user, "PreToolUse", "Bash", "one", ours=False),
        HookEntry("claude", "user", user, "PreToolUse", "Bash", "two", ours=False),
        HookEntry("claude", "project", project, "Stop", None, "three", ours=False),
        HookEntry("claude", "local", local, "Stop", None, "http://localhost/", ours=False),
        HookEntry("claude", "managed", managed, "Stop", None, "four", ours=False),
        HookEntry("claude", "managed", part, "Stop", None, "five", ours=False),
        HookEntry("claude", "plugin", plugin, "Stop", None, "six", ours=False),
        HookEntry("claude", "plugin", more, "SessionStart", None, "seven", ours=False),
    ]


def test_where_all_hooks_are_switched_off_it_is_said_of_all_but_the_managed(machine: Machine) -> None:
    settings(
        claude_home(machine.env) / "settings.json",
        {"Stop": [{"hooks": [command("one")]}]},
        disableAllHooks=False,
    )
    local = settings(machine.cwd / ".claude/settings.local.json", disableAllHooks=True)
    settings(
        machine.system / "etc/claude-code/managed-settings.json", {"Stop": [{"hooks": [command("two")]}]}
    )
    assert [hook.why_not for hook in status_of(machine).hooks] == [f"disableAllHooks in {local}", None]


def test_where_only_managed_hooks_are_allowed_it_is_said(machine: Machine) -> None:
    settings(claude_home(machine.env) / "settings.json", {"Stop": [{"hooks": [command("one")]}]})
    managed = settings(machine.system / "etc/claude-code/managed-settings.json", allowManagedHooksOnly=True)
    assert [hook.why_not for hook in status_of(machine).hooks] == [f"allowManagedHooksOnly in {managed}"]


def test_hooks_of_codex_are_listed_as_it_finds_them(machine: Machine) -> None:
    ours = handler(RECORDER, "codex")
    requirements = machine.system / "etc/codex/requirements.toml"
    requirements.parent.mkdir(parents=True)
    requirements.write_text('[[hooks.Stop]]\nhooks = [{type = "command", command = "policy"}]\n')
    user = settings(codex_home(machine.env) / "hooks.json", {"Stop": [{"hooks": [ours]}]})
    config = codex_home(machine.env) / "config.toml"
    config.write_text(
        with_notify(
            '[[hooks.PreToolUse]]\nmatcher = "^Bash$"\n'
            'hooks = [{type = "command", command = "mine"}]\n[plugins."demo@test"]\nenabled = true\n',
            notify_words(RECORDER, "codex"),
        )
    )
    project = settings(machine.cwd / ".codex/hooks.json", {"Stop": [{"hooks": [command("theirs")]}]})
    plugin = settings(
        codex_home(machine.env) / "plugins/cache/test/demo/1.0/hooks/hooks.json",
        {"Stop": [{"hooks": [command("extra")]}]},
    )
    status = status_of(machine, ("codex",))
    assert status.problems == []
    assert [
        (hook.level, hook.path, hook.event, hook.matcher, hook.ours, hook.why_not) for hook in status.hooks
    ] == [
        ("managed", requirements, "Stop", None, False, None),
        ("user", user, "Stop", None, True, NOT_TRUSTED),
        ("user", config, "PreToolUse", "^Bash$", False, NOT_TRUSTED),
        ("user", config, "notify", None, True, None),
        ("project", project, "Stop", None, False, "Codex has not been told to trust this project"),
        ("plugin", plugin, "Stop", None, False, NOT_TRUSTED),
    ]


def test_a_hook_that_codex_was_told_to_trust_runs(machine: Machine) -> None:
    path = settings(
        codex_home(machine.env) / "hooks.json", {"PreToolUse": [{"hooks": [command("one") | {"timeout": 3}]}]}
    )
    found = LocatedHook("PreToolUse", 0, 0, None, command("one") | {"timeout": 3})
    key = hook_key(HookFile("codex", "user", path), found)
    assert key == f"{path}:pre_tool_use:0:0"
    config = codex_home(machine.env) / "config.toml"
    state = f'[hooks.state."{key}"]\ntrusted_hash = "{fingerprint(found)}"\n'
    config.write_text(state)
    assert [hook.why_not for hook in status_of(machine).hooks] == [None]
    config.write_text(state + "enabled = false\n")
    assert [hook.why_not for hook in status_of(machine).hooks] == ["it is switched off in Codex"]
    config.write_text(state.replace("sha256:", "sha256:00"))
    assert [hook.why_not for hook in status_of(machine).hooks] == [NOT_TRUSTED]
    config.write_text("[features]\nhooks = false\n")
    assert [hook.why_not for hook in status_of(machine).hooks] == [
        "hooks are off: features.hooks in config.toml"
    ]


def test_the_fingerprint_is_the_one_that_codex_wrote() -> None:
    """Made by Codex 0.166.0 for these hooks, when its user agreed to them."""
    plain = command("cat >> /tmp/seen.jsonl")
    short, told = plain | {"timeout": 3}, plain | {"statusMessage": "é listening"}
    hooks = [
        LocatedHook("PreToolUse", 0, 0, None, short),
        LocatedHook("SessionEnd", 0, 0, None, short),
        LocatedHook("Interrupt", 0, 0, None, short),
        LocatedHook("PreCompact", 0, 0, "auto", told),
        LocatedHook("Stop", 0, 0, "x", plain),
    ]
    assert [fingerprint(hook) for hook in hooks] == [
        "sha256:d4e90641491ada01b87d857ed416c427b89ce135e88c4b910cd4066387ad02da",
        "sha256:b366c89af9ba926b02f749b82ccf46d761d9baea2ef0f7675abf747e5e839c90",
        "sha256:74ac77da7fbf86b9e7387584ce735898ebf9ac9c27f10f2b6f21fbd03ec1e949",
        "sha256:17647b9856c9da0a839e6a205ad6880a9255917f4044024ddfe2a211fcf1a316",
        "sha256:c5f3fd3cc8adb268e94882b0b6922316d8dbcb95a8b01d6e0d3444696e0c7939",
    ]


def test_what_cannot_be_read_is_said_and_the_rest_is_listed(machine: Machine) -> None:
    broken = claude_home(machine.env) / "settings.json"
    broken.write_text('{\n  "hooks": {,}\n}')
    (codex_home(machine.env) / "config.toml").write_text("a = \n")
    (codex_home(machine.env) / "hooks.json").mkdir()
    project = settings(machine.cwd / ".claude/settings.json", {"Stop": [{"hooks": [command("one")]}]})
    status = status_of(machine)
    assert status.hooks == [HookEntry("claude", "project", project, "Stop", None, "one", ours=False)]
    assert status.problems == [
        UnreadableSettings(broken, "line 2, column 13: Expecting property name enclosed in double quotes"),
        UnreadableSettings(codex_home(machine.env) / "hooks.json", "it is not a regular file"),
        UnreadableSettings(codex_home(machine.env) / "config.toml", "line 1, column 5: Invalid value"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "",
        '{"hooks": 1}',
        '{"hooks": {"Stop": 1}}',
        '{"hooks": {"Stop": [1, {"hooks": 2}, {"hooks": [3, null, []]}]}}',
        '{"enabledPlugins": []}',
    ],
)
def test_settings_of_any_shape_are_looked_at(text: str, machine: Machine) -> None:
    (claude_home(machine.env) / "settings.json").write_text(text)
    (codex_home(machine.env) / "hooks.json").write_text(text)
    assert status_of(machine) == ([], [])


def test_a_machine_without_agents_has_no_hooks(tmp_path: Path) -> None:
    assert status_of(Machine({"HOME": str(tmp_path)}, tmp_path, tmp_path)) == ([], [])
