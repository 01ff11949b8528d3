from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.soak import examples
from tracklog.ledger.prices.book import PriceTier, Quote
from tracklog.ledger.prices.rates import PriceListEntry, Prices, Rates, cost_pico_usd
from tracklog.ledger.prices.user_file import read_prices
from tracklog.model.usage import Terms, Tokens

genai_prices = pytest.importorskip("genai_prices")  # a development dependency: the book is made from it

PICO = 10**12
PRICES = Prices.load()
NOVEMBER_2026 = int(datetime(2026, 11, 15, tzinfo=UTC).timestamp() * 1000)
VERIFIED = datetime(2026, 10, 26, tzinfo=UTC)  # since then genai-prices knows all terms of all models
SECONDS = st.integers(1_672_531_200, 1_830_297_600)  # 2023 to 2027
COUNTS = st.integers(0, 400_000)
FLAT_SINCE = datetime(2026, 4, 30, tzinfo=UTC)


class Known(NamedTuple):
    """A model in genai-prices."""

    vendor: str
    info: Any

    def cost(self, tokens: Tokens, at: datetime, context: dict[str, str] | None) -> Decimal:
        """What genai-prices says."""
        usage = genai_prices.Usage(
            input_tokens=tokens.prompt,
            output_tokens=tokens.output,
            cache_read_tokens=tokens.cache_read,
            cache_write_tokens=tokens.cache_write,
            cache_write_1h_tokens=tokens.cache_write_1h,
            web_searches=tokens.web_searches,
        )
        said = self.info.get_prices(at, context).calc_price(usage)["total_price"]
        assert isinstance(said, Decimal)
        return said


def known_models() -> Iterator[Known]:
    from genai_prices.data import providers

    for provider in providers:
        if provider.id in ("anthropic", "openai"):
            for model in provider.models:
                standard = model.get_prices(VERIFIED)
                is_by_token = standard.input_mtok is not None and standard.output_mtok is not None
                if is_by_token and ":" not in model.id:  # a colon: fine-tuned, or another's offer
                    yield Known(provider.id, model)


KNOWN = list(known_models())


@st.composite
def requests(draw: st.DrawFn) -> Tokens:
    """Tokens of any request; where the split of a write is known, it is whole."""
    written_1h, written_5m = draw(COUNTS), draw(COUNTS)
    return Tokens(
        input=draw(COUNTS),
        output=draw(COUNTS),
        cache_read=draw(COUNTS),
        cache_write=written_1h + written_5m,
        cache_write_5m=written_5m,
        cache_write_1h=written_1h,
        web_searches=draw(st.integers(0, 9)),
    )


def at(second: int) -> datetime:
    return datetime.fromtimestamp(second, UTC)


def rates(model: str, when: int | None = NOVEMBER_2026, terms: Terms = Terms()) -> Rates:  # noqa: B008 (frozen)
    found = PRICES.rates(model, when, terms)
    assert found is not None
    return found


def is_ours(known: Known, tokens: Tokens, when: datetime) -> bool:
    """Where price_overrides.toml says otherwise, and why: the surcharge on long prompts to Sonnet 4 and 4.5."""
    is_long = tokens.prompt > 200_000
    if known.info.id == "claude-sonnet-4-5":
        return is_long and when >= FLAT_SINCE
    return known.info.id == "claude-sonnet-4-0" and is_long and when < FLAT_SINCE


@settings(max_examples=examples(10), deadline=None)
@given(tokens=requests(), second=SECONDS)
def test_every_model_of_anthropic_and_openai_costs_what_genai_prices_says(
    tokens: Tokens, second: int
) -> None:
    for known in KNOWN:
        found = PRICES.rates(f"{known.vendor}/{known.info.id}", second * 1000)
        assert found is not None
        if not is_ours(known, tokens, at(second)):
            assert cost_pico_usd(tokens, found) == known.cost(tokens, at(second), None) * PICO, known.info.id


