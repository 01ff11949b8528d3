"""All knowledge about each agent: its folders, its format, its program.

`base` is the contract that an agent fulfils, `supported` the agents that there are; `registry` leads from a file to its
records, `discovery` to the files, `roots` to the agents' homes. The rest of tracklog asks these.
`claude_code/` and `codex/` have the same module names inside. `hooks/` is the hook format that agents share.
Imports `model` and `sources`.
"""
