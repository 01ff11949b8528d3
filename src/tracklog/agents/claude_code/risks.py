"""What Claude Code would execute or be steered by in a folder. Measured with 2.0.30, 2.1.100, 2.1.197 and 2.1.325 under `-p`,
where nobody is asked: hooks run and MCP servers start in a folder that was never trusted.

| file | looked for |
|---|---|
| `.claude/settings.json` | in the folder alone |
| `.claude/settings.local.json` | in the folder; 2.1.325 also at the root of the repository, of a worktree's first checkout |
| `.mcp.json` | in the folder and every one above it, past the repository's root |
| `.claude/agents`, `commands`, `skills` | up to the repository's root; outside of one, in every folder above |

Agents, commands and skills are prompts. Of what stands before their text, some keys run programs or allow them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tracklog.agents.risks import (
    Risk,
    Unreadable,
    document_in,
    files_below,
    folders_of_the_repository,
    folders_up,
    hook_risks,
    is_said,
    is_same_place,
    main_checkouts,
    name_of,
    risk,
    secret,
    text_in,
    told_first,
    unreadable,
)

_STEERING = frozenset(
    # what the release itself calls dangerous, and what names programs, places and permissions
    [
        "apiKeyHelper",
        "awsAuthRefresh",
        "awsCredentialExport",
        "fileSuggestion",
        "gcpAuthRefresh",
        "otelHeadersHelper",
        "processWrapper",
        "policyHelper",
        "policyHelpers",
        "proxyAuthHelper",
        "statusLine",
        "subagentStatusLine",
        "enabledPlugins",
        "prependPlugins",
        "appendPlugins",
        "extraKnownMarketplaces",
        "additionalMarketplaces",
        "pluginConfigs",
        "enableAllProjectMcpServers",
        "enabledMcpjsonServers",
        "managedMcpServers",
        "allowAllClaudeAiMcps",
        "agent",
        "autoMemoryDirectory",
        "autoMode",
        "defaultShell",
        "disableAllHooks",
        "forceLoginGatewayUrl",
        "httpHookAllowedEnvVars",
        "remoteControlAtStartup",
        "autoUploadSessions",
        "sandbox",
        "skipAutoPermissionPrompt",
        "skipDangerousModePermissionPrompt",
        "skipWebFetchPreflight",
        "sshConfigs",
        "sshHostCommands",
    ]
)
_SOUNDS_LIKE_A_PROGRAM = re.compile(
    r"(?:helpers?|refresh|export|commands?|wrapper|program|executable)$", re.I
)
_MILD_MODES = ("default", "dontAsk", "manual", "plan")
_MOST_ENV_NAME = 200  # longer ones are nobody's, and would keep the patterns busy
_ACCOUNT = "works on another's account"
_ENV = (  # by the first that fits; compiled when a folder sets variables
    (r"LD_.*|DYLD_.*", "puts code into every program"),
    (r"(NODE|BUN|DENO|PYTHON|RUBY|PERL5?|JAVA_TOOL|_JAVA)_?(OPTIONS|OPT|PATH|STARTUP|LIB|HOME)", "puts code into programs"),
    (r"PATH|SHELL|BASH_ENV|BASH_FUNC.*|ENV|PROMPT_COMMAND|.*EDITOR|.*PAGER|BROWSER|GIT_.*|HOME|CLAUDE_CODE_SHELL.*", "decides what is run"),
    (r".*PROXY|.*PROXY_URL", "leads its traffic elsewhere"),
    (r".*(_URL|_URI|_ENDPOINT|_HOST)(_.*)?", "sends requests elsewhere"),
    (r"NODE_TLS_REJECT_UNAUTHORIZED|NODE_EXTRA_CA_CERTS|SSL_CERT_.*|.*_CA_BUNDLE|CURL_.*", "weakens encryption"),
    (r"ANTHROPIC_CUSTOM_HEADERS", "adds to every request"),
    (r"ANTHROPIC_(API_KEY|AUTH_TOKEN)|.*(_KEY|_TOKEN|_SECRET)", _ACCOUNT),
    (r"OTEL_.*|.*TELEMETRY.*", "sends what happens elsewhere"),
    (r"CLAUDE_.*|ANTHROPIC_.*|DISABLE_.*", "changes how the client works"),
)  # fmt: skip
_PROMPTS = ("agents", "commands", "skills")
_RUNS_BEFORE_A_PROMPT = ("hooks", "mcpServers", "permissionMode", "allowed-tools")
_KEY = re.compile(r"([A-Za-z][\w-]*)[ \t]*:(?:\s|$)")


def claude_code_risks(cwd: Path, home: Path) -> Iterator[Risk]:
    """Everything in this folder, and above it, that belongs to the folder and not to the user."""
    for path in _settings_files(cwd, home):
        yield from _read(path, _settings_risks)
    for folder in folders_up(cwd):
        yield from _read(folder / ".mcp.json", _server_risks)
    for folder in folders_of_the_repository(cwd) or folders_up(cwd):
        if not is_same_place(folder / ".claude", home):
            for name in _PROMPTS:
                yield from _prompt_risks(folder / ".claude" / name)


def _settings_files(cwd: Path, home: Path) -> list[Path]:
    repository = folders_of_the_repository(cwd) or []
    checkouts = [folder for folder in repository if (folder / ".git").exists()]
    roots = [root for folder in checkouts for root in (folder, *main_checkouts(folder))]
    local = [folder / ".claude" / "settings.local.json" for folder in dict.fromkeys([cwd, *roots])]
    return [
        path
        for path in (cwd / ".claude" / "settings.json", *local)
        if not is_same_place(path.parent, home) and not is_same_place(path, home / "settings.json")
    ]


def _read(path: Path, judge: Callable[[Path, Mapping[str, Any]], Iterator[Risk]]) -> Iterator[Risk]:
    try:
        yield from judge(path, document_in(path))
    except Unreadable as why:
        yield unreadable(path, why)


def _settings_risks(path: Path, settings: Mapping[str, Any]) -> Iterator[Risk]:
    for key, value in settings.items():
        if key == "hooks":
            yield from hook_risks(path, value)
        elif key == "env":
            yield from _env_risks(path, value)
        elif key == "permissions":
            yield from _permission_risks(path, value)
        elif is_said(value) and (
            key in _STEERING or _SOUNDS_LIKE_A_PROGRAM.search(key) or _names_a_program(value)
        ):
            yield risk(path, name_of(key), _shown(value))


def _shown(value: Any) -> Any:
    """Describe a setting that is a command by its command."""
    return told_first(value) if isinstance(value, dict) and value.get("type") == "command" else value


def _names_a_program(value: Any) -> bool:
    """Whether a setting that we do not know contains a command anywhere."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if is_said(one.get("command")):
                return True
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return False


