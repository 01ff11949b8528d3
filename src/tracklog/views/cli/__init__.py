"""The command line. `main` is the entry; a command's module is imported when it runs."""

from tracklog.views.cli.main import main  # scripts of earlier installations import it from here

__all__ = ["main"]