@pytest.mark.parametrize("tier", ["batch", "flex", "priority", "fast", "default"])
@settings(max_examples=examples(4), deadline=None)
@given(tokens=requests(), second=st.integers(int(VERIFIED.timestamp()), 1_830_297_600))
def test_on_other_terms_it_costs_what_genai_prices_says_once_it_knows_them(
    tier: str, tokens: Tokens, second: int
) -> None:
    for known in KNOWN:
        assert_costs_on_terms(known, tokens, tier=tier, second=second)


def assert_costs_on_terms(known: Known, tokens: Tokens, *, tier: str, second: int) -> None:
    context = {"processing": "batch"} if tier == "batch" else {"service_tier": tier}
    if known.vendor == "anthropic" and not known.info.price_variants:
        context = {}
    found = PRICES.rates(f"{known.vendor}/{known.info.id}", second * 1000, Terms(service_tier=tier))
    assert found is not None
    ours = is_ours(known, tokens, at(second)) or (known.vendor == "anthropic" and tier in ("batch", "fast"))
    if not ours:
        assert cost_pico_usd(tokens, found) == known.cost(tokens, at(second), context) * PICO, known.info.id


BATCHED = [known for known in KNOWN if known.vendor == "anthropic" and known.info.price_variants]


@settings(max_examples=examples(80), deadline=None)
@given(known=st.sampled_from(BATCHED), tokens=requests())
def test_half_the_price_is_what_genai_prices_says_of_a_batch_at_anthropic(
    known: Known, tokens: Tokens
) -> None:
    if not is_ours(known, tokens, VERIFIED):
        found = rates(known.info.id, int(VERIFIED.timestamp() * 1000), Terms(service_tier="batch"))
        said = known.cost(tokens, VERIFIED, {"processing": "batch"})
        assert cost_pico_usd(tokens, found) == said * PICO


@pytest.mark.parametrize(
    ("model", "tokens", "printed_usd"),
    [
        ("claude-opus-5-5", (9, 141, 10_030, 200, 203, 0), "0.007486"),
        ("claude-sonnet-4-5-20250929", (132, 1_464, 558_450, 3_202, 1_717, 0), "0.2122005"),
        ("claude-sonnet-4-5-20250929", (18, 663, 25_141, 387, 570, 1), "0.03241255"),
        ("claude-haiku-4-5-20251001", (7, 576, 16_635, 691, 265, 0), "0.00594425"),
        ("claude-haiku-5-5", (51, 859, 25_274, 801, 417, 0), "0.000870865"),
    ],
)
def test_a_cost_is_what_claude_code_2_1_325_printed_for_these_tokens(
    model: str, tokens: tuple[int, ...], printed_usd: str
) -> None:
    input, output, read, written_5m, written_1h, searches = tokens
    used = Tokens(
        input=input,
        output=output,
        cache_read=read,
        cache_write=written_5m + written_1h,
        cache_write_5m=written_5m,
        cache_write_1h=written_1h,
        web_searches=searches,
    )
    flat = msgspec.structs.replace(
        rates(model), above=None
    )  # printed for a run, each of whose prompts was short
    assert cost_pico_usd(used, flat) == Decimal(printed_usd) * PICO


@pytest.mark.parametrize(
    ("model", "tokens", "micro_usd"),
    [
        ("claude-sonnet-4-20250514[1m]", Tokens(input=250_000, cache_read=50_000, output=1_000), 780_000),
        ("claude-haiku-5-5", Tokens(input=100_000, output=10), 10_005),
        ("claude-haiku-5-5", Tokens(input=60_000, cache_read=40_001, output=10_000), 57_000),
        ("claude-fable-5-2", Tokens(cache_read=1_000_000, web_searches=3), 230_000),
    ],
)
def test_a_cost_follows_from_the_catalogue_of_the_client(model: str, tokens: Tokens, micro_usd: int) -> None:
    cost = cost_pico_usd(tokens, rates(model))
    assert (cost + 500_000) // 1_000_000 == micro_usd


