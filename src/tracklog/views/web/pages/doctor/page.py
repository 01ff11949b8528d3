"""The page of the doctor: checks from the index, and the last result of `tracklog doctor`.

Its bars show how much of the logs is understood: a block per agent, a bar per kind or version.

Rules
  1. No log is read for a page: the survey runs in the background, and its last result is shown with its time.
  2. The words are those of the command line, escaped; what is between backticks there is code here.
  3. A check with nothing to do counts as ok here, whatever the command line marks it with.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path, PurePath
from typing import NamedTuple
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from tracklog.app.doctor.background import SurveyState
from tracklog.app.doctor.checks import Check
from tracklog.app.doctor.coverage import READINGS, Coverage, CoverageBy, Share, shares, version_key
from tracklog.app.doctor.deletion import SOON_DAYS, DueDeletion
from tracklog.app.doctor.examine import Strange
from tracklog.app.doctor.health import Health, StoreError
from tracklog.app.hooks import hook_status
from tracklog.app.index.background import IndexStatus
from tracklog.home import tilde
from tracklog.views.html import numbers
from tracklog.views.html.legible import shown
from tracklog.views.text.numbers import moment_in_seconds
from tracklog.views.text.printing import count, percent, size
from tracklog.views.web.frame import foot_words, page
from tracklog.views.web.pages.sessions.table import address_of
from tracklog.views.web.site import Site, site_of

_STRANGE = 200
_DUE_SHOWN = 50
_NOTHING_TO_DO = "nothing to do"  # with which an advice begins that is none
_CODE = re.compile(r"(?<![^\s(])`([^`\s](?:[^`]*[^`\s])?)`(?![^\s.,;:)])")  # a path may hold backticks, too


class StrangeRow(NamedTuple):
    """An unknown kind or key."""

    agent: str
    is_known: bool  # the agent
    kind: str
    what: str
    times: int
    example: str
    address: str | None


class DueRow(NamedTuple):
    """A session that is about to be deleted."""

    id: str
    address: str | None
    at: str
    is_archived: bool


def doctor(request: Request) -> Response:
    """The page of the doctor."""
    site = site_of(request)
    survey = site.survey.state()
    found = None if survey.last is None else survey.last.found
    checks = [] if found is None else found.checks
    strange = [] if found is None else found.unknown
    broken = [] if found is None else found.broken
    known, owners, trouble = _index_of(site, [*(one.example for one in strange[:_STRANGE]), *broken])
    by: CoverageBy = "version" if request.query_params.get("by") == "version" else "kind"
    hooks = hook_status(_here(), agent=None)
    at_once = [*trouble, freshness_check(site.indexing.status()), *site.index_health.checks(known, hooks)]
    return page(
        request,
        "doctor.html",
        nav="doctor",
        at_once=list(map(_seen, at_once)),
        checks=list(map(_seen, checks)),
        remarks=to_look_at([*at_once, *checks]),
        is_spotless=all(check.state == "ok" for check in (*at_once, *checks)),
        survey=survey,
        examined_at=None if survey.last is None else moment_in_seconds(survey.last.at_ms * 1_000_000),
        survey_words=_survey_words(survey, known),
        known=known,
        troubled=[]
        if known is None
        else [(one, _raw(one.agent, one.session, one.path, None)) for one in known.troubled],
        bars=[] if found is None else bars(found.coverage, by=by),
        by=by,
        strange=[_strange(one, owners) for one in strange[:_STRANGE]],
        n_strange=len(strange),
        broken=[(shown(tilde(place)), _raw_of(place, owners)) for place in broken],
        due=[] if known is None else [_due(one) for one in known.due[:_DUE_SHOWN]],
        hooks=hooks,
        soon_days=SOON_DAYS,
        roots=site.places,
        numbers=numbers,
        shown=shown,
        worded=worded,
        tilde=tilde,
        size=size,
        percent=percent,
    )


def worded(text: str) -> Markup:
    """The words of a check as HTML."""
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(shown(text)))))


def to_look_at(checks: Iterable[Check]) -> list[str]:
    """The names of the checks that need attention."""
    return list(dict.fromkeys(check.name for check in map(_seen, checks) if check.state != "ok"))


def _seen(check: Check) -> Check:
    is_fine = check.state == "warn" and check.advice.startswith(_NOTHING_TO_DO)
    return check._replace(state="ok") if is_fine else check


def _index_of(
    site: Site, places: Iterable[str]
) -> tuple[Health | None, dict[str, tuple[str, str]], list[Check]]:
    """Figures of the index and the sessions of some logs; or a failed check, as the page must work without them."""
    try:
        known = site.index_health.at(site.now())
        return known, site.index_health.owners({place.rpartition(":")[0] for place in places}), []
    except StoreError as error:
        site.indexing.nudge()
        advice = "tracklog serve makes it anew when it can; tracklog rebuild does so at once, from logs and archive"
        return None, {}, [Check("index", "fail", str(error), advice)]


def _here() -> Path:
    """The working directory, or the home if that is gone."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return Path.home()


