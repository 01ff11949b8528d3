"""What goes wrong in a Claude Code session, and what a person does in between: refusals, hooks, errors, commands, damage.

Rules of this room
  1. An incident writes what the client of its era writes (docs/formats/claude_code.md), and leaves the chain whole.
  2. A call that comes to grief is asked for here, and answered here or never.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.made.claude_thread import Thread
from bench.made.claude_tools import TOOLS, Json, ToolRun

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
)
PICTURE = (  # eight by eight points of one colour
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGMwmPABK2IYWhIAAz5sAfzSSH0AAAAASUVORK5CYII="
)


def ask(thread: Thread, name: str, asked: Json) -> tuple[str, str]:
    """A message with one call; its call id and the uuid of its record."""
    call = f"toolu_01{thread.session.dice.alnum(22)}"
    use = {"type": "tool_use", "id": call, "name": name, "input": asked, "caller": {"type": "direct"}}
    return call, thread.reply([use], "tool_use").chunk(use)


def answer(thread: Thread, call: str, parent: str, text: Any, **extra: Any) -> None:
    """The result of a call that did not go well."""
    is_error = extra.pop("is_error", True)
    block = {"tool_use_id": call, "type": "tool_result", "content": text, "is_error": is_error}
    extra.setdefault("toolUseResult", f"Error: {text}")
    thread.say([block], sourceToolAssistantUUID=parent, parent=parent, **extra)


def denied(thread: Thread) -> None:
    """The person says No, and the turn is over."""
    run = TOOLS["Bash"](thread.session.place)
    call, parent = ask(thread, run.name, run.input)
    answer(thread, call, parent, REJECTED, toolUseResult="User rejected tool use")
    thread.say([{"type": "text", "text": "[Request interrupted by user for tool use]"}])


def interrupted(thread: Thread) -> None:
    """The person stops a call that runs."""
    run = TOOLS["Bash"](thread.session.place)
    call, parent = ask(thread, run.name, run.input)
    answer(thread, call, parent, REJECTED, toolUseResult="User rejected tool use")
    stopped = [{"type": "text", "text": "[Request interrupted by user for tool use]"}]
    thread.say(stopped, interruptedMessageId=f"msg_01{thread.session.dice.alnum(22)}")


def forbidden(thread: Thread) -> None:
    """A rule says no, and the agent goes on."""
    call, parent = ask(thread, "Bash", {"command": "rm -rf build", "description": "Begin afresh"})
    answer(thread, call, parent, "Permission to use Bash with command rm -rf build has been denied.")


def blocked(thread: Thread) -> None:
    """A hook says no."""
    call, parent = ask(thread, "Write", {"file_path": f"{thread.session.cwd}/main.py", "content": "x = 1\n"})
    answer(thread, call, parent, "PreToolUse:Write hook error: [python3 hooks/guard.py]: not on main")


def missing_file(thread: Thread) -> None:
    """A tool that fails by itself."""
    call, parent = ask(thread, "Read", {"file_path": f"{thread.session.cwd}/no/such/file.py"})
    answer(thread, call, parent, "<tool_use_error>File does not exist.</tool_use_error>")


def sibling(thread: Thread) -> None:
    """Two calls at once: one fails, the other is cancelled for it."""
    dice = thread.session.dice
    calls = [f"toolu_01{dice.alnum(22)}" for _ in range(2)]
    uses = [
        {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": f"ls nosuch_{n}"}}
        for n, call in enumerate(calls)
    ]
    reply = thread.reply(uses, "tool_use")
    parents = [reply.chunk(use) for use in uses]
    answer(thread, calls[0], parents[0], "Exit code 2\nls: cannot access 'nosuch_0'")
    why = "Cancelled: parallel tool call Bash(ls nosuch_0) errored"
    answer(thread, calls[1], parents[1], f"<tool_use_error>{why}</tool_use_error>", toolUseResult=why)


def background(thread: Thread) -> None:
    """A command that goes on behind the conversation."""
    task = f"b{thread.session.dice.hex(8)}"
    asked = {"command": "make serve", "description": "Serve", "run_in_background": True}
    call, parent = ask(thread, "Bash", asked)
    kept = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "backgroundTaskId": task}
    said = f"Command running in background with ID: {task}."
    answer(thread, call, parent, said, is_error=False, toolUseResult=kept)


def lost(thread: Thread) -> None:
    """A call whose result never came."""
    run = TOOLS["Grep"](thread.session.place)
    ask(thread, run.name, run.input)


def api_error(thread: Thread) -> None:
    """Two retries, then the error in the place of an answer."""
    for attempt in (1, 2):
        about = {"error": {"status": 529, "message": "Overloaded"}, "retryInMs": 600.0, "maxRetries": 10}
        thread.system("api_error", level="error", retryAttempt=attempt, **about)
    said: Json = {"id": thread.session.dice.uuid4(), "model": "<synthetic>", "role": "assistant"}
    text = 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
    said |= {"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "stop_sequence"}
    thread.add("assistant", {"message": said}, extra={"isApiErrorMessage": True, "apiErrorStatus": 529})


def picture(thread: Thread) -> None:
    """A prompt with a picture, and a tool that returns one."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}
    thread.say([{"type": "text", "text": "What is in this picture?"}, image])
    call, parent = ask(thread, "Read", {"file_path": f"{thread.session.cwd}/docs/picture.png"})
    kept = {"type": "image", "file": {"base64": PICTURE, "type": "image/png", "originalSize": 74}}
    answer(thread, call, parent, [image], is_error=False, toolUseResult=kept)


