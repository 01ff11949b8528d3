"""Forked reader processes that take work from a common pile and send what they found to the writer.

Rules
  1. Pieces of work are numbered and taken in order: whoever is free takes the next.
  2. A message is sent whole. A thread takes it in while the caller works; a reader that is far ahead waits, so memory
     stays bounded.
  3. A reader that dies is said to have died; what it had not finished is for the caller to do.
"""

from __future__ import annotations

import os
import selectors
import struct
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from threading import Condition, Thread

Send = Callable[[bytes], None]
Work = Callable[[int, Send], None]
_NUMBER = struct.Struct("<i")
_LENGTH = struct.Struct("<q")
_MOST = 1000  # numbers that fit into the smallest pipe
AHEAD_BYTES = 24 << 20  # that readers may be ahead


def messages_of(n: int, work: Work, *, n_readers: int = 2) -> Iterator[bytearray]:
    """What `work(number, send)` sends for each number below `n`, from several processes, in the order of arrival."""
    if n == 0:
        return
    pile = _Pile(n)
    with ExitStack() as stack:
        stack.callback(pile.close)
        readers = [_Reader(pile, work) for _ in range(min(n_readers, n))]
        for reader in readers:
            stack.callback(reader.close)
        arrived = _Arrived()
        receiving = Thread(target=_receive, args=(readers, arrived), daemon=True)
        receiving.start()
        stack.callback(receiving.join)
        stack.callback(arrived.close)
        while (message := arrived.take()) is not None:
            yield message


class _Arrived:
    """Messages that wait to be taken; a reader that brings more than AHEAD_BYTES of them waits, too."""

    def __init__(self) -> None:
        self._waiting: deque[bytearray | None] = deque()
        self._n_bytes = 0
        self._changed = Condition()
        self._is_closed = False

    def put(self, message: bytearray | None) -> bool:
        """Add a message, None behind the last one; return whether there is still a taker."""
        with self._changed:
            while self._n_bytes > AHEAD_BYTES and not self._is_closed:
                self._changed.wait()
            self._waiting.append(message)
            self._n_bytes += len(message or b"")
            self._changed.notify_all()
            return not self._is_closed

    def take(self) -> bytearray | None:
        """The next message; None behind the last one."""
        with self._changed:
            while not self._waiting:
                self._changed.wait()
            message = self._waiting.popleft()
            self._n_bytes -= len(message or b"")
            self._changed.notify_all()
            return message

    def close(self) -> None:
        """Nobody takes any more."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()


def _receive(readers: list[_Reader], arrived: _Arrived) -> None:
    """Takes in what the readers send, beside the work of who takes it: they need not wait for that."""
    with selectors.DefaultSelector() as waiting:
        for reader in readers:
            waiting.register(reader.receiving, selectors.EVENT_READ, reader)
        while waiting.get_map():
            for key, _ in waiting.select():
                reader = key.data
                if (message := reader.received()) is not None and not arrived.put(message):
                    return
                if reader.is_done:
                    waiting.unregister(reader.receiving)
    arrived.put(None)


class _Pile:
    """Numbers in a pipe, some at a time: a read takes them away from everybody."""

    def __init__(self, n: int) -> None:
        step = -(-n // _MOST)
        self._batches = [range(first, min(first + step, n)) for first in range(0, n, step)]
        self._reading, writing = os.pipe()
        os.write(writing, b"".join(_NUMBER.pack(at) for at in range(len(self._batches))))
        os.close(writing)

    def next(self) -> range:
        token = os.read(self._reading, _NUMBER.size)
        return self._batches[_NUMBER.unpack(token)[0]] if len(token) == _NUMBER.size else range(0)

    def close(self) -> None:
        os.close(self._reading)


class _Reader:
    """A process that works, and what has arrived from it."""

    def __init__(self, pile: _Pile, work: Work) -> None:
        self.receiving, sending = os.pipe()
        self.is_done = False
        self._part = bytearray(_LENGTH.size)  # what is being received
        self._missing = memoryview(self._part)  # the rest of it
        self._is_length = True  # of the message that follows
        self._pid = os.fork()
        if self._pid == 0:
            _live(pile, work, self.receiving, sending)
        os.close(sending)

    def received(self) -> bytearray | None:
        """Receive what has arrived, at its place in the message; return the message, if that was the rest of it."""
        n = os.readv(self.receiving, [self._missing])
        self.is_done = n == 0
        self._missing = self._missing[n:]
        if self.is_done or self._missing:
            return None
        if self._is_length and (length := _LENGTH.unpack(self._part)[0]):
            self._begin_part(length, is_length=False)
            return None
        whole = bytearray() if self._is_length else self._part
        self._begin_part(_LENGTH.size, is_length=True)
        return whole

    def _begin_part(self, n_bytes: int, *, is_length: bool) -> None:
        self._is_length = is_length
        self._part = bytearray(n_bytes)
        self._missing = memoryview(self._part)

    def close(self) -> None:
        os.close(self.receiving)  # if it still works, it ends when it wants to send
        os.waitpid(self._pid, 0)


def _live(pile: _Pile, work: Work, receiving: int, sending: int) -> None:
    """The life of a reader. It ends here whatever happens; a broken pipe means that nobody waits any more."""
    status = 1
    try:
        os.close(receiving)
        while numbers := pile.next():
            for number in numbers:
                work(number, lambda message: _send(sending, message))
        status = 0
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    finally:
        os._exit(status)


def _send(sending: int, message: bytes) -> None:
    for part in (_LENGTH.pack(len(message)), message):
        view = memoryview(part)
        while view:
            view = view[os.write(sending, view) :]
