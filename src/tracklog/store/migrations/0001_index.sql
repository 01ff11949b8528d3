-- The first schema. Times are milliseconds since 1970 (UTC) in `*_ms`, or the log's own text in `at`.
-- A row that speaks of lines names its file by number and the line; the bytes stand in the log or in the archive.

create table log_files (
  id integer primary key,
  path text not null,               -- absolute, where it stands or last stood
  root text not null,               -- the home or folder in which it was found
  agent text,                       -- null: of nobody we know
  kind text not null,               -- as sources.found.FileKind
  session text,                     -- the session that it belongs to; null: none
  own_session text,                 -- what its own path or head says (Codex: the thread)
  state text not null,              -- here; kept: only the archive has it; past: what it held stands elsewhere now
  device integer not null,
  inode integer not null,
  size integer not null,            -- as the listing saw it when it was last read
  mtime_ns integer not null,
  ctime_ns integer not null,
  generation integer not null default 1,   -- counts rewritings
  contents_bytes integer not null default 0,  -- how much of it was read (of .zst: uncompressed)
  position integer not null default 0,     -- behind the last ended line of that
  lines integer not null default 0,        -- ended lines before the position
  head blob,                        -- marks of the first bytes, and of the last ones that were read (sources/marks.py)
  tail blob,
  pieces_read integer not null default 0,
  pieces_unknown integer not null default 0,
  pieces_broken integer not null default 0,
  recovered integer not null default 0,
  memory blob,                      -- what the translator remembers at the position
  told blob,                        -- what its head tells of its session and kin (pipeline)
  problem text                      -- why it could not be read to its end
);
create unique index log_files_by_path on log_files (path) where state <> 'past';
create index log_files_by_any_path on log_files (path);
create index log_files_by_session on log_files (session);
create index log_files_at_a_glance on log_files (  -- what is asked of all of them before every answer, without their blobs
  state, path, size, mtime_ns, ctime_ns, inode, kind, generation,
  contents_bytes, position, lines, pieces_read, pieces_unknown, pieces_broken, recovered
);

create table folders (              -- whose listing is known: unchanged folders are not listed again
  root text not null,
  path text not null,
  mtime_ns integer not null,
  primary key (root, path)
) without rowid;

create table settings (name text primary key, value text not null) without rowid;

create table kin (                  -- by which sessions find those they share history with
  what text not null,               -- begins, holds, names
  key blob not null,
  agent text not null,
  session text not null,
  primary key (key, what, agent, session)
) without rowid;
create index kin_by_session on kin (agent, session);

-- One conversation, as `sessions` lists it. Made anew as a whole whenever one of its logs has changed.
create table session_rows (
  id integer primary key,
  agent text not null,
  session text not null,
  family integer,                   -- sessions with the same number share history
  is_settled integer not null,      -- 0: its logs have grown since its rows were made
  is_listed integer not null,       -- 0: nothing but warm-ups, or nothing could be read
  only_here integer not null,       -- no log of its main thread stands at its source any more
  path text, title text, project text, cwd text,
  cwds text,                        -- JSON list, where it worked in more folders than one
  branch text,
  models text, versions text,       -- JSON lists
  entrypoint text, started_at text, last_at text, last_ms integer, state text,
  turns integer, requests integer, calls integer, errors integer, threads integer,
  forked_from text,
  not_understood integer            -- lines
);
create unique index session_rows_by_name on session_rows (agent, session);
create index session_rows_by_time on session_rows (last_ms);

create table thread_rows (
  session_row integer not null, n integer not null,
  thread text not null, parent_thread text, parent_call text, type text, description text,
  state text, sureness text, joined_by text, is_warmup integer, requests integer, calls integer,
  primary key (session_row, n)
) without rowid;

create table turn_rows (
  session_row integer not null, thread text not null, n integer not null,
  at text, ended_at text, took_ms real, file integer, line integer,
  requests integer, calls integer, is_interrupted integer, on_active_branch integer, is_inherited integer,
  primary key (session_row, thread, n)
) without rowid;

create table prompt_rows (
  session_row integer not null, thread text not null, turn integer not null, n integer not null,
  origin text, at text, file integer, line integer, text text,   -- the first 300 characters
  primary key (session_row, thread, turn, n)
) without rowid;

create table request_rows (
  session_row integer not null, n integer not null,
  request text not null, thread text not null, turn integer, model text, at text, ended_at text,
  stop_reason text, error text, calls integer, file integer, first_line integer, last_line integer,
  is_synthetic integer, on_active_branch integer, is_inherited integer,
  primary key (session_row, n)
) without rowid;

create table call_rows (
  id integer primary key,
  session_row integer not null, n integer not null,
  call text not null, call_key integer not null,   -- a short hash of the id, by which texts find it
  owner text,                        -- the session that made it, if this one only holds a copy
  thread text not null, turn integer, request text, name text not null,
  verdict text not null, outcome text, sureness text not null, why text, timed_out integer,
  called_at text, called_ms integer, returned_at text, took_ms real, took_by text, exit_code integer,
  on_active_branch integer, is_inherited integer,
  file integer, line integer,        -- where it was asked for
  did text,                          -- in a few words what it did
  error text,                        -- the beginning of it
  rest blob                          -- what else the document of a call holds, but for its input (JSON)
);
create index call_rows_by_session on call_rows (session_row, n);
create index call_rows_by_key on call_rows (call_key);
create index call_rows_by_time on call_rows (called_ms);

