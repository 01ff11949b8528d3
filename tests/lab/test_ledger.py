"""What was spent, with the real clients: `tracklog usage` beside the API's own log and beside the clients' own sums."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path

import pytest

from tests.lab.api_truth import (
    DIED_WITH,
    LEFT_RUNNING,
    NEVER_WRITTEN,
    Spent,
    Sums,
    begun,
    completed,
    hidden,
    in_sum,
    on_disk,
    sent_in_vain,
    sums_by_session,
    sums_of,
    unfinished,
)
from tests.lab.asking import ask
from tests.lab.client_totals import (
    COUNTS_ON_SINCE,
    all_spoke,
    all_turns_told,
    claude_cost_usd,
    claude_stated_usd,
    claude_sums,
    codex_sums,
)
from tests.lab.clients import Version
from tests.lab.loopback import Exchange
from tests.lab.run import LabRun
from tests.lab.words import Json

pytestmark = pytest.mark.lab

PRICES_HOURS_SINCE = Version("2.1.197")  # the first release here that knows what an hour in the cache costs
KNOWS_REGIONS_SINCE = Version("2.1.300")
TELLS_REASONING_SINCE = Version("0.145.0")  # Codex, in `turn.completed`
TELLS_WHY_IT_ENDED_SINCE = {"claude": Version("2.1.100"), "codex": Version("0.145.0")}
MICRO = Decimal(1_000_000)
HANDS_ON = ("fork", "resume", "compact", "interrupt", "nested_agents", "background_agent", "usage_family")
TOLD_BY_HALF = ("stream_cut", "stream_interrupt", "stream_kill", "usage_late_end")
PLAIN = ("parallel_tools", "nested_agents", "resume", "mcp_tools", "compact", "web")
APART = ("agents", "agent_team", "review", "usage_informed_agent", "usage_informed_team")
USD_PER_MILLION = {  # input, output, a write to the cache, a read of it: as the old clients' tables have them
    "claude-sonnet-4-5-20250929": (3, 15, Decimal("3.75"), Decimal("0.3")),
    "claude-sonnet-4-20250514": (3, 15, Decimal("3.75"), Decimal("0.3")),
    "claude-haiku-4-5-20251001": (1, 5, Decimal("1.25"), Decimal("0.1")),
    "claude-3-5-haiku-20241022": (Decimal("0.8"), 4, 1, Decimal("0.08")),
}


def usage(group: str, root: Path, *options: str) -> Json:
    """What `tracklog usage` says."""
    return ask(root, "usage", group, *options)


def told(row: Json) -> Spent:
    """A row in the words of the lab: the requests that have figures."""
    spent = Spent(**{f.name: row[f.name] for f in fields(Spent)})
    without_figures = row["missing_requests"] - row["awaited_requests"]
    return replace(spent, requests=spent.requests - without_figures)


def within_bounds(row: Json, truth: Spent) -> Spent:
    """The row with the true output, if its bounds allow for that."""
    least, most = row["bounds"]["output_tokens"]
    allows = least <= truth.output_tokens <= most
    return replace(told(row), output_tokens=truth.output_tokens) if allows else told(row)


def revealed(document: Json) -> Sums:
    """What is hidden, by model."""
    return in_sum((h["model"], Spent(**h["detail"])) for h in document["hidden"])


def tokens_alone(sums: Sums, *, with_lives: bool = True) -> Sums:
    """Without the number of requests, which clients do not say, nor (2.1.197) how long cache writes are kept."""
    lives = {} if with_lives else {"cache_write_5m_tokens": 0, "cache_write_1h_tokens": 0}
    bare = {model: replace(spent, requests=0, **lives) for model, spent in sums.items()}
    return {model: spent for model, spent in bare.items() if spent}


def in_one(*all_sums: Sums) -> Sums:
    """Sums of the same models in one."""
    return in_sum(part for sums in all_sums for part in sums.items())


def is_between(sums: Sums, least: Sums, most: Sums) -> bool:
    """Whether each figure lies there. 2.1.326 guesses the output of a broken answer by the text that came; all else is known."""
    return least.keys() == sums.keys() == most.keys() and all(
        vars(least[model])[name] <= figure <= vars(most[model])[name]
        for model, spent in sums.items()
        for name, figure in vars(spent).items()
    )


def test_what_no_log_holds_is_of_a_kind_that_never_is_or_died_with_its_client(lab_run: LabRun) -> None:
    absent = {e.kind for e in hidden(lab_run)} - set(NEVER_WRITTEN[lab_run.agent])
    if lab_run.scenario.name == LEFT_RUNNING:
        absent -= {"story"}
    play = (lab_run.agent, lab_run.version, lab_run.scenario.name)
    assert absent == ({"story"} if play in DIED_WITH else set())


def test_each_model_is_charged_what_the_api_sent(lab_run: LabRun) -> None:
    rows = usage("model", lab_run.config_dir)["rows"]
    charged = sums_of(lab_run, on_disk(lab_run))
    seen = [row for row in rows if told(row)]
    assert {r["key"]: within_bounds(r, charged.get(r["key"], Spent())) for r in seen} == charged
    assert sum(r["partial_requests"] for r in rows) == len(unfinished(lab_run))


def test_where_every_end_is_known_the_bounds_are_the_figures(lab_run: LabRun) -> None:
    for row in usage("model", lab_run.config_dir)["rows"]:
        if not row["partial_requests"]:
            exact = {name: [row[name], row[name]] for name in ("output_tokens", "cost_micro_usd")}
            assert row["bounds"] == exact


def test_a_request_is_missing_only_where_one_was_sent(lab_run: LabRun) -> None:
    if Version(lab_run.version) < TELLS_WHY_IT_ENDED_SINCE[lab_run.agent]:
        pytest.skip(f"{lab_run.agent} {lab_run.version} does not say why a turn ended before its answer")
    total = usage("model", lab_run.config_dir)["total"]
    assert total["missing_requests"] <= len(sent_in_vain(lab_run))


@pytest.mark.lab_of(scenarios=("stream_kill",))
def test_a_request_that_died_with_its_client_is_missing_or_partial(lab_run: LabRun) -> None:
    total = usage("model", lab_run.config_dir)["total"]
    assert total["missing_requests"] + total["partial_requests"] == 1


@pytest.mark.lab_of(agent="claude", scenarios=TOLD_BY_HALF)
def test_requests_whose_end_is_not_on_disk_are_listed(lab_run: LabRun) -> None:
    document = usage("model", lab_run.config_dir, "--uncertain")
    listed = {u["key"] for u in document["uncertain"] if u["certainty"] == "partial"}
    assert listed == {e.message_id for e in unfinished(lab_run)}


@pytest.mark.lab_of(agent="claude", scenarios=HANDS_ON)
def test_each_session_is_charged_for_what_it_asked_itself(lab_run: LabRun) -> None:
    rows = [row for row in usage("session", lab_run.config_dir)["rows"] if told(row)]
    charged = sums_by_session(lab_run)
    assert {r["key"]: within_bounds(r, charged.get(r["key"], Spent())) for r in rows} == charged


@pytest.mark.lab_of(agent="claude")
def test_what_only_the_clients_own_sums_reveal_is_hidden(lab_run: LabRun) -> None:
    if Version(lab_run.version) < COUNTS_ON_SINCE:
        pytest.skip(f"Claude Code {lab_run.version} keeps no sums in its logs")
    charged = sums_of(lab_run, hidden(lab_run))
    cut = [e for e in sent_in_vain(lab_run) if e.outcome == "cut"]  # the client counts these, or is too late
    least, most = in_one(charged, begun(cut)), in_one(charged, sums_of(lab_run, cut))
    found = revealed(usage("model", lab_run.config_dir))
    assert found == tokens_alone(charged) or is_between(found, tokens_alone(least), tokens_alone(most))


def _has_trusted_sums(run: LabRun) -> bool:
    """Whether the client told its sums to the end, and everything that they hold is also told by us."""
    return all_spoke(run) and not unfinished(run) and Version(run.version) >= PRICES_HOURS_SINCE


@pytest.mark.lab_of(agent="claude")
def test_the_client_counts_the_same_tokens(lab_run: LabRun) -> None:
    if not _has_trusted_sums(lab_run):
        pytest.skip(f"Claude Code {lab_run.version} does not say all that {lab_run.scenario.name} spent")
    document = usage("model", lab_run.config_dir)
    ours = {row["key"]: told(row) for row in document["rows"]}
    knows_lives = Version(lab_run.version) >= COUNTS_ON_SINCE
    unseen = revealed(document) if knows_lives else sums_of(lab_run, hidden(lab_run))
    told_by_client = claude_sums(lab_run)
    assert tokens_alone(in_one(ours, unseen), with_lives=knows_lives) == tokens_alone(told_by_client)


@pytest.mark.lab_of(agent="claude")
def test_the_client_counts_the_same_money_to_the_micro_dollar(lab_run: LabRun) -> None:
    is_revealed = Version(lab_run.version) >= COUNTS_ON_SINCE
    if not _has_trusted_sums(lab_run) or (hidden(lab_run) and not is_revealed):
        pytest.skip(f"Claude Code {lab_run.version} does not say all that {lab_run.scenario.name} cost")
    if lab_run.scenario.name == "usage_terms" and Version(lab_run.version) < KNOWS_REGIONS_SINCE:
        pytest.skip(f"Claude Code {lab_run.version} does not know that the US cost more")
    document = usage("model", lab_run.config_dir)
    parts = [(row["key"], row["cost_micro_usd"]) for row in document["rows"]]
    parts += [(h["model"], h["cost_micro_usd"]) for h in document["hidden"]]
    said = {model: cost * MICRO for model, cost in claude_cost_usd(lab_run).items()}
    assert {model for model, _ in parts} == set(said)
    for model, cost in said.items():
        ours = [micro for name, micro in parts if name == model]
        assert abs(sum(ours) - cost) <= Decimal("0.501") * len(ours), model


def _with_hours_as_minutes(exchange: Exchange) -> Decimal:
    """By 2.1.100: an hour in the cache costs what five minutes cost."""
    return _price(exchange, exchange.meant)


def _for_output_alone(exchange: Exchange) -> Decimal:
    """By 2.0.30: only output is counted, and none of its helpers'."""
    nothing: Json = dict.fromkeys(exchange.meant, 0)
    is_told = exchange.kind != "helper"
    return _price(exchange, nothing | {"output_tokens": exchange.meant["output_tokens"]}) * is_told


