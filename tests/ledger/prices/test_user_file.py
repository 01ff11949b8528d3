from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracklog.errors import UserError
from tracklog.ledger.prices.book import Limit, OwnPrice, PriceFile, PriceTier, Quote
from tracklog.ledger.prices.user_file import read_prices

SEARCH = 10_000_000_000


def test_a_file_with_everything_in_it_is_read_whole() -> None:
    toml = """
        [[price]]
        model = ["One", "two-*"]
        since = 2026-03-13
        terms = "fast"
        input = 0.60
        output = 2.20
        cache_read = 0.11
        cache_write = 0.75
        cache_write_1h = 1.20
        web_search = 0.025
        above = { prompt_tokens = 200_000, input = 1.2, output = 3.3 }
        max_output = 128_000
        source = "https://example.org"
        why = "we have a contract"
    """
    usual = PriceTier(0, 600_000, 2_200_000, 110_000, 750_000, 1_200_000, 25_000_000_000)
    long = PriceTier(200_000, 1_200_000, 3_300_000, 1_200_000, 1_200_000, 1_200_000, 25_000_000_000)
    quote = Quote((usual, long), since="2026-03-13", terms="fast", source="https://example.org")
    assert read_prices(toml.encode(), where="x") == PriceFile(
        (OwnPrice(("one", "two-*"), quote),),
        (Limit("one", 128_000, "https://example.org"), Limit("two-*", 128_000, "https://example.org")),
    )


def test_what_is_not_said_costs_as_much_as_input_and_a_search_costs_a_cent() -> None:
    toml = b'\xef\xbb\xbf[[price]]\nmodel = "x"\ninput = 3\noutput = 15'
    step = PriceTier(0, 3_000_000, 15_000_000, 3_000_000, 3_000_000, 3_000_000, SEARCH)
    assert read_prices(toml, where="mine") == PriceFile((OwnPrice(("x",), Quote((step,), source="mine")),))


def test_prices_count_by_their_days_in_whatever_order_they_stand() -> None:
    price = '[[price]]\nmodel = "x"\ninput = 1\noutput = 1\n'
    toml = f"{price}since = 2026-02-01\n{price}{price}since = 2026-01-01\n"
    found = [one.quote.since for one in read_prices(toml.encode(), where="x").prices]
    assert found == [None, "2026-01-01", "2026-02-01"]


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("x = ", "p.toml is not TOML: Invalid value (at end of document)"),
        (
            "a\n[[price]",
            "p.toml is not TOML: Expected '=' after a key in a key/value pair (at line 1, column 2)",
        ),
        ("prices = 1", "p.toml: unknown key 'prices'; prices stand under [[price]]"),
        ("[price]\nmodel = 1", "p.toml: prices stand under [[price]], one for each"),
        ("price = [1]", "p.toml: prices stand under [[price]], one for each"),
        (
            "[[price]]\ninput = 1",
            "p.toml, line 1: price 1: 'model' must be the name of a model, or a list of names; a * may stand at the end of one, not alone",
        ),
        (
            "[[price]]\nmodel = []",
            "p.toml, line 2: price 1: 'model' must be the name of a model, or a list of names; a * may stand at the end of one, not alone",
        ),
        (
            "[[price]]\nmodel = ['*']",
            "p.toml, line 2: price 1: 'model' must be the name of a model, or a list of names; a * may stand at the end of one, not alone",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1",
            "p.toml, line 1: price 1: 'output' is missing: dollars for a million tokens",
        ),
        (
            "[[price]]\nmodel = 'a'\n\ninput = 'cheap'\noutput = 1",
            "p.toml, line 4: price 1: 'input' must be a number of dollars",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = -1\noutput = 1",
            "p.toml, line 3: price 1: 'input' must be a number of dollars",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = nan\noutput = 1",
            "p.toml, line 3: price 1: 'input' must be a number of dollars",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = true\noutput = 1",
            "p.toml, line 3: price 1: 'input' must be a number of dollars",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1e99\noutput = 1",
            "p.toml, line 3: price 1: 'input' must be a number of dollars",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 0.0000001\noutput = 1",
            "p.toml, line 3: price 1: 'input' is finer than a millionth of a dollar",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\n[[price]]\nmodel = 'b'\noutput = 1\n'input' = []",
            "p.toml, line 8: price 2: 'input' must be a number of dollars",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nsince = '2026-01-01'",
            "p.toml, line 5: price 1: 'since' must be a day, as 2026-03-13 without quotes",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nterms = 'slow'",
            "p.toml, line 5: price 1: 'terms' must be one of standard, fast, batch, priority, flex",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nterms = []",
            "p.toml, line 5: price 1: 'terms' must be one of standard, fast, batch, priority, flex",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nmax_output = 0",
            "p.toml, line 5: price 1: 'max_output' must be a number of tokens",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nsource = 5",
            "p.toml, line 5: price 1: 'source' must be a text",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nabove = 5",
            "p.toml, line 5: price 1: 'above' must be a table with prompt_tokens and prices",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nabove = { input = 1, output = 1 }",
            "p.toml, line 5: price 1: 'above' needs prompt_tokens, a number of tokens",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nabove = { tokens = 1 }",
            "p.toml, line 5: price 1: 'above' does not know 'tokens'",
        ),
        (
            "[[price]]\nmodel = 'a'\ninput = 1\noutput = 1\nOutput = 1",
            "p.toml, line 5: price 1: 'Output' is no key of a price; known are above, cache_read, cache_write, "
            "cache_write_1h, input, max_output, model, output, since, source, terms, web_search, why",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_and_key(toml: str, said: str) -> None:
    with pytest.raises(UserError) as told:
        read_prices(toml.encode(), where="p.toml")
    assert str(told.value) == said


def test_bytes_that_are_no_text_are_told_with_their_line() -> None:
    with pytest.raises(UserError, match=r"^p.toml, line 3: not UTF-8$"):
        read_prices(b"# a\n# b\n# \xff", where="p.toml")


@pytest.mark.parametrize("endless", ["[" * 100_000, "1" * 5_000, "1e99999999999999999999", "2026-13-45"])
def test_what_has_no_end_is_the_users_mistake(endless: str) -> None:
    with pytest.raises(UserError, match=r"p\.toml is not TOML"):
        read_prices(f"x = {endless}".encode(), where="p.toml")


@given(
    st.binary(max_size=200)
    | st.text(alphabet="[]price=\"'.,{}0123456789 \n#model", max_size=200).map(str.encode)
)
def test_any_bytes_are_prices_or_a_mistake_that_is_told(toml: bytes) -> None:
    with suppress(UserError):
        assert isinstance(read_prices(toml, where="p.toml"), PriceFile)
