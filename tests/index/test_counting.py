"""What the index leaves for the status line."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.index.indexed_logs import PRICES, index_of, settle
from tests.ledger.stored.test_refresh import ALL, HOMES, said
from tracklog.index.counting import statusline_facts, write_statusline

NIGHT = datetime(2026, 11, 15, 22, 40, tzinfo=UTC)  # the demo was made at half past ten


def test_today_is_what_was_spent_since_midnight(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES)
        total = said(database, ALL).total
        facts = statusline_facts(database.db, PRICES, now=NIGHT)
        assert facts["day"] == "2026-11-15"
        assert facts["cost_micro_usd"] == round(total.cost_pico_usd / 1e6)
        tomorrow = statusline_facts(database.db, PRICES, now=NIGHT + timedelta(hours=2))
        assert (tomorrow["day"], tomorrow["cost_micro_usd"]) == ("2026-11-16", 0)


def test_the_block_ends_five_hours_after_the_hour_in_which_it_began(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES)
        end = datetime(2026, 11, 16, 3, tzinfo=UTC)
        assert statusline_facts(database.db, PRICES, now=NIGHT)["block_ends_at"] == end.timestamp()
        assert statusline_facts(database.db, PRICES, now=end)["block_ends_at"] is None


def test_blocks_are_those_of_claude(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES[1:])
        assert statusline_facts(database.db, PRICES, now=NIGHT)["block_ends_at"] is None


def test_the_file_is_the_one_that_the_status_line_reads(tmp_path: Path) -> None:
    with index_of(tmp_path / "home") as database:
        settle(database, HOMES)
        write_statusline(database, PRICES, now=NIGHT)
    left = tmp_path / "home" / "statusline.json"
    assert set(json.loads(left.read_bytes())) == {"day", "cost_micro_usd", "block_ends_at"}
    assert left.stat().st_mode & 0o777 == 0o600
