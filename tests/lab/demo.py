"""Makes the demo home that tracklog ships anew: plays its story with real clients, `python -m tests.lab.demo`.

The logs are what the clients wrote, with the places of this machine made neutral; only the two prompt histories are put
together here, since headless clients keep none. Review the difference before you commit it.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import zstandard

from tests.lab.demo_story import STORY
from tests.lab.harvest import harvest

DEMO = Path(__file__).parents[2] / "src" / "tracklog" / "demo"
ARCHIVED = "explain"  # this session lies in Codex's archive, compressed


def main() -> int:
    """Plays all of the story, then puts the new home in the place of the old one."""
    with tempfile.TemporaryDirectory(prefix="demo-") as scratch:
        raw, made = Path(scratch, "raw"), Path(scratch, "demo")
        for agent, version, scenario in STORY:
            if not harvest(agent, version, scenario, into=raw):
                print(f"{scenario.name} did not end as it should", file=sys.stderr)
                return 1
            _collect(raw / scenario.name, made / agent, is_archived=scenario.name == ARCHIVED)
        _write_lines(made / "claude" / "history.jsonl", _claude_history(made / "claude"))
        _write_lines(made / "codex" / "history.jsonl", _codex_history(raw))
        shutil.rmtree(DEMO, ignore_errors=True)
        shutil.copytree(made, DEMO)
    return 0


def _collect(played: Path, home: Path, *, is_archived: bool) -> None:
    """Copies a played session's logs into the home that is being made."""
    config = played / f".{home.name}"
    for path in sorted(path for path in config.rglob("*") if path.is_file()):
        place = path.relative_to(config)
        if place.parts[0] not in ("projects", "sessions") or (
            path.suffix == ".json" and len(place.parts) == 2
        ):
            continue  # settings, todos, the registry
        content = path.read_bytes()
        if is_archived:
            place = Path("archived_sessions", f"{path.name}.zst")
            content = zstandard.ZstdCompressor(level=19, write_checksum=True).compress(content)
        (home / place).parent.mkdir(parents=True, exist_ok=True)
        (home / place).write_bytes(content)


def _claude_history(home: Path) -> list[dict[str, Any]]:
    rows = [
        {
            "display": record["message"]["content"],
            "pastedContents": {},
            "timestamp": _milliseconds(record["timestamp"]),
            "project": record["cwd"],
            "sessionId": record["sessionId"],
        }
        for path in sorted(home.glob("projects/*/*.jsonl"))
        if not path.name.startswith("agent-")
        for record in _records(path)
        if record.get("type") == "user" and isinstance(record["message"]["content"], str)
    ]
    return sorted(rows, key=lambda row: int(row["timestamp"]))


def _codex_history(raw: Path) -> list[dict[str, Any]]:
    rows = []
    for path in sorted(raw.glob("*/.codex/sessions/**/*.jsonl")):
        for record in _records(path):
            text = _prompt_in(record["payload"]) if record["type"] == "event_msg" else None
            if text is not None:
                when = _milliseconds(record["timestamp"]) // 1000
                rows.append({"session_id": path.stem[-36:], "ts": when, "text": text})
    return sorted(rows, key=lambda row: int(row["ts"]))


def _prompt_in(payload: dict[str, Any]) -> str | None:
    if payload["type"] == "user_message":
        return str(payload["message"])
    item = payload.get("item", {})
    return str(item["content"][0]["text"]) if item.get("type") == "UserMessage" else None


def _records(path: Path) -> Iterator[dict[str, Any]]:
    return (json.loads(line) for line in path.read_text("utf-8").splitlines())


def _milliseconds(at: str) -> int:
    return int(datetime.fromisoformat(at).timestamp() * 1000)


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), "utf-8")


if __name__ == "__main__":
    sys.exit(main())
