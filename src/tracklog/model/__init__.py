"""What happened, for every agent alike: events, sessions, calls, usage. Pure: no file, clock, process or database.

`events` are what agents' translators produce, `session` what everything else reads. `fold/` collects the events of a log,
`tree/` the branches of a conversation, `lineage/` finds copied lines, `assemble/` makes the session. `json_text` reads JSON as
logs hold it, `wording` counts and measures in words. Imports `sources`.
"""
