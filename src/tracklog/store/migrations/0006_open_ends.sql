-- Sessions that an earlier version left open, or with calls that it guessed to be lost, are judged by their process now.

update session_rows set is_settled = 0 where is_listed and signs is null and state is not null and (
  id in (select session_row from thread_rows where state = 'unknown')
  or id in (select session_row from call_rows where why = 'no result, and the log is at rest')
);