def _env_risks(path: Path, env: Any) -> Iterator[Risk]:
    if not isinstance(env, dict):
        if is_said(env):
            yield risk(path, "env", env)
        return
    for name, value in env.items():
        does = next((does for names, does in _ENV if re.fullmatch(names, name[:_MOST_ENV_NAME], re.I)), None)
        tell = secret if does == _ACCOUNT else risk
        yield tell(path, f"env {name_of(name)}{f' ({does})' if does else ''}", value)


def _permission_risks(path: Path, permissions: Any) -> Iterator[Risk]:
    """What is allowed without a question; what is refused or asked for takes nothing away from anybody."""
    if not isinstance(permissions, dict):
        if is_said(permissions):
            yield risk(path, "permissions", permissions)
        return
    for key, value in permissions.items():
        is_mild = key in ("deny", "ask", "disableBypassPermissionsMode") or (
            key == "defaultMode" and value in _MILD_MODES
        )
        if is_said(value) and not is_mild:
            yield risk(path, f"permissions.{name_of(key)}", value)


def _server_risks(path: Path, document: Mapping[str, Any]) -> Iterator[Risk]:
    servers = document.get("mcpServers", {})
    if not isinstance(servers, dict):
        yield risk(path, "mcpServers", servers)
        return
    for name, server in servers.items():
        told = told_first(server) if isinstance(server, dict) else server
        yield risk(path, f"MCP server {name_of(name)}", told)


def _prompt_risks(folder: Path) -> Iterator[Risk]:
    try:
        paths = files_below(folder, ".md")
    except Unreadable as why:
        yield unreadable(folder, why)
        return
    for path in paths:
        try:
            yield from _head_risks(path, text_in(path) or "")
        except Unreadable as why:
            yield unreadable(path, why)


def _head_risks(path: Path, text: str) -> Iterator[Risk]:
    """The YAML between the two `---`: a block of plain keys is understood, anything else is a risk."""
    lines = text.lstrip().replace("\r\n", "\n").split("\n")
    if not lines[0].startswith("---"):
        return
    end = next((n for n, line in enumerate(lines[1:], 1) if line.rstrip() == "---"), len(lines))
    parts = _parts_of([lines[0][3:], *lines[1:end]])
    if parts is None:
        yield risk(path, "a head that cannot be judged", "\n".join(lines[1:end]))
        return
    for key, told in parts:
        if key in _RUNS_BEFORE_A_PROMPT:
            yield risk(path, key, told)


def _parts_of(lines: list[str]) -> list[tuple[str, str]] | None:
    """Each key with its lines; None if this is more of YAML than keys with something indented below them."""
    if any("\r" in line for line in lines):
        return None  # a line's end for some readers
    parts: list[tuple[str, list[str]]] = []
    margin: int | None = None
    for line in lines:
        bare = line.lstrip(" ")
        if not bare.strip() or bare.startswith("#"):
            continue
        indent = len(line) - len(bare)
        margin = indent if margin is None else margin
        key = _KEY.match(bare) if indent == margin else None
        if key:
            parts.append((key[1], [bare]))
        elif parts and (indent > margin or bare.startswith("- ")):
            parts[-1][1].append(bare)
        else:
            return None
    return [(key, "\n".join(told)) for key, told in parts]
