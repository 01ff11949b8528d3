"""What the server costs: its start until all is indexed and every page was shown once, then idling, then each page.

    python -m bench.scaling_pages DIR

Prints a line for each: name, seconds of CPU time, and bytes of peak memory, which is only known for the whole.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psutil

from tests.browser.serving import Homes, Served, serving

_TIMES = 10  # the system counts CPU time in hundredths of a second
_IDLE_S = 3.0
_PATIENCE_S = 600


def measure(top: Path) -> Iterator[tuple[str, float, int]]:
    """The costs of a server for the homes in a folder; of its memory only the peak is known."""
    with serving(Homes(top)) as served:
        process = psutil.Process(served.process.pid)
        served.wait_until_indexed(_PATIENCE_S)
        paths = _paths(served)
        for path in paths.values():
            _ask(served, path)
        yield "serve: start, every page once", _cpu_s(process), _peak_bytes(process)
        time.sleep(_IDLE_S)  # until it has done what these pages made it do
        began = _cpu_s(process)
        time.sleep(_IDLE_S)
        yield "serve: idle", _cpu_s(process) - began, 0
        for name, path in paths.items():
            began = _cpu_s(process)
            for _ in range(_TIMES):
                _ask(served, path)
            yield f"{_TIMES} × {name}", _cpu_s(process) - began, 0


def _paths(served: Served) -> dict[str, str]:
    last = served.api("sessions?limit=1")["sessions"][0]
    session = f"{last['agent']}/{quote(last['id'], safe='')}"
    pages = [
        "/",
        "/_/board",
        "/_/board?all=1",
        "/sessions",
        "/sessions?sort=cost",
        "/calls",
        "/calls?verdict=error",
    ]
    pages += ["/search?q=the+OR+done", "/_/search?q=the+OR+done", "/_/palette?q=done", "/_/foot", "/doctor"]
    inside = {
        "page": "",
        "rows": "/rows?from=1&n=100",
        "turns": "/turns",
        "find": "/find?q=done",
        "now": "/now",
    }
    questions = [
        "sessions",
        "calls",
        "usage",
        "usage/session",
        "usage/tool",
        "search?q=the+OR+done",
        "top?all=1",
        "places",
    ]
    about_one = [f"{name}/{last['id']}" for name in ("show", "calls", "agents", "graph")]
    return {
        **{page: page for page in pages},
        **{f"session, {name}": f"{'/_' if tail else ''}/s/{session}{tail}" for name, tail in inside.items()},
        **{f"/api/v1/{name.partition('/' + last['id'])[0]}": f"/api/v1/{name}" for name in questions},
        **{f"/api/v1/{name.partition('/')[0]}/ID": f"/api/v1/{name}" for name in about_one},
    }


def _ask(served: Served, path: str) -> None:
    status, _, body = served.ask(path)
    if status != 200:
        raise SystemExit(f"bench.scaling: {path} answered {status}: {body[:200]!r}")


def _cpu_s(process: psutil.Process) -> float:
    """Of the server and the processes that it has waited for."""
    used = process.cpu_times()
    return used.user + used.system + used.children_user + used.children_system


def _peak_bytes(process: psutil.Process) -> int:
    status = Path(f"/proc/{process.pid}/status")
    if not status.exists():
        return int(process.memory_info().rss)
    peak = next(
        line for line in status.read_text("ascii", "replace").splitlines() if line.startswith("VmHWM:")
    )
    return int(peak.split()[1]) * 1024


if __name__ == "__main__":
    for row in measure(Path(sys.argv[1])):
        print(json.dumps(row), flush=True)