def test_a_write_that_nobody_says_how_long_it_is_kept_is_priced_as_five_minutes() -> None:
    known = Tokens(cache_write=6_207, cache_write_5m=6_207)
    unknown = Tokens(cache_write=6_207)
    assert cost_pico_usd(unknown, rates("claude-opus-5")) == cost_pico_usd(known, rates("claude-opus-5"))
    assert cost_pico_usd(unknown, rates("claude-opus-5")) == 6_207 * 6_250_000


def test_rates_are_whole_pico_dollars_and_a_tier_prices_the_whole_request() -> None:
    assert rates("claude-haiku-5-5") == Rates(
        input=100_000,
        output=500_000,
        cache_read=10_000,
        cache_write_5m=125_000,
        cache_write_1h=200_000,
        web_search=10_000_000_000,
        source="genai-prices 0.2.1",
        above=100_000,
        higher=Rates(
            input=500_000,
            output=2_500_000,
            cache_read=50_000,
            cache_write_5m=625_000,
            cache_write_1h=1_000_000,
            web_search=10_000_000_000,
            source="genai-prices 0.2.1",
        ),
    )


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5",
        "claude-sonnet-4-5-20250929",
        "claude-sonnet-4-5-20250929[1m]",
        "claude-sonnet-4-5[1M]",
        "claude-sonnet-4.5",
        "anthropic/claude-sonnet-4.5",
        "openrouter/anthropic/claude-sonnet-4.5",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "apac.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "anthropic.claude-sonnet-4-5-20250929-v1:0",
        "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "claude-sonnet-4-5@20250929",
        "vertex_ai/claude-sonnet-4-5@20250929",
        " CLAUDE-Sonnet-4-5 ",
    ],
)
def test_a_model_has_one_price_under_all_its_names(name: str) -> None:
    assert PRICES.rates(name, NOVEMBER_2026) == rates("claude-sonnet-4-5-20250929")
    assert PRICES.most_output(name) == 64_000


@pytest.mark.parametrize(
    "name",
    [
        None,
        "",
        "/",
        "<synthetic>",
        "my-gateway-model",
        "claude",
        "haiku",
        "claude-opus-9",
        "codex-auto-review",
        "somebody/claude-opus-5-5",
        "a/b/claude-opus-5-5",
        "deepseek/deepseek-r1:free",
        "accounts/fireworks/models/glm-4.6",
        "claude-opus-5-5\x00",
        "\x1b[31mclaude-opus-5-5",
        "claude-opus-5-5" * 7_000,
        "-" * 100_000,
        "[1m]" * 25_000,
    ],
)
def test_a_model_that_nobody_told_us_of_is_unpriced_and_never_free(name: str | None) -> None:
    assert PRICES.rates(name, NOVEMBER_2026) is None


def test_the_longest_output_of_a_model_is_what_its_maker_says_and_else_the_longest_of_all() -> None:
    models = [
        "claude-opus-4-1-20250805",
        "us.anthropic.claude-opus-5-5",
        "gpt-5.3-codex",
        "o3",
        None,
        "x" * 10_000,
    ]
    longest = [32_000, 128_000, 128_000, 393_216, 393_216, 393_216]
    assert [PRICES.most_output(model) for model in models] == longest


def test_a_hundred_thousand_strange_characters_are_no_name() -> None:
    names = [f"{n}-claude-opus-5-5-" + "2026-01-01" * 10_000 for n in range(200)]
    assert [PRICES.rates(name, NOVEMBER_2026) for name in names] == [None] * 200


@given(st.text(max_size=300), st.integers(-(10**15), 10**15), st.text(max_size=9))
def test_any_text_may_be_the_name_of_a_model(name: str, at_ms: int, tier: str) -> None:
    prices = Prices.load()
    assert prices.rates(name, at_ms, Terms(service_tier=tier)) is prices.rates(name, at_ms, Terms(tier))
    assert prices.most_output(name) > 0


def test_names_are_forgotten_before_they_fill_the_memory() -> None:
    prices = Prices.load()
    for n in range(10_000):
        prices.rates(f"x{n}", 0)
    assert len(prices._dated) <= 4_096


