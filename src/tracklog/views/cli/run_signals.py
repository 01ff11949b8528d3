"""Signals while children run: they are noted, and obeyed when nothing is in our hands that could be lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def signals_heard() -> Iterator[list[int]]:
    """The signals that came, in place of their obeying."""
    heard: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return
    meant = [
        number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN
    ]  # `nohup` stays in force
    before = {number: signal.signal(number, lambda number, _frame: heard.append(number)) for number in meant}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
