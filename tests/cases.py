"""Try a long table of cases in one test: pytest needs about 3 ms for each test, many cases take far less.

    @for_each("text", HOSTILE)
    def test_a_hostile_text_stays_text(text: str) -> None: ...

Rules
  1. All cases are tried; the failure shows each one that failed, with its own traceback.
  2. The cases share the fixtures of the test, so a case must not change them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

Test = Callable[..., None]


def for_each(names: str, cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Return a decorator that calls a test once for each case; `names` are its arguments, as for parametrize."""
    tried, wanted = list(cases), [name.strip() for name in names.split(",")]

    def fold(test: Test) -> Test:
        @functools.wraps(test)
        def try_all(**fixtures: Any) -> None:
            failed = [error for case in tried if (error := _try(test, fixtures, wanted, case))]
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(tried)} cases failed", failed)

        signature = inspect.signature(test)
        left = [one for name, one in signature.parameters.items() if name not in wanted]
        try_all.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return try_all

    return fold


def _try(test: Test, fixtures: dict[str, Any], names: list[str], case: Any) -> Exception | None:
    values = (case,) if len(names) == 1 else case
    try:
        test(**fixtures, **dict(zip(names, values, strict=True)))
    except Exception as error:
        error.add_note(f"case: {case!r}")
        return error
    return None
