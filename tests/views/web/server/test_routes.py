from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.views.web.asking import app_of, ask
from tests.views.web.read_site import site_over
from tracklog.views.web.frame import session_address
from tracklog.views.web.server.routes import routes

AT = "2026-11-15T10:00:00.000Z"
ID = "a/b"


def write_rollout(codex: Path) -> None:
    path = (
        codex / "sessions/2026/11/15/rollout-2026-11-15T10-00-00-0198aaaa-0000-7000-8000-000000000001.jsonl"
    )
    path.parent.mkdir(parents=True)
    meta = {"id": ID, "timestamp": AT, "cwd": "/w", "originator": "codex", "cli_version": "0.50.0"}
    prompt = {"type": "user_message", "message": "look at it"}
    said = [("session_meta", meta), ("event_msg", prompt)]
    lines = [json.dumps({"timestamp": AT, "type": type, "payload": body}) for type, body in said]
    path.write_text("".join(f"{line}\n" for line in lines))


@pytest.mark.parametrize(
    "part",
    [
        "rows?from=1&n=10",
        "call?seq=2&n=0",
        "now?at=1",
        "turns?at=1",
        "where?line=2",
        "raw?seq=2",
        "find?q=look",
        "text?id=r2",
        "next?what=prompt&after=0",
    ],
)
def test_every_part_of_a_page_is_there_for_a_session_with_a_slash_in_its_name(
    tmp_path: Path, part: str
) -> None:
    write_rollout(tmp_path / "codex")
    app = app_of(routes(), site_over(tmp_path / "codex", tmp_path / "home"))
    address = session_address("codex", ID)
    assert ask(app, "GET", address).status == 200
    assert ask(app, "GET", f"/_{address}/{part}").status == 200
    assert ask(app, "GET", f"/_/s/codex/other/{part}").status == 404
