"""One question of the API, answered by the command line itself: a process of its own beside the server.

    echo '["sessions", "--json"]' | python -P -m tracklog.views.web.api_child

What is asked comes on stdin: the words of a command can be read by every user of a machine.
"""

from __future__ import annotations

import json
import os
import sys

from tracklog.views.cli.click_app import run

if __name__ == "__main__":
    code = run([str(word) for word in json.load(sys.stdin)])
    sys.stderr.flush()
    os._exit(code)  # as the command itself does: what was to be said is said
