"""What the doctor finds: how healthy the logs, the index and the archive are, and how much is understood.

`examine` reads all logs and gives every check: for the command, its JSON and, in a process beside the server, for the page.
`health` asks the index only, so that a page can show something at once. `checks` and `store_checks` are the checks themselves,
`deletion` says what agents are about to delete, `coverage` sums up what was understood.
"""
