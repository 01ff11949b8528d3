from __future__ import annotations

from pathlib import Path

import click
import pytest

from tracklog.views.cli.click_app import COMMANDS, app, load
from tracklog.views.cli.reference import commands, reference

PAGE = Path(__file__).parents[3] / "docs" / "cli.md"


def test_the_page_on_the_command_line_is_fresh() -> None:
    assert PAGE.read_text("utf-8") == reference(), "run: python -m tracklog.views.cli.reference > docs/cli.md"


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_begins_its_help_with_the_line_that_lists_it(name: str) -> None:
    help_text = load(name).help or ""
    assert help_text.splitlines()[0] == COMMANDS[name][1]
    assert len(help_text.split("\n\n")) > 1


ALL = list(commands())
NAMED = [pytest.param(command, id=name) for name, command in ALL]
WORKING = [pytest.param(command, id=name) for name, command in ALL if not isinstance(command, click.Group)]


def test_the_page_has_a_section_for_every_command_and_for_those_within_it() -> None:
    headings = [line[3:] for line in reference().splitlines() if line.startswith("## tracklog")]
    assert headings == ["tracklog", *(f"tracklog {name}" for name, _ in ALL)]
    assert {"tracklog hooks", "tracklog hooks install", "tracklog hooks status"} < set(headings)


@pytest.mark.parametrize("command", [pytest.param(app, id="tracklog"), *NAMED])
def test_every_option_says_what_it_does(command: click.Command) -> None:
    silent = [one.name for one in command.params if isinstance(one, click.Option) and not one.help]
    assert silent == []


@pytest.mark.parametrize("command", WORKING)
def test_every_command_takes_json_and_home(command: click.Command) -> None:
    spelled = {word for one in command.params for word in one.opts}
    assert {"--json", "--home"} <= spelled
