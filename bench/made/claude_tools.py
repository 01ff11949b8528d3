"""The tools of Claude Code: what the model asked, what it read back, what the client kept beside it.

Rules of this room
  1. A tool knows the working place (files, chance, words), never the session: no ids, no records, no time of day.
  2. Files live: a Read shows what the last Edit left, so the same text comes back as in real sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bench.made.claude_eras import Era
from bench.made.dice import Dice
from bench.made.words import Words

Json = dict[str, Any]


@dataclass(frozen=True)
class ToolRun:
    """One call, whole."""

    name: str
    input: Json
    content: str | list[Json]
    result: Any
    is_error: bool | None = None  # None: the field is absent, as on most successes


@dataclass
class SourceFile:
    path: str
    lines: list[str]

    @property
    def text(self) -> str:
        return "".join(self.lines)


class Workplace:
    """A project folder with files that change."""

    def __init__(self, dice: Dice, words: Words, era: Era, *, cwd: str) -> None:
        self.dice, self.words, self.era, self.cwd = dice, words, era, cwd
        self._files: list[SourceFile] = []

    def new_file(self) -> SourceFile:
        dice, code = self.dice, self.words.code
        size = dice.tailed(62, 1_500)
        start = dice.between(0, len(code) - size)
        self._files.append(SourceFile(f"{self.cwd}/{self.words.path(dice)}", code[start : start + size]))
        return self._files[-1]

    def some_file(self) -> SourceFile:
        return (
            self.new_file() if len(self._files) < 6 or self.dice.chance(0.2) else self.dice.pick(self._files)
        )

    def paths(self, count: int) -> list[str]:
        return [f"{self.cwd}/{self.words.path(self.dice)}" for _ in range(count)]

    def numbered(self, lines: list[str], start: int) -> str:
        if self.era.arrow == "\t":
            return "".join(f"{n}\t{line}" for n, line in enumerate(lines, start))
        return "".join(f"{n:6}→{line}" for n, line in enumerate(lines, start))


def _bash(place: Workplace) -> ToolRun:
    dice = place.dice
    output = place.words.output(dice, dice.tailed(250, 60_000)).rstrip("\n")
    command = f"cd {place.cwd} && {dice.pick(_COMMANDS)} {place.words.path(dice)} 2>&1 | tail -{dice.between(5, 80)}"
    asked = {"command": command, "description": place.words.title(dice)}
    if dice.chance(0.12):
        shown = f"Exit code {dice.between(1, 2)}\n{output}" if place.era.says_exit_code else output
        return ToolRun("Bash", asked, shown, f"Error: {shown}", is_error=True)
    result: Json = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
    if place.era.envelope_last:
        result["noOutputExpected"] = False
    return ToolRun("Bash", asked, output, result, is_error=False)


_COMMANDS = [
    "pytest -q",
    "npm test --",
    "go test ./...",
    "git diff",
    "grep -rn 'token'",
    "ls -la",
    "cargo build -p",
    "sed -n '1,80p'",
    "make",
]


def _read(place: Workplace) -> ToolRun:
    file, dice = place.some_file(), place.dice
    start = dice.between(1, len(file.lines)) if dice.chance(0.2) else 1
    seen = file.lines[start - 1 : start - 1 + dice.tailed(50, 2_000)]
    shown = {
        "filePath": file.path,
        "content": "".join(seen),
        "numLines": len(seen),
        "startLine": start,
        "totalLines": len(file.lines),
    }
    asked: Json = (
        {"file_path": file.path}
        if start == 1
        else {"file_path": file.path, "offset": start, "limit": len(seen)}
    )
    return ToolRun("Read", asked, place.numbered(seen, start), {"type": "text", "file": shown})


def _change(place: Workplace, file: SourceFile) -> tuple[str, str, Json]:
    """Replaces a few lines of the file; returns old text, new text and the hunk."""
    dice = place.dice
    at = dice.between(0, max(0, len(file.lines) - 8))
    old = file.lines[at : at + dice.between(1, 6)]
    new = [*old[:1], *dice.picks(place.words.code, dice.between(1, 12))]
    before, after = file.lines[max(0, at - 3) : at], file.lines[at + len(old) : at + len(old) + 3]
    file.lines = [*file.lines[:at], *new, *file.lines[at + len(old) :]]
    marked = (
        [f" {x}" for x in before] + [f"-{x}" for x in old] + [f"+{x}" for x in new] + [f" {x}" for x in after]
    )
    around, start = len(before) + len(after), at - len(before) + 1
    hunk = {
        "oldStart": start,
        "oldLines": len(old) + around,
        "newStart": start,
        "newLines": len(new) + around,
    }
    return "".join(old), "".join(new), {**hunk, "lines": [x.rstrip("\n") for x in marked]}


def _edit(place: Workplace) -> ToolRun:
    file = place.some_file()
    if place.dice.chance(0.05):
        why = f"String to replace not found in file.\nString: {place.dice.pick(place.words.code)}"
        missed = {"file_path": file.path, "old_string": "no such text", "new_string": "another"}
        return ToolRun(
            "Edit", missed, f"<tool_use_error>{why}</tool_use_error>", f"Error: {why}", is_error=True
        )
    original = file.text
    old, new, hunk = _change(place, file)
    asked = {"replace_all": False, "file_path": file.path, "old_string": old, "new_string": new}
    kept = None if place.era.request_metadata and len(original) > 40_000 else original
    result = {
        "filePath": file.path,
        "oldString": old,
        "newString": new,
        "originalFile": kept,
        "structuredPatch": [hunk],
    }
    said = f"The file {file.path} has been updated successfully."
    if not place.era.settled_usage:
        first = hunk["newStart"]
        said += "\n" + place.numbered(file.lines[first - 1 : first - 1 + hunk["newLines"]], first)
    return ToolRun("Edit", asked, said, {**result, "userModified": False, "replaceAll": False})


def _multi_edit(place: Workplace) -> ToolRun:
    file = place.some_file()
    original = file.text
    changes = [_change(place, file) for _ in range(place.dice.between(2, 4))]
    edits = [{"old_string": old, "new_string": new, "replace_all": False} for old, new, _ in changes]
    result = {"filePath": file.path, "edits": edits, "originalFileContents": original}
    said = f"Applied {len(edits)} edits to {file.path}"
    asked = {"file_path": file.path, "edits": edits}
    return ToolRun(
        "MultiEdit",
        asked,
        said,
        {**result, "structuredPatch": [hunk for *_, hunk in changes], "userModified": False},
    )


def _write(place: Workplace) -> ToolRun:
    file = place.new_file()
    asked = {"file_path": file.path, "content": file.text}
    result: Json = {"type": "create", "filePath": file.path, "content": file.text, "structuredPatch": []}
    if place.era.envelope_last:
        result |= {"originalFile": None, "userModified": False}
    return ToolRun("Write", asked, f"File created successfully at: {file.path}", result)


def _grep(place: Workplace) -> ToolRun:
    dice = place.dice
    asked: Json = {
        "pattern": dice.pick(place.words.code).strip()[:24],
        "path": place.cwd,
        "output_mode": "content",
        "-n": True,
    }
    if dice.chance(0.4):
        found = place.paths(dice.between(1, 30))
        asked = {"pattern": asked["pattern"], "output_mode": "files_with_matches"}
        result: Json = {"mode": "files_with_matches", "filenames": found, "numFiles": len(found)}
        return ToolRun("Grep", asked, f"Found {len(found)} files\n" + "\n".join(found), result)
    hits = place.words.output(dice, dice.tailed(400, 20_000)).rstrip("\n")
    result = {
        "mode": "content",
        "numFiles": 0,
        "filenames": [],
        "content": hits,
        "numLines": hits.count("\n") + 1,
    }
    return ToolRun("Grep", asked, hits, result)


def _glob(place: Workplace) -> ToolRun:
    found = place.paths(place.dice.between(1, 60))
    result = {
        "filenames": found,
        "durationMs": place.dice.between(3, 700),
        "numFiles": len(found),
        "truncated": False,
    }
    return ToolRun("Glob", {"pattern": "**/*.py"}, "\n".join(found), result)


def _todos(place: Workplace) -> ToolRun:
    states = ["completed", "in_progress", "pending", "pending"]
    titles = [place.words.title(place.dice) for _ in states]
    new = [
        {"content": t, "status": s, "activeForm": f"Going to {t}"}
        for t, s in zip(titles, states, strict=True)
    ]
    old = [{**todo, "status": "pending"} for todo in new]
    said = "Todos have been modified successfully."
    return ToolRun("TodoWrite", {"todos": new}, said, {"oldTodos": old, "newTodos": new})


def _task_create(place: Workplace) -> ToolRun:
    subject, number = place.words.title(place.dice), str(place.dice.between(1, 40))
    asked = {"subject": subject, "description": place.words.prose(place.dice, 300), "activeForm": subject}
    return ToolRun(
        "TaskCreate",
        asked,
        f"Task #{number} created successfully: {subject}",
        {"task": {"id": number, "subject": subject}},
    )


def _task_update(place: Workplace) -> ToolRun:
    number = str(place.dice.between(1, 40))
    change = {"from": "in_progress", "to": "completed"}
    result = {"success": True, "taskId": number, "updatedFields": ["status"], "statusChange": change}
    return ToolRun(
        "TaskUpdate", {"taskId": number, "status": "completed"}, f"Updated task #{number} status", result
    )


def _image(place: Workplace) -> ToolRun:
    size = place.dice.tailed(18_000, 260_000)
    picture, path = place.dice.base64(size), f"{place.cwd}/docs/{place.words.name(place.dice)}.png"
    block = {"type": "image", "source": {"type": "base64", "data": picture, "media_type": "image/png"}}
    dimensions = {"originalWidth": 1440, "originalHeight": 900, "displayWidth": 1440, "displayHeight": 900}
    kept = {"base64": picture, "type": "image/png", "originalSize": size, "dimensions": dimensions}
    return ToolRun("Read", {"file_path": path}, [block], {"type": "image", "file": kept})


def _mcp(place: Workplace) -> ToolRun:
    text = place.words.output(place.dice, place.dice.tailed(3_000, 160_000))
    blocks = [{"type": "text", "text": text}]
    asked = {"url": f"http://localhost:3000/{place.words.name(place.dice)}", "max_chars": 200_000}
    return ToolRun("mcp__browser__page_text", asked, blocks, blocks)


def _web_search(place: Workplace) -> ToolRun:
    dice, query = place.dice, place.words.title(place.dice)
    links = [
        {"title": place.words.title(dice), "url": f"https://example.org/{place.words.name(dice)}"}
        for _ in range(8)
    ]
    found: list[Any] = [
        {"tool_use_id": f"srvtoolu_01{dice.alnum(22)}", "content": links},
        place.words.prose(dice, 900),
    ]
    result = {"query": query, "results": found, "durationSeconds": dice.between(2_000, 30_000) / 1_000}
    return ToolRun(
        "WebSearch", {"query": query}, f'Web search results for query: "{query}"\n\n{found[1]}', result
    )


TOOLS: dict[str, Callable[[Workplace], ToolRun]] = {
    "Bash": _bash, "Read": _read, "Edit": _edit, "MultiEdit": _multi_edit, "Write": _write, "Grep": _grep, "Glob": _glob,
    "TodoWrite": _todos, "TaskCreate": _task_create, "TaskUpdate": _task_update, "image": _image, "mcp": _mcp,
    "WebSearch": _web_search,
}  # fmt: skip
