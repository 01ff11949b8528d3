from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.views.cli.command import on_a_terminal, tracklog, write

OWN = b'[[price]]\nmodel = "my-model"\ninput = 0.6\noutput = 2\n'


def own_prices(home: Path, toml: bytes = OWN) -> dict[str, str]:
    """Tracklog's home with the user's prices in it, as the environment names it."""
    write(home / "t" / "prices.toml", toml)
    return {"TRACKLOG_HOME": str(home / "t")}


def test_a_model_is_shown_with_its_prices_days_and_sources(tmp_path: Path) -> None:
    answer = tracklog("prices", "claude-opus-4-8-20260601[1m]", home=tmp_path)
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[:5] == [
        "claude-opus-4-8  anthropic  at most 128,000 tokens of output",
        "            since   prompt  input  output  read     5m     1h  search",
        "  standard  always           5.00   25.00  0.50   6.25  10.00    0.01",
        "  fast      always          10.00   50.00  1.00  12.50  20.00    0.01",
        "",
    ]
    assert lines[5].startswith("  fast                       Claude Code 2.1.325's table for speed = fast")
    assert lines[6].startswith("  geo us: × 1.1              Claude Code 2.1.325: ")
    assert lines[7].startswith("  service_tier batch: × 0.5  genai-prices has it ")
    assert lines[8:10] == ["", "dollars for a million tokens; read, 5m and 1h are of the cache"]
    assert lines[10].startswith("from genai-prices 0.2.1, as of 20")


def test_tiers_days_and_hours_have_lines_of_their_own(tmp_path: Path) -> None:
    tiered = tracklog("prices", "claude-haiku-5-5", home=tmp_path).out.splitlines()
    assert tiered[2:4] == [
        "  standard  always           0.10    0.50  0.01  0.125  0.20    0.01",
        "                    > 100k   0.50    2.50  0.05  0.625  1.00",
    ]
    hourly = tracklog("prices", "deepseek-v4-pro", home=tmp_path).out.splitlines()
    assert [line.split()[:3] for line in hourly[2:6]] == [
        ["standard", "always", "0.435"],
        ["standard", "2026-08-17", "0.66"],
        ["standard", "01:00-04:00", "1.32"],
        ["standard", "06:00-10:00", "1.32"],
    ]


def test_json_has_micro_dollars_for_a_million_tokens(tmp_path: Path) -> None:
    document = tracklog("prices", "claude-fable-5-2", "--json", home=tmp_path).json
    fast = "Claude Code 2.1.325's table for speed = fast"
    assert document["models"] == [
        {
            "model": "claude-fable-5-2",
            "vendor": "anthropic",
            "max_output_tokens": 128_000,
            "prices": [
                {
                    "terms": terms,
                    "since": None,
                    "hours_utc": None,
                    "source": source,
                    "steps": [
                        {
                            "above_prompt_tokens": 0,
                            "input_micro_usd_per_mtok": 8_000_000 * times,
                            "output_micro_usd_per_mtok": 40_000_000 * times,
                            "cache_read_micro_usd_per_mtok": 200_000 * times,
                            "cache_write_5m_micro_usd_per_mtok": 10_000_000 * times,
                            "cache_write_1h_micro_usd_per_mtok": 16_000_000 * times,
                            "web_search_micro_usd": 10_000,
                        }
                    ],
                }
                for terms, source, times in (
                    ("standard", "Claude Code 2.1.325's catalogue: tier_8_40_cache_read_0_20", 1),
                    ("fast", fast, 2),
                )
            ],
        }
    ]
    assert set(document) == {"schema_version", "book", "models", "multipliers"}
    assert document["book"]["made_from"] == "genai-prices 0.2.1"
    assert [(one["vendor"], one["times"]) for one in document["multipliers"]] == [
        ("anthropic", [11, 10]),
        ("anthropic", [1, 2]),
    ]


def test_a_part_of_a_name_lists_all_that_have_it(tmp_path: Path) -> None:
    document = tracklog("prices", "opus-5", "--json", home=tmp_path).json
    assert [one["model"] for one in document["models"]] == ["claude-opus-5", "claude-opus-5-5"]


