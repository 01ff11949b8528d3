"""A root full of traps: an answer in seconds, bounded memory, and the rest of the root is read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

GOOD = b'{"type":"mode","mode":"normal","sessionId":"s"}\n'
SURVEY = """
import json, resource, sys
from pathlib import Path
from tracklog.agents.registry import identified
from tracklog.reading.survey import survey
from tracklog.reading.verify import verify
from tracklog.sources.log_file import LogFile
from tracklog.agents.discovery import find_at

def peak_kb():
    # getrusage counts in what the parent held when it started us: asked only where nothing else tells
    if not Path("/proc/self/status").exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))


found = list(find_at(Path(sys.argv[1])))
files = [identified(file) for file in found if isinstance(file, LogFile)]
rows = {}
for row in survey(files).coverage:
    rows[f"{row.reading} {row.kind}"] = rows.get(f"{row.reading} {row.kind}", 0) + row.lines
print(json.dumps({
    "rows": rows,
    "identical": all(verify(file).identical for file in files),
    "skipped": sorted(skip.path.name for skip in found if not isinstance(skip, LogFile)),
    "peak_kb": peak_kb(),
}))
"""


def make_traps(root: Path) -> None:
    (root / "nested.jsonl").write_bytes(GOOD + b"[" * 1_000_000 + b"\n" + GOOD)
    with (root / "long.jsonl").open("wb") as stream:
        stream.write(GOOD + b'{"type":"user","sessionId":"s","uuid":"big","message":{"content":"')
        for _ in range(300):
            stream.write(b"x" * 1_000_000)
        stream.write(b'"}}\n' + GOOD)
    with (root / "nuls.jsonl").open("wb") as stream:
        stream.write(GOOD)
        stream.seek(100_000_000, os.SEEK_CUR)
        stream.write(GOOD)
    os.mkfifo(root / "fifo.jsonl")
    (root / "loop").symlink_to(root)
    (root / "self.jsonl").symlink_to(root / "self.jsonl")
    (root / "good.jsonl").write_bytes(GOOD * 3)


def test_a_root_full_of_traps_is_answered_in_bounded_time_and_memory(tmp_path: Path) -> None:
    make_traps(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", SURVEY, str(tmp_path)], capture_output=True, text=True, timeout=120, check=True
    )
    answer = json.loads(done.stdout)
    assert answer.pop("peak_kb") < 200_000  # its own peak: getrusage would count in the parent's
    assert answer == {
        "rows": {"read mode": 9, "broken broken": 2, "unknown user": 1},
        "identical": True,
        "skipped": ["fifo.jsonl", "loop", "self.jsonl"],
    }
