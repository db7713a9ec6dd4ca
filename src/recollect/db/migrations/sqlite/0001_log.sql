-- Conversations, branches, events. Every table leads with the user; event ids carry the user in their upper bits, so
-- that one person's events are one range of rowids.

create table meta (
  name text primary key,
  value text not null
) without rowid;

create table users (
  no integer primary key autoincrement,
  id text not null unique,
  last_event integer not null default 0,
  created_at integer not null
);

create table conversations (
  no integer primary key autoincrement,
  user_no integer not null,
  id text not null,
  title text,
  workspace text,
  workflow_id text,
  metadata text not null,
  last_seq integer not null default 0,
  active_branch integer not null default 0,
  activity integer not null,
  created_at integer not null,
  updated_at integer not null,
  deleted_at integer
);
create unique index conversations_by_id on conversations (user_no, id);
create index conversations_by_activity on conversations (user_no, activity);

create table branches (
  user_no integer not null,
  conversation_no integer not null,
  no integer not null,
  name text not null,
  parent integer,
  fork_seq integer not null,
  summary_seq integer,
  created_at integer not null,
  primary key (user_no, conversation_no, no)
) without rowid;
create unique index branches_by_name on branches (user_no, conversation_no, name);

create table events (
  id integer primary key,
  user_no integer not null,
  conversation_no integer not null,
  branch_no integer not null,
  seq integer not null,
  kind text not null,
  role text,
  text text not null,
  name text,
  tool text,
  path text,
  agent text,
  status text,
  task_id text,
  message integer,
  tags text,
  payload text,
  model text,
  input_tokens integer,
  output_tokens integer,
  cost real,
  duration_ms integer,
  key text,
  created_at integer not null,
  checksum integer not null
);
create unique index events_by_seq on events (user_no, conversation_no, branch_no, seq);
create index events_by_kind on events (user_no, conversation_no, branch_no, kind, seq);
create unique index events_by_key on events (user_no, conversation_no, branch_no, key) where key is not null;

-- What was deleted or cleared: the numbers and the time, no content.
create table tombstones (
  user_no integer not null,
  conversation_no integer not null,
  first_seq integer not null,
  last_seq integer not null,
  deleted_at integer not null,
  primary key (user_no, conversation_no, first_seq)
) without rowid;

create table jobs (
  id integer primary key autoincrement,
  user_no integer not null,
  kind text not null,
  key text not null,
  state text not null,
  run_at integer not null,
  attempts integer not null default 0,
  last_error text,
  lease_until integer,
  created_at integer not null
);
create unique index jobs_queued on jobs (user_no, kind, key) where state = 'queued';
create index jobs_by_time on jobs (user_no, state, run_at);

create table receipts (
  user_no integer not null,
  id text not null,
  request text not null,
  counts text not null,
  erased_at integer not null,
  primary key (user_no, id)
) without rowid;

insert into meta (name, value) values ('batch', '');
