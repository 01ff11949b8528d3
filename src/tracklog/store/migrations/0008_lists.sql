-- What lists of sessions and calls filter, count and sort by. sessions/tables_listed.py writes it.

create table list_rows (            -- of the sessions that are listed
  row integer primary key,          -- in session_rows
  agent text not null, session text not null, state text not null,
  started_ms integer not null, last_ms integer not null,   -- -1: the log does not say
  turns integer not null, calls integer not null, errors integer not null, subagents integer not null,
  copies integer not null,          -- calls of sessions that are gone; not among `calls`
  active_ms real, wall_ms integer,
  title text, project text, model text,   -- the beginnings in small letters, to sort by
  words text not null               -- title and projects in small letters, to search in
);
create index list_rows_by_session on list_rows (session);
create table list_values (id integer primary key, kind integer not null, name text not null, unique (kind, name));
create table facets (               -- which session has which value
  value integer not null, row integer not null, primary key (value, row)
) without rowid;
create index facets_by_row on facets (row);

create table list_calls (           -- each call once: copies only if their original is gone
  called_ms integer not null, row integer not null, n integer not null,   -- the last two as in call_rows
  tool integer not null,            -- in list_values
  verdict text not null, took_ms real, took_by text, is_copy integer not null,
  primary key (called_ms, row, n)
) without rowid;
create index list_calls_by_row on list_calls (row);
create index list_calls_by_tool on list_calls (tool, took_ms, verdict, is_copy);
create index list_calls_by_duration on list_calls (took_ms, called_ms, row, n, tool, verdict, is_copy);
create index call_rows_copied on call_rows (owner) where is_inherited;

create table cost_rows (            -- what each session cost, at the prices in ledger_state
  session text primary key,
  cost_pico_usd integer, most_pico_usd integer, is_lower_bound integer not null,
  tokens integer not null, output_tokens integer not null,
  unpriced_requests integer not null, partial_requests integer not null, missing_requests integer not null,
  requests integer not null, models text not null   -- JSON list
) without rowid;

insert into settings (name, value) select 'lists', 'missing' where exists (select 1 from session_rows);
