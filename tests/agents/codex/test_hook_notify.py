"""Our line in Codex's config.toml: one line at the top, and out again to the byte."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tracklog.agents.codex.hooks import is_free, notifies, with_notify, without_notify
from tracklog.agents.hooks.command import Recorder, notify_words
from tracklog.agents.hooks.places import HookFile
from tracklog.errors import UserError
from tracklog.hooks.install import InstallOutcome, Receipts, install_notify, uninstall_notify
from tracklog.sources.settings_text import Malformed, toml_document

RECORDER = Recorder("/usr/bin/python3", '/opt/it\'s "here"/hook.py', "/home/dev/\x7f/tracklog")
WORDS = notify_words(RECORDER, "codex")
LINES = st.lists(
    st.sampled_from(
        [
            'model = "gpt"',
            "# a comment",
            "",
            "   ",
            'text = """\nnotify = ["not this one"]\n"""',
            "notify_later = true",
            "[tui]",
            'notifications = ["agent-turn-complete"]',
            '[projects."/srv/app"]',
            'trust_level = "trusted"',
            "#:schema https://example.com/schema.json",
        ]
    ),
    unique=True,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["", "\n"]), st.sampled_from(["", "\ufeff"]))
@example([], "\n", "", "")
def test_in_and_out_gives_the_same_text(lines: list[str], newline: str, end: str, bom: str) -> None:
    text = bom + newline.join(lines) + end
    new = with_notify(text, WORDS)
    assert toml_document(new) == {**toml_document(text), "notify": WORDS}
    assert notifies(new, WORDS)
    assert without_notify(new) == text


def test_the_line_goes_to_the_top_behind_what_names_the_schema() -> None:
    new = with_notify('#:schema s.json\n# mine\nmodel = "x"\n', ["/bin/sh", "-c", "x", "tracklog"])
    assert new == ('#:schema s.json\nnotify = ["/bin/sh", "-c", "x", "tracklog"]\n# mine\nmodel = "x"\n')


@pytest.mark.parametrize("text", ['notify = ["terminal-notifier"]\n', "notify = []\n"])
def test_the_place_of_others_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    assert put(path).outcome == "not free"
    assert (path.read_text(), is_free(text)) == (text, False)
    assert take(path).outcome == "was not there"
    assert path.read_text() == text


def put(path: Path, recorder: Recorder = RECORDER) -> InstallOutcome:
    place = HookFile("codex", "user", path)
    return install_notify(place, recorder=recorder, receipts=Receipts(path.parent / "home"))


def take(path: Path) -> InstallOutcome:
    return uninstall_notify(HookFile("codex", "user", path), receipts=Receipts(path.parent / "home"))


def test_a_config_that_we_made_goes_again(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    assert (put(path).outcome, put(path).outcome) == ("installed", "already there")
    assert tomllib.loads(path.read_text()) == {"notify": WORDS}
    assert take(path).outcome == "taken out"
    assert not path.exists()


def test_what_codex_writes_into_it_later_stays(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "x"\n')
    put(path)
    with path.open("a") as stream:
        stream.write('\n[hooks.state."a:stop:0:0"]\ntrusted_hash = "sha256:00"\n')
    take(path)
    assert path.read_text() == 'model = "x"\n\n[hooks.state."a:stop:0:0"]\ntrusted_hash = "sha256:00"\n'


def test_another_home_replaces_our_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "x"\n')
    put(path)
    other = RECORDER._replace(home="/elsewhere")
    assert put(path, other).outcome == "changed"
    assert tomllib.loads(path.read_text()) == {"model": "x", "notify": notify_words(other, "codex")}
    take(path)
    assert path.read_text() == 'model = "x"\n'


def test_a_line_of_ours_that_was_rewritten_is_said_and_left() -> None:
    text = 'notify = [\n  "/bin/sh",\n  "-c", "x", "tracklog",\n]\n'
    with pytest.raises(Malformed) as caught:
        without_notify(text)
    assert str(caught.value) == "line 1, column 1: our `notify` was rewritten: take it out by hand"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = 1\nb = \n", "line 2, column 5"),
        ("a = 1\na = 2\n", "line 2, column 6"),
        ('a = "', "line 1, column 6"),
    ],
)
def test_a_malformed_config_is_refused_with_its_place(text: str, place: str, tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(UserError, match=place):
        put(path)
    assert path.read_text() == text
