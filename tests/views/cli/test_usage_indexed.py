"""`usage` with an index says what it says without one, also when the logs are gone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tracklog.model.usage import GROUPS
from tracklog.views.cli.click_app import app

DEMO = Path(__file__).parents[3] / "src" / "tracklog" / "demo"
SHAPES = [*([group] for group in GROUPS), ["session", "--uncertain"], ["daily", "--count", "last-chunk"]]


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo, with an index in `index`."""
    folder = tmp_path_factory.mktemp("homes")
    for agent in ("claude", "codex"):
        shutil.copytree(DEMO / agent, folder / agent)
    said(folder, "index", home="index")
    return folder


def said(folder: Path, *words: str, home: str) -> dict[str, Any]:
    roots = [word for agent in ("claude", "codex") for word in ("--root", str(folder / agent))]
    argv = [*words, *roots, "--home", str(folder / home), "--json"]
    result = CliRunner().invoke(app, argv, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    document: dict[str, Any] = json.loads(result.stdout)
    return document


@pytest.mark.parametrize("words", SHAPES, ids=" ".join)
def test_the_answer_is_the_same_with_an_index(homes: Path, words: list[str]) -> None:
    assert said(homes, "usage", *words, home="index") == said(homes, "usage", *words, home="none")


@pytest.mark.parametrize("words", SHAPES, ids=" ".join)
def test_logs_that_are_gone_count_as_before(homes: Path, words: list[str], tmp_path: Path) -> None:
    shutil.copytree(homes, tmp_path, dirs_exist_ok=True)
    said(tmp_path, "index", home="own")
    before = said(tmp_path, "usage", *words, home="own")
    for log in (tmp_path / "claude").rglob("*.jsonl"):
        log.unlink()
    assert said(tmp_path, "usage", *words, home="own") == before


def test_a_line_that_was_written_since_counts(homes: Path, tmp_path: Path) -> None:
    shutil.copytree(homes, tmp_path, dirs_exist_ok=True)
    said(tmp_path, "index", home="own")
    before = said(tmp_path, "usage", "daily", home="own")["total"]["requests"]
    log = next(
        path for path in sorted((tmp_path / "claude").rglob("*.jsonl")) if b'"usage"' in path.read_bytes()
    )
    line = next(
        line for line in log.read_bytes().splitlines() if b'"assistant"' in line and b'"usage"' in line
    )
    record = json.loads(line)
    record["message"]["id"], record["uuid"] = (
        "msg_01NewNewNewNewNewNewNew1",
        "00000000-0000-4000-8000-0000000000ff",
    )
    with log.open("ab") as stream:
        stream.write(json.dumps(record).encode() + b"\n")
    assert said(tmp_path, "usage", "daily", "--no-sync", home="own")["total"]["requests"] == before
    assert said(tmp_path, "usage", "daily", home="own")["total"]["requests"] == before + 1


def test_what_was_counted_is_left_for_the_status_line(homes: Path) -> None:
    said(homes, "usage", "daily", home="index")
    left = json.loads((homes / "index" / "statusline.json").read_text())
    assert set(left) == {"day", "cost_micro_usd", "block_ends_at"}
