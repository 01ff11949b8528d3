-- Results of Codex are stored without the client's envelope: its logs are read once more, from their source or the archive.
-- The marks of their bytes stay, so that a log which was rewritten meanwhile is recognised.

update log_files set size = -1, position = 0, lines = 0, memory = null,
  pieces_read = 0, pieces_unknown = 0, pieces_broken = 0, recovered = 0
  where agent = 'codex' and kind in ('transcript', 'subagent') and state in ('here', 'kept');
