"""Claude Code: where its logs are, what their lines mean, how its program is started and recognised."""