def test_without_a_model_all_are_listed_by_vendor_and_fit_a_terminal(tmp_path: Path) -> None:
    out = tracklog("prices", home=tmp_path).out
    vendors = [line for line in out.splitlines() if line and not line.startswith(" ")]
    assert vendors[:4] == ["anthropic", "openai", "google", "deepseek"]
    assert "  claude-opus-5-5 " in out
    assert "  qwen3-coder-plus " in out
    shown = on_a_terminal("prices", home=tmp_path, columns=80, env={"NO_COLOR": "1"})
    assert max(map(len, shown.splitlines())) <= 80
    one = on_a_terminal("prices", "claude-opus-4-6", home=tmp_path, columns=80, env={"NO_COLOR": "1"})
    assert max(map(len, one.splitlines())) <= 80


def test_a_model_without_a_price_is_exit_1_and_how_to_add_one(tmp_path: Path) -> None:
    answer = tracklog("prices", "my-model", home=tmp_path, env={"TRACKLOG_HOME": str(tmp_path / "t")})
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == (
        'tracklog: no price for my-model: put [[price]] with model = "my-model", input = … and output = … '
        "(dollars for a million tokens) into ~/t/prices.toml; `tracklog prices --help` says more\n"
    )
    as_json = tracklog("prices", "my-model", "--json", home=tmp_path)
    assert (as_json.code, as_json.json["models"]) == (1, [])


def test_a_hostile_name_reaches_no_terminal(tmp_path: Path) -> None:
    answer = tracklog("prices", "\x1b]0;x\x07" + "y" * 9_000, home=tmp_path)
    assert (answer.code, "\x1b" in answer.err, len(answer.err) < 500) == (1, False, True)


def test_the_users_own_prices_are_listed_first_and_named_by_their_file(tmp_path: Path) -> None:
    env = own_prices(tmp_path)
    assert tracklog("prices", home=tmp_path, env=env).out.splitlines()[:3] == [
        "your own",
        "                                          input  output  read    5m    1h",
        "  my-model                                 0.60    2.00  0.60  0.60  0.60",
    ]
    document = tracklog("prices", "my-model", "--json", home=tmp_path, env=env).json
    assert [(one["vendor"], one["prices"][0]["source"]) for one in document["models"]] == [
        (None, "~/t/prices.toml")
    ]


def test_a_named_file_is_read_in_place_of_the_other(tmp_path: Path) -> None:
    env = own_prices(tmp_path, b"broken")
    other = write(tmp_path / "other.toml", OWN)
    answer = tracklog("prices", "my-model", "--prices", other, "--json", home=tmp_path, env=env)
    assert (answer.code, answer.json["models"][0]["prices"][0]["source"]) == (0, "~/other.toml")


def test_it_says_where_the_users_prices_are_looked_for(tmp_path: Path) -> None:
    path = tmp_path / "t" / "prices.toml"
    env = {"TRACKLOG_HOME": str(tmp_path / "t")}
    assert tracklog("prices", "--path", home=tmp_path, env=env).out == f"{path}\n"
    told = tracklog("prices", "--path", "--json", home=tmp_path, env=env).json
    assert told == {"schema_version": 1, "path": str(path), "exists": False}


def test_a_check_says_that_the_file_is_right_or_where_it_is_wrong(tmp_path: Path) -> None:
    env = own_prices(tmp_path)
    assert tracklog("prices", "--check", home=tmp_path, env=env).out == "~/t/prices.toml is right: 1 price\n"
    wrong = write(tmp_path / "wrong.toml", OWN.replace(b"2", b"'two'"))
    answer = tracklog("prices", "--check", "--prices", wrong, home=tmp_path, env=env)
    assert answer == (
        2,
        "",
        "tracklog: ~/wrong.toml, line 4: price 1: 'output' must be a number of dollars\n",
    )
    nothing = tracklog("prices", "--check", home=tmp_path, env={"TRACKLOG_HOME": str(tmp_path / "none")})
    assert nothing.out == "~/none/prices.toml does not exist: you have no prices of your own\n"


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "long"])
def test_a_file_that_holds_no_prices_is_the_users_mistake(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "p.toml"
    said = {
        "missing": f"{path} does not exist: name a file of prices",
        "folder": f"{path} holds no prices: directory",
        "pipe": f"{path} holds no prices: FIFO",
        "long": f"{path} is too long for a file of prices",
    }
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "long":
        path.write_bytes(b"#" * 1_000_001)
    answer = tracklog("prices", "--prices", path, home=tmp_path)
    assert answer == (2, "", f"tracklog: {said[kind]}\n")