def test_the_same_question_has_the_same_answer() -> None:
    first = PRICES.rates("gpt-5.6-terra", NOVEMBER_2026, Terms("priority"))
    assert first is PRICES.rates("gpt-5.6-terra", NOVEMBER_2026 + 1, Terms("priority"))


def test_a_request_in_the_united_states_costs_a_tenth_more_but_its_searches_do_not() -> None:
    usual, there = rates("claude-opus-5-5"), rates("claude-opus-5-5", terms=Terms(geo="us"))
    assert (there.input, there.output, there.cache_read) == (4_400_000, 22_000_000, 220_000)
    assert (there.cache_write_5m, there.cache_write_1h) == (5_500_000, 8_800_000)
    assert there.web_search == usual.web_search
    assert rates("claude-opus-5-5", terms=Terms(geo="not_available")) == usual
    assert rates("gpt-6-sol", terms=Terms(geo="us")) == rates("gpt-6-sol")


@pytest.mark.parametrize(
    ("model", "fast"),
    [
        ("claude-opus-4-6", (30, 150, 3, Decimal("37.5"), 60)),
        ("claude-opus-4-7", (30, 150, 3, Decimal("37.5"), 60)),
        ("claude-opus-4-8", (10, 50, 1, Decimal("12.5"), 20)),
        ("claude-opus-5", (10, 50, 1, Decimal("12.5"), 20)),
        ("claude-opus-5-5", (8, 40, Decimal("0.4"), 10, 16)),
        ("claude-fable-5-2", (16, 80, Decimal("0.4"), 20, 32)),
        ("claude-mythos-5-2", (16, 80, Decimal("0.4"), 20, 32)),
        ("claude-sonnet-5", (2, 10, Decimal("0.2"), Decimal("2.5"), 4)),  # has no fast mode
    ],
)
def test_fast_mode_has_the_prices_of_the_clients_table(model: str, fast: tuple[Decimal, ...]) -> None:
    found = rates(model, terms=Terms(service_tier="standard", speed="fast"))
    named = (found.input, found.output, found.cache_read, found.cache_write_5m, found.cache_write_1h)
    assert named == tuple(int(price * 1_000_000) for price in fast)
    assert model == "claude-sonnet-5" or rates(f"anthropic/{model}-fast") == found


@pytest.mark.parametrize(
    ("model", "day", "surcharge"),
    [
        ("claude-sonnet-4-20250514", date(2025, 9, 1), True),
        ("claude-sonnet-4-20250514", date(2026, 4, 29), True),
        ("claude-sonnet-4-20250514", date(2026, 4, 30), False),
        ("claude-sonnet-4-5", date(2025, 11, 1), True),
        ("claude-sonnet-4-5", date(2026, 4, 30), False),
        ("claude-opus-4-6", date(2026, 3, 12), True),
        ("claude-opus-4-6", date(2026, 3, 13), False),
    ],
)
def test_long_prompts_cost_more_only_while_long_contexts_were_a_beta(
    model: str, day: date, surcharge: bool
) -> None:
    midnight = int(datetime.combine(day, datetime.min.time(), UTC).timestamp() * 1000)
    found = rates(model, midnight)
    assert (found.above, found.higher is not None) == ((200_000, True) if surcharge else (None, False))


def test_a_price_may_depend_on_the_hour() -> None:
    midnight = int(datetime(2026, 11, 2, tzinfo=UTC).timestamp() * 1000)
    hours = [rates("deepseek-v4-pro", midnight + hour * 3_600_000).input for hour in (0, 1, 3, 4, 6, 9, 10)]
    assert hours == [660_000, 1_320_000, 1_320_000, 660_000, 1_320_000, 1_320_000, 660_000]


def test_without_a_time_the_newest_price_counts() -> None:
    assert rates("claude-opus-4-6", None).above is None
    assert rates("gpt-5.6-terra", None).input == 2_000_000


