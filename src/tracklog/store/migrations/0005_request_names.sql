-- Which request of a session a count of the ledger belongs to, where the log names no request (Codex).

create table entry_requests (
  entry integer primary key,        -- in entry_rows
  request text not null             -- as in request_rows
);
