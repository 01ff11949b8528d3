"""What tracklog itself answers about a folder, through its own command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from tests.oracle.truth import NOTHING, Count, HiddenSpent, Said, Sum
from tracklog.views.cli.commands.money.usage import usage

Json = dict[str, Any]


def tracklog_says(home: Path, *, zones: tuple[str, ...] = ()) -> Said:
    """The whole answer; the days of some zones besides UTC if asked for."""
    sessions = ask(home, "session")
    models = {row["key"]: count_in(row) for row in ask(home, "model")["rows"]}
    total = sessions["total"]
    return Said(
        sum_in(total),
        {row["key"]: own for row in sessions["rows"] if (own := sum_in(row)) != Sum()},
        {row["key"]: sum_in(row) for row in ask(home, "daily")["rows"]},
        {model: count for model, count in models.items() if count != NOTHING},
        sorted(hidden_in(row) for row in sessions["hidden"]),
        total["stated_cost_micro_usd"],
        {
            zone: {row["key"]: row["output_tokens"] for row in ask(home, "daily", zone=zone)["rows"]}
            for zone in zones
        },
    )


def ask(home: Path, group: str, *, zone: str = "UTC", rule: str = "ours") -> Json:
    """One document of `tracklog usage`."""
    roots = [
        word for name in (".claude", ".codex") if (home / name).is_dir() for word in ("--root", home / name)
    ]
    roots = roots or ["--root", home]
    words = [group, "--json", "--zone", zone, "--count", rule, "--home", home / "tracklog", *roots]
    done = CliRunner().invoke(usage, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    found: Json = json.loads(done.stdout)
    return found


def sum_in(row: Json) -> Sum:
    """A row of a report."""
    return Sum(row["requests"], row["partial_requests"], row["missing_requests"], count_in(row))


def count_in(row: Json) -> Count:
    """The tokens of a row."""
    return Count(
        input=row["input_tokens"],
        output=row["output_tokens"],
        write=row["cache_write_tokens"],
        read=row["cache_read_tokens"],
        write_5m=row["cache_write_5m_tokens"],
        write_1h=row["cache_write_1h_tokens"],
        reasoning=row["reasoning_tokens"],
        searches=row["web_searches"],
    )


def hidden_in(row: Json) -> HiddenSpent:
    """A row of what is hidden, but for how long its writes were kept; [1m] is a way to ask the same model."""
    count = count_in(row["detail"])._replace(write_5m=0, write_1h=0)
    return HiddenSpent(row["session"], row["model"].removesuffix("[1m]"), count)
