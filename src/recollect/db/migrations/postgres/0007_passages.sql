-- Long texts, found by passage; what each column holds is said in the SQLite file of the same name.

create table passages (
  id bigint not null,
  user_no bigint not null,
  event_id bigint not null,
  start bigint not null,
  length bigint not null,
  primary key (user_no, id)
);
create index passages_by_event on passages (user_no, event_id);

alter table passages enable row level security;
alter table passages force row level security;
create policy own on passages using (user_no = nullif(current_setting('recollect.user_no', true), '')::bigint);

-- As the owner, whom only forced policies bind: the rows of all users are meant here.
alter table conversations no force row level security;
alter table jobs no force row level security;
insert into jobs (user_no, kind, key, state, run_at, created_at)
  select distinct user_no, 'index', 'passages', 'queued', 0, 0 from conversations c where last_seq > 0
  and not exists (select 1 from jobs j where j.user_no = c.user_no and j.kind = 'index' and j.key = 'all');
alter table conversations force row level security;
alter table jobs force row level security;
