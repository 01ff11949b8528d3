"""The document of the board: `tracklog top --json` and `/api/v1/top`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tracklog.clock import nearest_moment_text
from tracklog.views.documents.runs import origin_row

if TYPE_CHECKING:
    from tracklog.app.live.top import BoardRow
    from tracklog.model.states import LiveState


def top_document(rows: Iterable[BoardRow]) -> dict[str, Any]:
    """The rows of the board, for scripts."""
    return {"sessions": [_row(row) for row in rows]}


def _row(row: BoardRow) -> dict[str, Any]:
    state, spent = row.state, row.spending
    return {
        "id": row.id,
        "agent": row.agent,
        "state": state.state,
        "waiting_for": state.waiting_for,
        "doing": state.doing,
        "since": _since(state),
        "evidence": state.evidence,
        "pid": state.pid,
        "cost_micro_usd": spent.cost_micro_usd,
        "context_used": None if spent.context_used is None else round(spent.context_used, 4),
        "call": state.call,
        "project": row.project,
        "cwd": row.cwd,
        "title": row.title,
        "model": row.model,
        "tokens": spent.tokens,
        "subagents": row.subagents,
        "pending": [
            {"call": one.call, "name": one.name, "state": one.state.state, "since": _since(one.state)}
            for one in row.pending
        ],
        "last_words": row.last_words,
        "last_at": nearest_moment_text(row.last_ms) if row.last_ms else None,
        "path": row.path,
        "started_by": origin_row(row.started_by),
    }


def _since(state: LiveState) -> str | None:
    return None if state.since_ms is None else nearest_moment_text(state.since_ms)
