"""Short numbers that stand for long names in the index."""

from __future__ import annotations

from hashlib import blake2b


def call_key(call: str) -> int:
    """The number by which texts find a call: the same on every machine, and never negative."""
    digest = blake2b(call.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
