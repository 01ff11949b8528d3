"""Drives many children: asks for answers, shows how far they are, and obeys signals.

Rules of this room
  1. A signal ends all children gently, a second one at once; in either case what was answered is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field

from tracklog.run.many import Answer, Many
from tracklog.run.results import INTERRUPTED, LIMIT, SUCCESS
from tracklog.views.cli.ending import NOT_FINE
from tracklog.views.cli.run_many_lines import Progress, Tally
from tracklog.views.cli.run_signals import signals_heard

_LIMITS = ("timeout", "budget")


@dataclass
class Done:
    """What drive has seen."""

    cut_off: list[Answer] = field(default_factory=list)
    is_interrupted: bool = False


def drive(many: Many, tally: Tally, *, take: Callable[[Answer], None]) -> Done:
    """Asks for all answers, shows how far they are, and hands over those that count."""
    done, progress = Done(), Progress(many, tally)
    with signals_heard() as heard, closing(many.answers()) as answers:
        for answer in answers:
            if heard:
                heard.clear()
                done.is_interrupted = True
                many.cancel()
            if answer is None:
                progress.tick()
            elif answer.is_left:
                done.cut_off.append(answer)
            else:
                tally.take(answer)
                progress.clear()
                take(answer)
                progress.tell(answer)
        progress.clear()
        done.is_interrupted |= bool(heard)
    return done


def exit_code(ended: Sequence[str], *, is_interrupted: bool, is_out_of_money: bool) -> int:
    """0 if all are completed; 124 if a limit was all that stood in the way; 130 if we were ended."""
    if is_interrupted:
        return INTERRUPTED
    failed = [how for how in ended if how != "completed"]
    if is_out_of_money or (failed and all(how in _LIMITS for how in failed)):
        return LIMIT
    return NOT_FINE if failed else SUCCESS
