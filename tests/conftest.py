"""Signals that whoever started the tests ignores (`nohup`, a job in the background) are heard by what the tests start."""

from __future__ import annotations

import signal

for _number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
    if signal.getsignal(_number) == signal.SIG_IGN:  # which children take over; a handler they do not
        signal.signal(_number, lambda *_: None)