def _for_beginning_and_end(exchange: Exchange) -> Decimal:
    """By 1.0.60: what the end of a stream says is added to what its beginning said."""
    return _price(exchange, exchange.began) + _price(exchange, exchange.meant)


def _price(exchange: Exchange, used: Json) -> Decimal:
    given, said, written, read = USD_PER_MILLION[exchange.model]
    kept = written * used["cache_creation_input_tokens"] + read * used["cache_read_input_tokens"]
    return Decimal(given * used["input_tokens"] + said * used["output_tokens"] + kept)


OLD_TABLES = {
    "2.1.100": _with_hours_as_minutes,
    "2.0.30": _for_output_alone,
    "1.0.60": _for_beginning_and_end,
}


def _possible_sums(costs: Iterable[tuple[Decimal, bool]]) -> set[Decimal]:
    """All sums that a client may print: some of its requests may not be answered yet when it does."""
    sums = {Decimal(0)}
    for cost, may_be_late in costs:
        sums = {total + cost for total in sums} | (sums if may_be_late else set())
    return sums


@pytest.mark.lab_of(agent="claude", scenarios=PLAIN)
def test_old_clients_price_as_their_own_tables_say(lab_run: LabRun) -> None:
    table = OLD_TABLES.get(lab_run.version)
    if table is None:
        pytest.skip(f"Claude Code {lab_run.version} has the prices of today")
    costs = [(table(e), e.kind in ("helper", "warmup")) for e in completed(lab_run)]
    said = (claude_stated_usd(lab_run) * MICRO).quantize(Decimal("0.01"))
    assert said in {cost.quantize(Decimal("0.01")) for cost in _possible_sums(costs)}


@pytest.mark.lab_of(agent="codex")
def test_codex_counts_the_same_tokens(lab_run: LabRun) -> None:
    if lab_run.scenario.name in APART or not all_turns_told(lab_run):
        pytest.skip(f"{lab_run.scenario.name} spends what no turn of its own tells")
    rows = usage("session", lab_run.config_dir)["rows"]
    ours = {row["key"]: told(row) for row in rows}
    if Version(lab_run.version) < TELLS_REASONING_SINCE:
        ours = {thread: replace(spent, reasoning_tokens=0) for thread, spent in ours.items()}
    assert tokens_alone(ours) == codex_sums(lab_run)
