"""The JSON documents that `--json` and the HTTP API share (docs/cli.md)."""
