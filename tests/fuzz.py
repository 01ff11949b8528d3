"""Throws damaged lines at the readers for a while: `python -m tests.fuzz [--seconds 60] [--seed N]`.

Finds what the property tests have no time for: anything that raises, loses a byte or takes too long. A failing input is
printed so that it can become a test.
"""

from __future__ import annotations

import argparse
import random
import sys
import time

from tests.contracts.logs import READERS, lines_of
from tracklog.sources.lines import cut

_SLOW_S = 5.0
_TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b",",
    b":",
    b"\\",
    b"\0",
    b"\n",
    b"\xff",
    b"null",
    b"1e400",
    b'"type":',
    b"}{",
]


def damage(dice: random.Random, raw: bytes) -> bytes:
    """One line, damaged some times over."""
    body = bytearray(raw)
    for _ in range(dice.randint(1, 8)):
        at = dice.randint(0, len(body))
        match dice.randint(0, 4):
            case 0:
                del body[at : at + dice.randint(1, 300)]
            case 1:
                body[at:at] = dice.choice(_TOKENS) * dice.choice([1, 1, 2, 50, 3000])
            case 2:
                body[at : at + 1] = dice.randbytes(1)
            case 3:
                piece = body[at : at + dice.randint(1, 200)]
                body[at:at] = piece * dice.choice([1, 2, 30])
            case _:
                body[at:] = raw[dice.randint(0, len(raw)) :]
    return bytes(body)


def check(agent: str, log: bytes) -> str:
    """What is wrong with reading these bytes; empty if nothing is."""
    began = time.monotonic()
    lines = list(cut([log]))
    if b"".join(bytes(line.nuls) + line.raw + b"\n" * line.ended for line in lines) != log:
        return "bytes were lost by cutting"
    drift = READERS[agent].drift()
    for piece in READERS[agent].read(lines):
        if piece.raw and log[piece.offset : piece.offset + piece.length] != piece.raw:
            return f"piece at {piece.offset} does not stand on its bytes"
        drift.strays(piece)
    took = time.monotonic() - began
    return f"took {took:.1f} s" if took > _SLOW_S else ""


def main() -> int:
    """Runs until the time is up or something is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=None)
    asked = parser.parse_args()
    seed = asked.seed if asked.seed is not None else random.SystemRandom().randrange(10**9)
    dice = random.Random(seed)
    pools = {agent: lines_of(agent) for agent in READERS}
    end, n_tries = time.monotonic() + asked.seconds, 0
    while time.monotonic() < end:
        agent = dice.choice(list(pools))
        log = b"\n".join(damage(dice, dice.choice(pools[agent])) for _ in range(3))
        n_tries += 1
        if wrong := check(agent, log):
            print(f"{agent}: {wrong}\n{log!r}")
            return 1
    print(f"{n_tries} damaged logs read, nothing found (seed {seed})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
