"""Answer one request of the API by the command line, in a process beside the server.

    echo '["sessions", "--json"]' | python -P -m tracklog.views.web.api_child

The arguments come on stdin: those of a command can be read by every user of a machine.
"""

from __future__ import annotations

import json
import os
import sys

from tracklog.views.cli.click_app import run

if __name__ == "__main__":
    code = run([str(word) for word in json.load(sys.stdin)])
    sys.stderr.flush()
    os._exit(code)  # as the command itself does: all output is written
