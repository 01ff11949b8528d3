"""Start the supervisor of the next child before anything else is loaded: Python starts while the command is read."""

from tracklog.run.process.prestart import prestart as prestart
