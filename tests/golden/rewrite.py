"""Rewrites the golden files and generated documents: `make golden`. Review the difference before you commit it."""

from __future__ import annotations

from tests.golden.cases import ROOT, cases


def main() -> None:
    """Writes what is stale, and says so."""
    for path, text in cases().items():
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"rewrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