def command(thread: Thread) -> None:
    """A command with a slash, its output, and one of the shell."""
    name = "<command-name>/context</command-name>\n<command-message>context</command-message>\n<command-args></command-args>"
    thread.say(name)
    said = "<local-command-stdout>## Context\n\n**Tokens:** 12.6k / 200k</local-command-stdout>"
    thread.system("local_command", content=said, level="info", isMeta=False)
    thread.say("<bash-input>git status --short</bash-input>")
    thread.say("<bash-stdout> M src/main.py</bash-stdout><bash-stderr></bash-stderr>")


def questions(thread: Thread) -> None:
    """A question for the person, and a plan."""
    options = [{"label": name, "description": f"Use {name}"} for name in ("SQLite", "Postgres")]
    asked = [{"question": "Which store?", "header": "Store", "options": options, "multiSelect": False}]
    call, parent = ask(thread, "AskUserQuestion", {"questions": asked})
    kept: Json = {"questions": asked, "answers": {"Which store?": "SQLite"}}
    said = 'User has answered your questions: "Which store?"="SQLite".'
    answer(thread, call, parent, said, is_error=False, toolUseResult=kept)
    plan = "# Plan\n\n1. Read the store\n2. Change it\n"
    call, parent = ask(thread, "ExitPlanMode", {"plan": plan})
    kept = {"plan": plan, "isAgent": False, "filePath": f"{thread.session.cwd}/plan.md"}
    said = "User has approved your plan. You can now start coding."
    answer(thread, call, parent, said, is_error=False, toolUseResult=kept)


def hook_trouble(thread: Thread) -> None:
    """Hooks that failed, blocked and added."""
    ran = {
        "hookName": "PostToolUse:Bash",
        "hookEvent": "PostToolUse",
        "toolUseID": thread.session.dice.uuid4(),
    }
    thread.attach("hook_non_blocking_error", **ran, stderr="no such file", stdout="", exitCode=1)
    why = {"blockingError": "tests are red", "command": "make -s check"}
    thread.attach("hook_blocking_error", **ran, blockingError=why)
    thread.attach("hook_additional_context", **ran, content=["the branch is protected"])


def unknown(thread: Thread) -> None:
    """A kind of line that nobody knows yet."""
    thread.note("seance-note", {"told": thread.session.words.title(thread.session.dice), "depth": 3})


def away(thread: Thread) -> None:
    """What the client notes while nobody is there."""
    thread.system("away_summary", content="While you were away: two tests were mended.", isMeta=False)
    link = {"prNumber": 7, "prUrl": "https://example.org/dev/project/pull/7", "prRepository": "dev/project"}
    thread.note("pr-link", {**link, "timestamp": thread.session.clock.tick()})


INCIDENTS: tuple[Callable[[Thread], None], ...] = (
    denied, interrupted, forbidden, blocked, missing_file, sibling, background, lost, api_error, picture, command,
    questions, hook_trouble, unknown, away,
)  # fmt: skip


def draw(thread: Thread) -> ToolRun:
    """A call of some tool that goes as it mostly goes."""
    tools = {name: n for name, n in thread.session.era.tools.items() if name in TOOLS and name != "image"}
    return TOOLS[thread.session.dice.weighted(list(tools), list(tools.values()))](thread.session.place)
