from __future__ import annotations

from pathlib import Path

import click
import pytest

from tracklog.views.cli.app import COMMANDS, app, load
from tracklog.views.cli.reference import reference

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"


def test_the_page_on_the_command_line_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: python -m tracklog.views.cli.reference > docs/cli.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_begins_its_help_with_the_line_that_lists_it(name: str) -> None:
    help_text = load(name).help or ""
    assert help_text.splitlines()[0] == COMMANDS[name][1]
    assert len(help_text.split("\n\n")) > 1


@pytest.mark.parametrize("name", [None, *COMMANDS])
def test_every_option_says_what_it_does(name: str | None) -> None:
    command = load(name) if name else app
    silent = [one.name for one in command.params if isinstance(one, click.Option) and not one.help]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_json_and_home(name: str) -> None:
    spelled = {word for one in load(name).params for word in one.opts}
    assert {"--json", "--home"} <= spelled
