from __future__ import annotations

import json
from pathlib import Path

from tests.store.made_index import AT_MS, made_index
from tracklog.ledger.prices.rates import Prices, cost_pico_usd
from tracklog.ledger.stored.tables import entry_costs
from tracklog.model.usage import Terms, Tokens
from tracklog.store.database import writing

PRICES = Prices.load()
OPUS, HAIKU = "claude-opus-4-6", "claude-haiku-4-5"


def price(model: str, tokens: Tokens, terms: Terms | None = None) -> int:
    rates = PRICES.rates(model, AT_MS, terms or Terms())
    assert rates is not None
    return cost_pico_usd(tokens, rates)


def test_a_request_costs_its_tokens_on_its_terms_and_what_was_asked_within_it(tmp_path: Path) -> None:
    asked_within = [
        ["advisor", HAIKU, [50, 5]],
        ["compaction", OPUS, [7, 7]],
        ["advisor", "nobody's", [9, 9]],
    ]
    with writing(made_index(tmp_path)) as database:
        db = database.db
        db.execute("update entry_rows set terms = ? where id = 2", ("batch\t\t",))
        db.execute("update entry_rows set beside = ? where id = 3", (json.dumps(asked_within),))
        assert dict(entry_costs(db, PRICES)) == {
            1: price(OPUS, Tokens(100, 10)),
            2: price(OPUS, Tokens(200, 10), Terms(service_tier="batch")),
            3: price(OPUS, Tokens(300, 10)) + price(HAIKU, Tokens(50, 5)),
        }


def test_what_has_no_price_and_what_was_not_counted_costs_none(tmp_path: Path) -> None:
    with writing(made_index(tmp_path)) as database:
        db = database.db
        db.execute("update entry_rows set model = 'of nobody' where id = 1")
        db.execute("update entry_rows set certainty = 'missing' where id = 2")
        db.execute("update entry_rows set at_ms = null, certainty = 'partial' where id = 3")
        now = PRICES.rates(OPUS)
        assert now is not None
        assert dict(entry_costs(db, PRICES)) == {1: None, 2: None, 3: cost_pico_usd(Tokens(300, 10), now)}
