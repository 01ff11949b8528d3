"""From the start of a server to the first page that is of use, on logs that were never read before.

Of use is a page that lists sessions, each with its title: here `/sessions`, in agentsview what fills its list.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.serving import Homes, free_port, serving

_PATIENCE_S = 180.0
_LOOK_S = 0.01
Json = dict[str, Any]


def ours(logs: Path, scratch: Path) -> Json:
    """Our server: when it answers at all, when it lists sessions, when one of them can be read, when all is indexed."""
    with tempfile.TemporaryDirectory(dir=scratch) as top:
        began = time.perf_counter()
        with serving(Homes(Path(top), logs=logs)) as served:
            link_s = time.perf_counter() - began
            board_s = _when(began, lambda: served.ask("/")[0] == 200)
            listed_s = _when(began, lambda: b'href="/s/' in served.ask("/sessions")[2])
            session = _first_session(served.ask("/sessions")[2])
            read_s = _when(began, lambda: b'class="row' in served.ask(session)[2])
            served.wait_until_indexed(_PATIENCE_S)
            whole_s = time.perf_counter() - began
    return {
        "link_s": link_s,
        "board_s": board_s,
        "useful_s": listed_s,
        "session_s": read_s,
        "indexed_s": whole_s,
    }


def _first_session(page: bytes) -> str:
    return page.partition(b'href="/s/')[2].partition(b'"')[0].decode().join(("/s/", ""))


def agentsview(program: Path, logs: Path, scratch: Path) -> Json:
    """Theirs: when it answers at all, when it lists sessions."""
    port = free_port()
    with tempfile.TemporaryDirectory(dir=scratch) as home:
        env = {"PATH": os.environ["PATH"], "HOME": home, "AGENTSVIEW_DATA_DIR": f"{home}/agentsview"}
        env |= {
            "CLAUDE_PROJECTS_DIR": str(logs / "claude/projects"),
            "CODEX_SESSIONS_DIR": str(logs / "codex/sessions"),
        }
        argv = [str(program), "serve", "--no-browser", "--no-update-check", "--port", str(port)]
        began = time.perf_counter()
        with open(os.devnull, "wb") as nowhere:
            process = subprocess.Popen(
                argv, env=env, stdout=nowhere, stderr=nowhere, stdin=subprocess.DEVNULL
            )
        try:
            page_s = _when(began, lambda: _get(port, "/")[0] == 200)
            useful_s = _when(began, lambda: _lists(port))
        finally:
            process.terminate()
            process.wait()
    return {"board_s": page_s, "useful_s": useful_s}


def _lists(port: int) -> bool:
    status, body = _get(port, "/api/v1/sessions?limit=20")
    return status == 200 and bool(json.loads(body).get("sessions"))


def _get(port: int, path: str) -> tuple[int, bytes]:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE_S)
    try:
        asking.request("GET", path)
        answer = asking.getresponse()
        return answer.status, answer.read()
    except OSError:
        return 0, b""
    finally:
        asking.close()


def _when(began: float, is_so: Callable[[], bool]) -> float:
    """How long after the start it was so."""
    while not is_so():
        if time.perf_counter() - began > _PATIENCE_S:
            raise SystemExit(f"bench.serve: not within {_PATIENCE_S:.0f} s")
        time.sleep(_LOOK_S)
    return time.perf_counter() - began