OWN = b"""
[[price]]
model = "my-model"
input = 0.6
output = 2
max_output = 5_000

[[price]]
model = "claude-opus-5-5"
since = 2026-06-01
input = 1
output = 2
cache_read = 0.125

[[price]]
model = "claude-opus-5-5"
terms = "fast"
input = 3
output = 4

[[price]]
model = ["gpt-*", "gateway/*"]
input = 7
output = 8
"""


def own_rates(model: str, day: date = date(2026, 11, 15), **terms: str) -> tuple[int, int, str] | None:
    when = int(datetime.combine(day, datetime.min.time(), UTC).timestamp() * 1000)
    found = Prices.load(OWN).rates(model, when, Terms(**terms))
    return None if found is None else (found.input, found.output, found.source)


def test_the_users_own_price_counts_before_all_others() -> None:
    assert own_rates("my-model") == (600_000, 2_000_000, "prices.toml")
    assert own_rates("MY-MODEL") == (600_000, 2_000_000, "prices.toml")
    assert own_rates("gateway/whatever") == (7_000_000, 8_000_000, "prices.toml")
    assert own_rates("gpt-5.5", service_tier="priority") == (7_000_000, 8_000_000, "prices.toml")
    assert own_rates("claude-opus-5") == (5_000_000, 25_000_000, "genai-prices 0.2.1")


def test_the_users_own_price_counts_from_its_day_on_and_is_not_multiplied() -> None:
    assert own_rates("claude-opus-5-5[1m]", geo="us") == (1_000_000, 2_000_000, "prices.toml")
    assert own_rates("claude-opus-5-5", speed="fast") == (3_000_000, 4_000_000, "prices.toml")
    assert own_rates("claude-opus-5-5", date(2026, 5, 31)) == (4_000_000, 20_000_000, "genai-prices 0.2.1")


def test_the_users_own_limit_counts_before_all_others() -> None:
    assert [Prices.load(OWN).most_output(model) for model in ("my-model", "claude-opus-5-5")] == [
        5_000,
        128_000,
    ]


def test_a_price_that_the_user_dates_is_none_before_its_day() -> None:
    prices = Prices.load(b'[[price]]\nmodel = "x"\nsince = 1970-01-02\ninput = 1\noutput = 1')
    assert [prices.rates("x", at_ms) is None for at_ms in (0, 86_399_999, 86_400_000)] == [True, True, False]


def test_what_is_listed_is_all_that_is_known_of_a_model() -> None:
    listed = Prices.load(OWN).listed("anthropic/claude-opus-5-5")
    search = 10_000_000_000
    assert listed == PriceListEntry(
        "claude-opus-5-5",
        "anthropic",
        (
            Quote((PriceTier(0, 4_000_000, 20_000_000, 200_000, 5_000_000, 8_000_000, search),)),
            Quote(
                (PriceTier(0, 8_000_000, 40_000_000, 400_000, 10_000_000, 16_000_000, search),),
                terms="fast",
                source="Claude Code 2.1.325's table for speed = fast",
            ),
            Quote(
                (PriceTier(0, 3_000_000, 4_000_000, 3_000_000, 3_000_000, 3_000_000, search),),
                terms="fast",
                source="prices.toml",
            ),
            Quote(
                (PriceTier(0, 1_000_000, 2_000_000, 125_000, 1_000_000, 1_000_000, search),),
                since="2026-06-01",
                source="prices.toml",
            ),
        ),
        128_000,
    )
    assert [one.model for one in Prices.load(OWN).listing()][:2] == ["my-model", "claude-opus-5-5"]


def test_every_listed_model_of_the_book_is_found_by_the_name_that_is_listed() -> None:
    aliases = {vendor.id: vendor.aliases[0] for vendor in PRICES.book.vendors}
    lost = [
        f"{one.vendor}/{one.model}"
        for one in PRICES.listing()
        if PRICES.rates(f"{aliases[one.vendor or '']}/{one.model}") is None
    ]
    assert lost == []


def test_a_file_without_prices_changes_nothing() -> None:
    assert read_prices(b"# nothing yet\n", where="x").prices == ()
    assert Prices.load(b"").rates("claude-opus-5", NOVEMBER_2026) == rates("claude-opus-5")
