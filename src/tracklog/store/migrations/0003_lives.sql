-- What sessions do now, without reading their logs again: the signs of log and hooks, and on what their verdicts rest.

alter table session_rows add column signs blob;      -- as pipeline/session_life.py packs them
alter table session_rows add column life text;       -- alive, gone, fresh or silent: verdicts rest on it; null: none does
alter table session_rows add column evidence text;   -- JSON list: what says that it is in its state
