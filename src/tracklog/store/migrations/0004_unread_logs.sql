-- A log that could not be read for a moment was kept as if it held nothing. All of them are read once more.

update log_files set ctime_ns = -1 where problem is not null and state = 'here';
update log_files set size = -1 where problem is not null and state = 'kept';
update session_rows set is_settled = 0
  where id in (select session_row from problem_rows where what like 'not readable%');

-- Texts, ids and verdicts that were stored before stay as an older tracklog read them, until a rebuild. doctor says so.
insert into settings (name, value) select 'read_by', 'older' where exists (select 1 from log_files);
