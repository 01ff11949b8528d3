"""Where our own files live."""

from __future__ import annotations

from pathlib import Path


def tracklog_home(given: Path | None) -> Path:
    """As told, else where the system keeps data of users."""
    if given is not None:
        return given.absolute()
    from platformdirs import user_data_path

    return user_data_path("tracklog")
