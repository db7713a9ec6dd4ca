-- Long texts, found by passage: each passage has an id of its own in `words` and `vectors`.

-- Which part of which event a passage is. The first one has the event's own id; an event without any is indexed whole.
create table passages (
  id integer primary key, -- drawn from the same counter as the ids of events
  user_no integer not null, -- whose it is
  event_id integer not null, -- the event
  start integer not null, -- where in its text it begins, in characters, quoted contexts left out
  length integer not null -- how many characters it has
);
create index passages_by_event on passages (event_id);

-- Long events that are stored already are cut by a job; one that indexes everything does that as well.
insert into jobs (user_no, kind, key, state, run_at, created_at)
  select no, 'index', 'passages', 'queued', 0, 0 from users where last_event > 0
  and not exists (select 1 from jobs where user_no = users.no and kind = 'index' and key = 'all');
