"""Results of Claude Code's tools (`toolUseResult`), by tool."""
