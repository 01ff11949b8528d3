"""Run apart from our own process: answers questions on stdin, one JSON document per line, with the SDK in the folder argv[1].

A question is a Claude home and session ids; the answer has the uuids of each session's messages.
"""

import json
import os
import sys

sys.path.insert(0, sys.argv[1])

from claude_agent_sdk import get_session_messages  # type: ignore[import-not-found]

for line in sys.stdin:
    home, session_ids = json.loads(line)
    os.environ["CLAUDE_CONFIG_DIR"] = home
    answer = {id: [message.uuid for message in get_session_messages(id)] for id in session_ids}
    print(json.dumps(answer), flush=True)
