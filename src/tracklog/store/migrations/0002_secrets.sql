-- Secrets that stand in the logs: of which kind, and where. Never the value: a keyed hash tells it from others.

create table secret_scans (         -- how far each log was looked through, and with which rules
  file integer primary key,
  generation integer not null,      -- of the log: one that was rewritten is looked through anew
  rules text not null,              -- the version of the rules, and a mark of the key
  position integer not null,        -- behind the last ended line that was looked through
  lines integer not null,           -- ended lines before the position
  contents_bytes integer not null,  -- so much of it was looked through; behind the position stands a line that no newline ends
  problem text                      -- why it was not looked through to its end
);

create table secret_rows (
  file integer not null,
  line integer not null,            -- in which it begins
  kind text not null,               -- as in the rules
  hash text not null,               -- 16 digits of the keyed hash of the value
  count integer not null,
  primary key (file, line, kind, hash)
) without rowid;
