"""What the doctor can tell at once, without a look at the logs; in the same form as the checks of the command line."""

from __future__ import annotations

from tracklog.live.hook_status import Status
from tracklog.pipeline.health import SOON_DAYS, Health
from tracklog.views.cli.check import Check
from tracklog.views.cli.printing import count, percent, size
from tracklog.views.html.plain import shown
from tracklog.views.web.foot_words import foot_words
from tracklog.views.web.indexing import IndexStatus

_NAMED = 5


def checks_at_once(status: IndexStatus, known: Health | None, hooks: Status) -> list[Check]:
    """What needs no look at the logs."""
    found = [_freshness(status)]
    if known is not None:
        found += [_understood(known), _archive(known), _due_check(known), _prices(known)]
    return [
        *found,
        _hooks(hooks),
        Check("network", "ok", "none: nothing is sent anywhere, nothing is fetched"),
    ]


def _freshness(status: IndexStatus) -> Check:
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


def _understood(known: Health) -> Check:
    """Of agents that we do not know everything is unknown: that says nothing about the others."""
    ours = [one for one in known.agents if one.agent is not None]
    pieces, unknown, broken = (
        sum(getattr(one, name) for one in ours) for name in ("pieces", "unknown", "broken")
    )
    if not pieces:
        return Check("understood", "ok", "nothing read yet")
    files = count(sum(one.files for one in ours), "file")
    evidence = f"{percent(pieces - unknown - broken, pieces)} of {count(pieces, 'record')} in {files}"
    if not unknown and not broken:
        return Check("understood", "ok", evidence)
    found = f"{evidence}; {unknown:,} unknown, {broken:,} broken"
    return Check("understood", "warn", found, "they are listed below, and kept")


def _archive(known: Health) -> Check:
    sums = known.archive
    if not sums.logs:
        return Check(
            "archive",
            "warn",
            "holds nothing: a session that is deleted is gone",
            "tracklog index keeps copies",
        )
    share = percent(sums.stored_bytes, sums.contents_bytes)
    return Check(
        "archive",
        "ok",
        f"{count(sums.logs, 'log')} in {size(sums.stored_bytes)}, {share} of them; {sums.only_here:,} only here",
    )


def _due_check(known: Health) -> Check:
    lost = [one for one in known.due if not one.is_archived]
    if not known.due:
        return Check("deletion", "ok", f"nothing within {SOON_DAYS} days")
    evidence = f"{count(len(known.due), 'session')} within {SOON_DAYS} days"
    if not lost:
        return Check("deletion", "ok", f"{evidence}; the archive has them all")
    return Check(
        "deletion",
        "warn",
        f"{evidence}; {len(lost):,} of them not in the archive",
        "tracklog index keeps copies of them",
    )


def _prices(known: Health) -> Check:
    if not known.unpriced:
        return Check("prices", "ok", "every model that answered has one")
    named = ", ".join(f"{shown(model, most=60)} ({n:,})" for model, n in known.unpriced[:_NAMED])
    more = f" and {len(known.unpriced) - _NAMED:,} more" if len(known.unpriced) > _NAMED else ""
    return Check(
        "prices",
        "warn",
        f"none for {named}{more}: what these cost is missing",
        "tracklog prices --help says how to set one",
    )


def _hooks(hooks: Status) -> Check:
    ours = [hook for hook in hooks.hooks if hook.ours]
    running = [hook for hook in ours if hook.why_not is None]
    if not ours:
        return Check(
            "hooks",
            "ok",
            "none of ours: states are read from logs and processes",
            "tracklog hooks install makes them exact",
        )
    agents = ", ".join(sorted({hook.agent for hook in running}))
    if len(running) < len(ours):
        why = next(hook.why_not for hook in ours if hook.why_not) or ""
        return Check(
            "hooks", "warn", f"{count(len(ours) - len(running), 'hook')} of ours do not run: {shown(why)}"
        )
    return Check("hooks", "ok", f"{count(len(ours), 'hook')} of ours in {agents}")
