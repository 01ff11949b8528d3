"""Makes large logs of coding agents, like real ones and the same for a seed, in the layout of their homes.

    python bench/make_logs.py [--mb 200] [--seed 1] [--out DIR] [--agent claude|codex|both]

    DIR/claude/projects/<slug>/<session>.jsonl, <session>/subagents/agent-*.jsonl and .meta.json
    DIR/codex/sessions/YYYY/MM/DD/rollout-*.jsonl
    DIR/made.json    what stands in them: files, bytes, lines, requests, tokens

Measured against real logs: lines of 3 to 5 KB at the mean with some over 100 KB; zstd -3 makes them five times smaller.
No text is taken from anywhere: words and templates are in bench/made.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it also runs as a file

from bench.made import claude, codex
from bench.made.dice import Dice
from bench.made.tally import Tally
from bench.made.words import Words

ROOT = Path(__file__).resolve().parents[1]
WRITERS: dict[str, Callable[..., None]] = {"claude": claude.write_session, "codex": codex.write_thread}
SHARES = {"claude": {"claude": 1.0}, "codex": {"codex": 1.0}, "both": {"claude": 0.85, "codex": 0.15}}
_LEAST, _MOST = 150_000, 24_000_000  # bytes of a session


def make_logs(out: Path, *, n_bytes: int, seed: int, agent: str = "both") -> dict[str, Tally]:
    """Fills `out` with homes of about `n_bytes`; returns what was written, by agent."""
    words = Words(seed)
    shares = SHARES[agent]
    made = {
        name: _make_home(out / name, words, n_bytes=int(n_bytes * share), seed=seed)
        for name, share in shares.items()
    }
    report = {name: asdict(tally) for name, tally in made.items()}
    (out / "made.json").write_text(json.dumps({"seed": seed, **report}, indent=1) + "\n", encoding="utf-8")
    return made


def _make_home(home: Path, words: Words, *, n_bytes: int, seed: int) -> Tally:
    write, tally, index = WRITERS[home.name], Tally(), 0
    most = min(_MOST, n_bytes // 8)  # a small home has several sessions too
    while tally.n_bytes < n_bytes:
        dice = Dice(f"{seed}/{home.name}/{index}")
        size = min(max(most, _LEAST), dice.tailed(_LEAST, _MOST), n_bytes - tally.n_bytes)
        write(home, dice, words, index=index, n_bytes=size, tally=tally)
        index += 1
    return tally


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Makes large, realistic logs of coding agents.")
    parser.add_argument("--mb", type=float, default=200, help="how many megabytes, about (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="same seed, same bytes (default: 1)")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "bench" / "out", help="a new or empty folder (default: bench/out)"
    )
    parser.add_argument("--agent", choices=tuple(SHARES), default="both")
    return parser.parse_args()


def main() -> int:
    """Makes the logs and says what they hold."""
    asked = _arguments()
    asked.out.mkdir(parents=True, exist_ok=True)
    if any(asked.out.iterdir()):
        print(f"make_logs: {asked.out} is not empty; name a new folder with --out", file=sys.stderr)
        return 2
    gc.disable()  # nothing here is cyclic, and the pools would be walked again and again
    began = time.perf_counter()
    made = make_logs(asked.out, n_bytes=int(asked.mb * 1_000_000), seed=asked.seed, agent=asked.agent)
    took = time.perf_counter() - began
    for name, tally in made.items():
        print(
            f"{name:7} {tally.n_bytes / 1e6:8.1f} MB  {tally.files:5} files  {tally.lines:7} lines  {tally.requests:6} requests"
        )
    total = sum(tally.n_bytes for tally in made.values()) / 1e6
    print(f"{total:.1f} MB in {took:.1f} s, {total / took:.0f} MB/s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