def _survey_words(survey: SurveyState, known: Health | None) -> str:
    if survey.began_ms is None:
        return ""
    n_bytes = sum(one.bytes for one in known.agents) if known is not None else 0
    return f"All logs are being read{f', {size(n_bytes)}' if n_bytes else ''}."


def _strange(one: Strange, owners: Mapping[str, tuple[str, str]]) -> StrangeRow:
    return StrangeRow(
        shown(one.agent or "unknown"),
        one.agent is not None,
        shown(one.kind, most=60),
        shown(one.key or one.why, most=100),
        one.count,
        shown(tilde(one.example)),
        _raw_of(one.example, owners),
    )


def _raw_of(place: str, owners: Mapping[str, tuple[str, str]]) -> str | None:
    """The address of the raw line at `path:line`."""
    path, _, line = place.rpartition(":")
    agent, session = owners.get(path, (None, None))
    return _raw(agent, session, path, line)


def _raw(agent: str | None, session: str | None, path: str, line: str | None) -> str | None:
    if agent is None or session is None:
        return None
    asked = {"file": PurePath(path).name, **({"line": line} if line else {})}
    try:
        return f"/raw/{quote(agent, safe='')}/{quote(session, safe='')}?{urlencode(asked, quote_via=quote)}"
    except UnicodeEncodeError:
        return None


def _due(one: DueDeletion) -> DueRow:
    at = moment_in_seconds(one.at_ns)
    return DueRow(shown(one.session), address_of("claude", one.session), at, one.is_archived)


WIDTH = 160  # pixels of the longest bar
_LEAST = 2.0  # width of a part that is not empty
_SHOWN = 12


class Bar(NamedTuple):
    """A bar for the lines of one kind or version."""

    name: str
    lines: int
    share: str
    size: str
    read: str | None  # None if all are read
    parts: list[tuple[str, float, float]]  # reading, start and width


class AgentBars(NamedTuple):
    """The bars of one agent."""

    agent: str
    words: str
    few: list[Bar]
    more: list[Bar]


def bars(rows: Sequence[Coverage], *, by: CoverageBy) -> list[AgentBars]:
    """Bars of how much is understood, by agent."""
    return [
        _agent_bars(agent or "unknown agent", list(group), by=by)
        for agent, group in groupby(shares(rows, by=by), key=lambda share: share.agent)
    ]


def _agent_bars(agent: str, group: list[Share], *, by: CoverageBy) -> AgentBars:
    lines, n_bytes = sum(one.all_lines for one in group), sum(one.all_bytes for one in group)
    read = sum(one.lines["read"] for one in group)
    words = f"{count(lines, 'line')}, {size(n_bytes)}, {percent(read, lines)} read"
    if by == "version":
        ordered = sorted(group, key=lambda one: version_key(one.name), reverse=True)
    else:
        ordered = sorted(group, key=lambda one: (one.lines["read"] == one.all_lines, -one.all_lines))
    largest = max((one.all_lines for one in group), default=1)
    made = [_bar(one, largest, lines) for one in ordered]
    return AgentBars(agent, words, made[:_SHOWN], made[_SHOWN:])


def _bar(share: Share, largest: int, of: int) -> Bar:
    parts, at = [], 0.0
    for reading in READINGS:
        width = share.lines[reading] * WIDTH / max(largest, 1)
        width = max(width, _LEAST) if share.lines[reading] else 0.0
        if width:
            parts.append((reading, round(at, 1), round(width, 1)))
            at += width
    read = share.lines["read"]
    return Bar(
        shown(share.name, most=60),
        share.all_lines,
        percent(share.all_lines, of),
        size(share.all_bytes),
        None if read == share.all_lines else f"{percent(read, share.all_lines)} read",
        parts,
    )


def freshness_check(status: IndexStatus) -> Check:
    """How fresh the index is that the server keeps."""
    words = foot_words(status)
    evidence = " · ".join(part for part in (words.what, words.how_far, words.why) if part)
    if status.state == "failed":
        return Check(
            "freshness", "fail", evidence, "tracklog index says more, tracklog rebuild makes a new one"
        )
    if status.problems:
        return Check(
            "freshness", "warn", f"{evidence}; {count(len(status.problems), 'problem')}: {status.problems[0]}"
        )
    return Check("freshness", "warn" if words.tone != "calm" else "ok", evidence)
