"""Find and remove secrets and private data.

`rules` reads the shapes of secrets (`data/`), `find` looks for them. `identity` knows what tells who a person is,
`identity_spots` looks for that.

Public: `scan` (logs and files), `redact` (streams), `find` (one text), `rules`, `allowlist`, `identity`.
May import `archive`.
"""
