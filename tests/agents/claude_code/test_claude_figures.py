"""The figures of an answer: a plain one has those that any other reading of it gives, or it is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agents.claude_code.records.test_usage_lines import ODD, Json, answer, dumped, often, usages
from tracklog.agents.claude_code.records.usage_lines import ANSWERS, PLAIN_ANSWERS, AnswerFields
from tracklog.agents.claude_code.usage_figures import Held, aside_of, figures_of, output_of, plain_figures_of

WHOLE = st.integers(0, 2**31 - 1)


@often
@given(usages(WHOLE | ODD) | usages(WHOLE))
def test_a_plain_answer_has_the_figures_of_any_answer(usage: Json) -> None:
    raw = dumped(answer(usage))
    try:
        plain = PLAIN_ANSWERS.decode(raw).message.usage
    except msgspec.DecodeError:
        return
    said = message_usage(ANSWERS.decode(raw))
    assert (plain.output_tokens, *plain_figures_of(plain)) == (output_of(said), *figures_of(said))


def message_usage(line: AnswerFields) -> Any:
    assert line.message is not None
    return line.message.usage


@pytest.mark.parametrize(
    "odd",
    [
        {"costUSD": 0.5},
        {"forkedFrom": {"sessionId": "s"}},
        {"timestamp": None},
        {"timestamp": "2026-03-04T12:00:00Z"},
        {"type": "progress"},
        {"message": {"id": None, "usage": {"output_tokens": 1}}},
        {"message": {"id": "m", "usage": None}},
        {"message": {"id": "m", "usage": {"input_tokens": 1}}},
        {"message": {"id": "m", "usage": {"output_tokens": -1}}},
        {"message": {"id": "m", "usage": {"output_tokens": 1, "input_tokens": 2**31}}},
        {"message": {"id": "m", "usage": {"output_tokens": 1, "service_tier": "batch"}}},
        {"message": {"id": "m", "usage": {"output_tokens": 1, "iterations": [{"type": "compaction"}]}}},
    ],
)
def test_what_a_closer_look_is_due_to_is_no_plain_answer(odd: Json) -> None:
    PLAIN_ANSWERS.decode(dumped(answer({"output_tokens": 1})))
    with pytest.raises(msgspec.DecodeError):
        PLAIN_ANSWERS.decode(dumped(answer({"output_tokens": 1}) | odd))


def test_a_plain_answer_has_nothing_that_only_few_have() -> None:
    usage = {"output_tokens": 1, "iterations": [{"type": "message", "output_tokens": 1}]}
    line = PLAIN_ANSWERS.decode(dumped(answer(usage)))
    assert aside_of(Held(line, 0, 1, False, line, 0, False, "", True)) is None
