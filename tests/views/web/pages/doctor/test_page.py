"""The page of the doctor: at once what the index tells, and a moment later what the command says."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from tests.index.known_homes import claude_session, two_sessions
from tests.views.cli.command import tracklog
from tests.views.web.list_pages import got, links
from tests.views.web.read_site import site_over
from tracklog.app.doctor.background import DoctorSurvey
from tracklog.app.doctor.checks import Check
from tracklog.views.web.pages.doctor.page import doctor, to_look_at, worded
from tracklog.views.web.server.routes import unguarded_app

PATIENCE_S = 60.0
_DAY = 86_400


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, folder in (("HOME", ""), ("CLAUDE_CONFIG_DIR", ".claude"), ("CODEX_HOME", ".codex")):
        monkeypatch.setenv(name, str(tmp_path / folder))


def app_over(logs: Path, home: Path, *, reads: bool = True) -> Starlette:
    return unguarded_app(site_over(logs, home, reads=reads), [Route("/doctor", doctor)])


def when_said(app: Starlette, address: str = "/doctor") -> str:
    """The page when the survey is over."""
    until = time.monotonic() + PATIENCE_S
    while True:
        text = got(app, address)
        if "All logs are being read" not in text:
            return text
        assert time.monotonic() < until
        time.sleep(0.1)


def strange_home(top: Path) -> Path:
    """A home with an unknown kind and a broken line in it; the path of that log."""
    made = two_sessions(top)
    log = next(path for path in made.logs() if path.name == f"{claude_session(1).session}.jsonl")
    with open(log, "ab") as stream:
        stream.write(b'{"type":"brand-<new>","sessionId":"x","uuid":"u"}\n{"type": torn\n')
    return log


def test_an_index_that_cannot_be_used_is_what_the_doctor_tells_of(tmp_path: Path) -> None:
    two_sessions(tmp_path)
    app = app_over(tmp_path, tmp_path / "home")
    (tmp_path / "home" / "index.db").write_bytes(b"no database, but long enough to be one" * 1_000)
    text = got(app, "/doctor")
    assert '<tr class="is-fail">' in text
    assert "tracklog rebuild" in text


def test_where_nothing_was_read_no_share_is_claimed(tmp_path: Path) -> None:
    app = app_over(tmp_path, tmp_path / "home")
    text = got(app, "/doctor")
    assert "nothing read yet" in text
    assert "100 %" not in text
    app.state.site.survey.close()


def test_the_first_answer_waits_for_no_log_and_tells_what_the_index_knows(tmp_path: Path) -> None:
    strange_home(tmp_path)
    app = app_over(tmp_path, tmp_path / "home")
    text = got(app, "/doctor")
    assert "All logs are being read" in text
    assert "1 unknown, 1 broken" in text
    assert "none: nothing is sent anywhere" in text
    assert "No hooks." in text
    app.state.site.survey.close()


def test_the_checks_are_those_of_the_command_word_for_word(tmp_path: Path) -> None:
    strange_home(tmp_path)
    app = app_over(tmp_path, tmp_path / "home")
    text = when_said(app)
    said = tracklog("doctor", "--json", "--root", tmp_path, "--home", tmp_path / "home", home=tmp_path).json
    assert len(said["checks"]) > 10
    for check in said["checks"]:
        if check["name"] != "live":  # how many folders are watched
            assert f'<th scope="row">{check["name"]}</th>\n<td><bdi>{check["evidence"]}' in text, check
    assert said["unknown"][0]["kind"] in ("brand-<new>", "user", "assistant")


def test_what_needs_nothing_to_be_done_is_nothing_to_look_at(tmp_path: Path) -> None:
    two_sessions(tmp_path)
    (tmp_path / "notes.jsonl").write_text('{"note": 1}\n{"note": 2}\n')
    app = app_over(tmp_path, tmp_path / "home")
    text = when_said(app)
    (row,) = re.findall(r'<tr class="is-(\w+)">(?:(?!</tr>).)*unknown agents(.*?)</tr>', text, re.DOTALL)
    assert row[0] == "ok"
    assert "nothing to do: every line is kept, and is <code>unknown</code>" in row[1]
    summary = text[text.index("<h1>Doctor") : text.index('<section aria-labelledby="h-now"')]
    assert "unknown agents" not in summary


@pytest.mark.parametrize(
    ("checks", "names"),
    [
        ([Check("a", "ok", ""), Check("b", "warn", "", "nothing to do: all is kept")], []),
        (
            [
                Check("a", "warn", "", "do it"),
                Check("b", "fail", "", "nothing to do"),
                Check("a", "fail", ""),
            ],
            ["a", "b"],
        ),
        ([Check("a", "warn", "no advice")], ["a"]),
    ],
)
def test_to_look_at_is_what_asks_for_something(checks: list[Check], names: list[str]) -> None:
    assert to_look_at(checks) == names


@pytest.mark.parametrize(
    ("words", "html"),
    [
        ("run `tracklog index`, or not", "run <code>tracklog index</code>, or not"),
        ("`<b>` & `x`", "<code>&lt;b&gt;</code> &amp; <code>x</code>"),
        ("a `<script>alert(1)</script>` b", "a <code>&lt;script&gt;alert(1)&lt;/script&gt;</code> b"),
        ("/logs/a`b`c.jsonl and ` and `` and ` x `", "/logs/a`b`c.jsonl and ` and `` and ` x `"),
        ("\u202eodd `\u202e`", "⟨U+202E⟩odd <code>⟨U+202E⟩</code>"),
    ],
)
def test_words_between_backticks_are_code_and_nothing_else_is_html(words: str, html: str) -> None:
    assert worded(words) == html


def test_unknown_kinds_and_broken_lines_lead_to_the_raw_line(tmp_path: Path) -> None:
    log = strange_home(tmp_path)
    app = app_over(tmp_path, tmp_path / "home")
    text = when_said(app)
    n = len(log.read_bytes().splitlines())
    session = claude_session(1).session
    assert "brand-&lt;new&gt;" in text
    assert "<new>" not in text
    assert f"/raw/claude/{session}?file={log.name}&line={n - 1}" in links(text)
    assert f"/raw/claude/{session}?file={log.name}&line={n}" in links(text)


def test_coverage_is_drawn_by_kind_or_by_version(tmp_path: Path) -> None:
    strange_home(tmp_path)
    app = app_over(tmp_path, tmp_path / "home")
    by_kind = when_said(app)
    assert '<rect class="bar-broken"' in by_kind
    assert "<bdi>assistant</bdi>" in by_kind
    by_version = got(app, "/doctor?by=version")
    assert "<bdi>2.1.197</bdi>" in by_version
    assert "style=" not in by_version


def test_sessions_that_are_soon_deleted_are_listed_with_what_the_archive_has(tmp_path: Path) -> None:
    made = two_sessions(tmp_path)
    log = next(path for path in made.logs() if path.name == f"{claude_session(1).session}.jsonl")
    old = time.time() - 27 * _DAY
    os.utime(log, (old, old))
    app = app_over(made.claude, tmp_path / "home")
    text = got(app, "/doctor")
    assert "Soon deleted" in text
    assert f"/s/claude/{claude_session(1).session}" in links(text)
    assert "Claude Code deletes 1 session within 7 days" in text
    assert "; the archive has them all" in text
    app.state.site.survey.close()


def test_hooks_are_told_and_why_they_do_not_run(tmp_path: Path) -> None:
    strange_home(tmp_path)
    settings = tmp_path / ".claude/settings.json"
    settings.write_text(
        '{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo <b>"}]}]}}'
    )
    app = app_over(tmp_path, tmp_path / "home")
    text = got(app, "/doctor")
    assert "echo &lt;b&gt;" in text
    assert "no: disableAllHooks" in text
    app.state.site.survey.close()


def test_the_folder_in_which_the_server_was_started_may_be_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_over(two_sessions(tmp_path).top, tmp_path / "home")
    started = tmp_path / "started"
    started.mkdir()
    monkeypatch.chdir(started)
    started.rmdir()
    assert "It could not look" not in when_said(app)


def test_without_an_index_the_doctor_still_answers(tmp_path: Path) -> None:
    strange_home(tmp_path)
    app = app_over(tmp_path, tmp_path / "home", reads=False)
    text = when_said(app)
    assert "not made yet: every answer is read from the logs" in text


def test_it_does_not_look_again_within_minutes(tmp_path: Path) -> None:
    strange_home(tmp_path)
    app = app_over(tmp_path, tmp_path / "home")
    when_said(app)
    survey: DoctorSurvey = app.state.site.survey
    first = survey.state()
    assert first.last is not None
    assert survey.state() is first
    survey._again_at = 0.0
    again = survey.state()
    assert again.last is first.last
    assert again.began_ms is not None
    survey.close()


def test_a_look_that_fails_says_why_and_keeps_what_was_said_before(tmp_path: Path) -> None:
    strange_home(tmp_path)
    app = app_over(tmp_path, tmp_path / "home")
    when_said(app)
    survey: DoctorSurvey = app.state.site.survey
    survey._command = [survey._command[0], "-c", "import sys; sys.exit('the disk is on fire <b>')"]
    survey._again_at = 0.0
    survey.state()
    text = when_said(app)
    assert "It could not look: the disk is on fire &lt;b&gt;" in text
    assert '<th scope="row">homes</th>' in text
