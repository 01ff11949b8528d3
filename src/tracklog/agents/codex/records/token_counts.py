"""Tokens and rate limits, as Codex counts them.

A usage object nests: cached and written input tokens are part of the input, reasoning tokens are part of the
output, and the total is input plus output. Absent is not zero.
"""

from tracklog.model.records import Named


class TokenUsage(Named):
    """Token counts; cached and written input is part of the input, reasoning is part of the output."""

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None  # since 0.145
    output_tokens: int | None = None
    reasoning_output_tokens: int | None = None
    total_tokens: int | None = None
    codex_rollout_budget_units: int | float | None = None


class TokenUsageRecord(Named):
    """The usage of one response of the API (since 0.15x); also repeated inside `compacted`."""

    usage: TokenUsage
    thread_id: str | None = None
    turn_id: str | None = None
    session_id: str | None = None
    root_turn_id: str | None = None
    response_id: str | None = None
    turn_token_usage: TokenUsage | None = None
    thread_token_usage: TokenUsage | None = None


class TokenUsageInfo(Named):
    total_token_usage: TokenUsage | None = None
    last_token_usage: TokenUsage | None = None
    last_usage_includes_reasoning: bool | None = None
    model_context_window: int | None = None
    model: str | None = None  # some builds of others


class RateLimitWindow(Named):
    used_percent: float
    window_minutes: int | None = None
    resets_at: int | None = None  # Unix seconds, since 0.48
    resets_in_seconds: int | None = None  # 0.41 to 0.47


class Credits(Named):
    has_credits: bool
    unlimited: bool
    balance: str | None = None


class SpendLimit(Named):
    limit: str
    used: str
    remaining_percent: int
    resets_at: int


class RateLimits(Named):
    limit_id: str | None = None
    limit_name: str | None = None
    normal_model_slug: str | None = None
    primary: RateLimitWindow | None = None
    secondary: RateLimitWindow | None = None
    credits: Credits | None = None
    individual_limit: SpendLimit | None = None
    spend_control_reached: bool | None = None
    plan_type: str | None = None
    rate_limit_reached_type: str | None = None
    primary_used_percent: float | None = None  # these five: 0.40 only
    secondary_used_percent: float | None = None
    primary_to_secondary_ratio_percent: float | None = None
    primary_window_minutes: int | None = None
    secondary_window_minutes: int | None = None
