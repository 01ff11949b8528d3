"""A home for one run: its own HOME, config directories, project directory and environment.

Rules of this room
  1. Everything lies below one directory; nothing of the machine's own home is read or written.
  2. The environment is built from nothing: PATH, a language, and what the client needs to find the scripted API.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.lab.script import filled
from tests.lab.words import Json, Scenario

LAB = Path(__file__).parent
KEY = "lab-key-0000000000000000"
CODEX_MODEL = "gpt-5.1-codex"


@dataclass(frozen=True)
class Home:
    """The directories of one run."""

    root: Path

    @property
    def cwd(self) -> Path:
        """The project the client works in."""
        return self.root / "project"

    @property
    def claude(self) -> Path:
        """CLAUDE_CONFIG_DIR."""
        return self.root / ".claude"

    @property
    def codex(self) -> Path:
        """CODEX_HOME."""
        return self.root / ".codex"

    def holes(self) -> dict[str, str]:
        """What the run fills into a scenario's strings."""
        return {"home": str(self.root), "cwd": str(self.cwd), "python": sys.executable, "lab": str(LAB)}


def make_home(root: Path, scenario: Scenario) -> Home:
    """The directories with the scenario's files in them."""
    home = Home(root.resolve())
    for directory in (home.cwd, home.claude, home.codex, home.root / "tmp"):
        directory.mkdir(parents=True, exist_ok=True)
    for name, content in scenario.files.items():
        path = home.cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else filled(content, home.holes()).encode())
    if scenario.git:
        _make_repository(home)
    return home


def logs_below(root: Path) -> list[Path]:
    """Logs that both clients keep below a home. Folders that vanish meanwhile are passed over, as `Path.glob` does not."""
    folders = (root / ".claude" / "projects", root / ".codex" / "sessions")
    return [
        Path(at, name)
        for folder in folders
        for at, _, names in os.walk(folder)
        for name in names
        if name.endswith(".jsonl")
    ]


def _make_repository(home: Home) -> None:
    """A repository with one empty commit: the files stand in it uncommitted."""
    author = ["-c", "user.name=dev", "-c", "user.email=dev@example.com"]
    first = ["commit", "--quiet", "--allow-empty", "--message", "Begin"]
    for command in (["init", "--quiet", "--initial-branch=main"], [*author, *first]):
        subprocess.run(
            ["git", *command], cwd=home.cwd, env=_bare_environment(home, ""), check=True, timeout=30
        )


def claude_environment(home: Home, api_url: str) -> dict[str, str]:
    """The whole environment of a Claude Code run."""
    return _bare_environment(home, api_url) | {
        "CLAUDE_CONFIG_DIR": str(home.claude),
        "ANTHROPIC_BASE_URL": api_url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",  # lets root skip permissions
        "BUN_JSC_useGC": "0",  # a fifth of the CPU of a short session, for 40 MB
        "BUN_JSC_useDFGJIT": "0",  # a tenth: a short session ends before code that is made faster is used
    }


def codex_environment(home: Home, api_url: str) -> dict[str, str]:
    """The whole environment of a Codex run; the API's address stands in config.toml."""
    return _bare_environment(home, api_url) | {"CODEX_HOME": str(home.codex), "LAB_KEY": KEY}


def write_claude_files(home: Home, scenario: Scenario) -> list[str]:
    """Writes settings and MCP configuration; returns the arguments that name them."""
    arguments = []
    (home.claude / ".claude.json").write_text(json.dumps(_introduced(home)))
    if scenario.settings:
        (home.claude / "settings.json").write_text(
            json.dumps(filled(scenario.settings, home.holes()), indent=1)
        )
    if scenario.mcp:
        server: Json = {"type": "stdio", "command": sys.executable, "args": [str(LAB / "mcp_server.py")]}
        path = home.root / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"lab": server}}))
        arguments += ["--mcp-config", str(path)]
    return arguments


def _introduced(home: Home) -> Json:
    """What a person has answered when Claude Code was first started: it would ask again before the first prompt."""
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True, "allowedTools": []}
    return {
        "hasCompletedOnboarding": True,
        "bypassPermissionsModeAccepted": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {str(home.cwd): project},
    }


def write_codex_files(home: Home, scenario: Scenario, api_url: str) -> None:
    """Writes config.toml: the scripted API as a provider, the scenario's own lines, the MCP server."""
    top = f'model = "{scenario.model or CODEX_MODEL}"\nmodel_provider = "lab"\ncheck_for_update_on_startup = false\n'
    provider = (
        f'[model_providers.lab]\nname = "lab"\nbase_url = "{api_url}/v1"\nwire_api = "responses"\n'
        'env_key = "LAB_KEY"\nrequest_max_retries = 2\nstream_max_retries = 2\n'
    )
    mcp = f'[mcp_servers.lab]\ncommand = "{sys.executable}"\nargs = ["{LAB / "mcp_server.py"}"]\n'
    parts = [top, filled(scenario.config, home.holes()), provider, "[analytics]\nenabled = false\n"]
    (home.codex / "config.toml").write_text("\n".join([*parts, mcp] if scenario.mcp else parts))


def _bare_environment(home: Home, api_url: str) -> dict[str, str]:
    """With the scripted API as the way out of loopback, which it refuses and notes."""
    return {
        "HTTPS_PROXY": api_url,
        "HTTP_PROXY": api_url,
        "NO_PROXY": "127.0.0.1,localhost",
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home.root),
        "TMPDIR": str(home.root / "tmp"),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "SHELL": "/bin/bash",
    }