create table branch_rows (
  session_row integer not null, n integer not null,
  branch text not null, parent text, start_node text, end_node text, is_active integer, why text,
  primary key (session_row, n)
) without rowid;

create table problem_rows (
  session_row integer not null, n integer not null, file integer, line integer, what text,
  primary key (session_row, n)
) without rowid;

-- Texts that can be searched; the words stand in `words`, the text itself only in the log.
create table text_rows (
  id integer primary key,           -- also the row of `words`; grows with time (store/texts.py)
  file integer not null,
  line integer not null,
  offset integer not null,          -- of the line
  n integer not null,               -- which text of the line
  role integer not null,            -- store/texts.py
  at_ms integer,
  name integer,                     -- of the tool or the model, in `names`
  call_key integer                  -- as in call_rows
);
create index text_rows_by_file on text_rows (file, offset);
create table names (id integer primary key, name text not null unique);
create virtual table words using fts5 (
  text, parts, content='', columnsize=0, tokenize='unicode61 remove_diacritics 2'
);
insert into words (words, rank) values ('hashsize', 33554432);  -- bytes that are held before they are written: a fifth faster
insert into words (words, rank) values ('automerge', 8);  -- of more segments one is made: half the writing, and still quick to ask

-- The ledger: what each log says of requests (packed), and what all of them together come to.
create table blocks (
  file integer primary key,
  generation integer not null,
  contents_bytes integer not null,  -- so much of the log had been read
  has_tools integer not null,       -- whether it says which tools a request called: that takes longer to read
  inputs blob not null,             -- what else it was made from (pipeline/spending.py)
  body blob not null
);
create table ledger_logs (          -- the logs that the ledger was last settled with
  file integer primary key,
  generation integer not null,
  contents_bytes integer not null,
  path text not null,
  agent text not null, session text not null, thread text not null,
  is_main integer not null,
  is_counted integer not null,      -- 0: it holds nothing, or another log holds the same
  component integer not null,       -- logs with the same number may share requests; nothing depends on others
  cwd text, problem text
);
create index ledger_logs_by_component on ledger_logs (component);
create table block_keys (           -- by which logs find those that hold the same requests: a short hash of the key
  key integer not null,
  file integer not null,
  primary key (key, file)
) without rowid;
create index block_keys_by_file on block_keys (file);
create table entry_rows (           -- one row for each request, copies joined
  id integer primary key,
  file integer not null,            -- whose log wrote it down first
  key text not null,
  agent text not null, session text not null, thread text not null,
  at_ms integer, model text, terms text not null, entrypoint text,
  certainty text not null,
  input integer not null, output integer not null, reasoning integer not null,
  cache_write integer not null, cache_write_5m integer not null, cache_write_1h integer not null,
  cache_read integer not null, web_searches integer not null,
  counted_file integer not null, counted_offset integer not null,
  stated_pico_usd integer, tools text, beside text, inherited_by text   -- lists: JSON
);
create index entry_rows_by_file on entry_rows (file);
create index entry_rows_by_time on entry_rows (at_ms);
create index entry_rows_with_more on entry_rows (id) where beside is not null or inherited_by is not null;
create table sum_rows (             -- sums of requests that are alike; prices are applied when somebody asks
  file integer not null,            -- as in entry_rows
  quarter integer,                  -- of an hour, since 1970: every zone's days begin with one; null: no time
  thread text not null, entrypoint text, model text, terms text not null,
  step integer not null,            -- the step of its model's price that the size of a prompt leads to
  asked_by text,                    -- the model of the request, where this is what an advisor used in it
  is_awaited integer not null,      -- requests of which no line tells stand apart
  input integer not null, output integer not null, reasoning integer not null,
  cache_write integer not null, cache_write_5m integer not null, cache_write_1h integer not null,
  cache_read integer not null, web_searches integer not null,
  requests integer not null, partial integer not null, missing integer not null, awaited integer not null,
  partial_output integer not null,
  longest integer not null,         -- the largest output of a partial one
  first_ms integer, last_ms integer,
  stated_usd integer not null, stated_rest_pico_usd integer not null, stated_requests integer not null
);
create index sum_rows_by_file on sum_rows (file);
create table total_rows (           -- sessions whose client states its own totals, at the prices in ledger_state
  session text primary key,
  component integer not null,
  hidden blob not null,             -- what they hold beyond the log (packed)
  stated_pico_usd integer, stated_requests integer
) without rowid;
create table parent_rows (          -- of sessions that share requests, from whom each descends
  session text primary key,
  component integer not null,
  parent text not null
) without rowid;
create table ledger_state (name text primary key, value blob not null) without rowid;

-- The archive: which file of it holds which log, and where its frames begin.
create table archives (
  file integer not null,
  generation integer not null,
  name text not null,               -- below the folder of the archive
  contents_bytes integer not null,
  stored_bytes integer not null,
  is_cold integer not null default 0,
  primary key (file, generation)
) without rowid;
create table frames (
  file integer not null, generation integer not null,
  contents_offset integer not null, stored_offset integer not null,
  primary key (file, generation, contents_offset)
) without rowid;
