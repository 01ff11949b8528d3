from __future__ import annotations

import subprocess
import sys

import pytest

from tracklog.ledger.prices.book import Clause, PriceTier, Quote, Shelf, Tariff, Vendor, shipped_book

pytest.importorskip("genai_prices")  # a development dependency: the book is made from it

from tests.prices.make_book import BOOK, OVERRIDES, make_book, written  # (only with genai-prices)

ANY = (Quote((PriceTier(0, 1, 1, 1, 1, 1),)),)


def shelf(*models: tuple[str, tuple[Clause, ...]]) -> Shelf:
    tariffs = tuple(Tariff(id, tuple((clause,) for clause in clauses), ANY) for id, clauses in models)
    return Shelf(Vendor("maker", (), (), tariffs))


def test_the_shipped_book_is_what_is_made_of_genai_prices_and_our_overrides() -> None:
    assert BOOK.read_text("utf-8") == written(make_book()), "run: make prices, and review the difference"


def test_the_book_says_what_it_was_made_from_and_when() -> None:
    book = shipped_book()
    assert (book.made_from, len(book.made_on)) == ("genai-prices 0.2.1", 10)


def test_every_quote_of_the_book_has_steps_by_the_length_of_the_prompt() -> None:
    quotes = [quote for vendor in shipped_book().vendors for model in vendor.models for quote in model.quotes]
    assert [
        quote
        for quote in quotes
        if [step.above for step in quote.steps] != sorted({s.above for s in quote.steps})
    ] == []
    assert {quote.steps[0].above for quote in quotes} == {0}


def test_the_first_quote_of_a_model_on_standard_terms_has_always_held() -> None:
    firsts = [model.quotes[0] for vendor in shipped_book().vendors for model in vendor.models]
    assert [one for one in firsts if one.since or one.hours or one.terms != "standard"] == []


def test_every_override_has_its_source_and_its_reason() -> None:
    import tomllib

    document = tomllib.loads(OVERRIDES.read_text("utf-8"))
    assert [one for one in document["price"] if not (one.get("source") and one.get("why"))] == []
    assert [one for one in (*document["limit"], *document["multiplier"]) if not one.get("source")] == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("big", "big"),
        ("big-2026", "dated"),
        ("bigger", "begins"),
        ("the-big-one", "holds"),
        ("no-end", "ends"),
        ("small", None),
    ],
)
def test_a_shelf_finds_the_first_model_that_a_name_means(name: str, found: str | None) -> None:
    models = shelf(
        ("big", (Clause("equals", "big"),)),
        ("dated", (Clause("equals", "nothing"), Clause("regex", r"^big-\d{4}$"))),
        ("begins", (Clause("starts_with", "big"),)),
        ("holds", (Clause("contains", "-big-"),)),
        ("ends", (Clause("ends_with", "-end"),)),
    )
    tariff = models.find(name)
    assert (tariff.id if tariff else None) == found


def test_all_clauses_of_an_alternative_must_hold() -> None:
    both = (Clause("starts_with", "gemini"), Clause("contains", "live"))
    models = Shelf(Vendor("maker", (), (), (Tariff("live", (both,), ANY),)))
    assert [models.find(name) is not None for name in ("gemini-live", "gemini", "live")] == [
        True,
        False,
        False,
    ]


def test_many_threads_may_ask_for_the_book_at_once() -> None:
    asking = """
import sys, threading
from tracklog.ledger.prices.book import shipped_book
sys.setswitchinterval(1e-6)
all_here = threading.Barrier(8)
threads = [threading.Thread(target=lambda: (all_here.wait(), shipped_book())) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""
    codes = [subprocess.run([sys.executable, "-c", asking]).returncode for _ in range(5)]
    assert codes == [0] * 5
