"""Run apart from our own process: prints what the SDK in the folder argv[1] returns for the session ids on stdin."""

import json
import sys

sys.path.insert(0, sys.argv[1])

from claude_agent_sdk import get_session_messages  # type: ignore[import-not-found]

asked = json.load(sys.stdin)
json.dump({id: [message.uuid for message in get_session_messages(id)] for id in asked}, sys.stdout)
