-- Conversations, branches, events. Every table leads with the user; event ids carry the user in their upper bits, so
-- that one person's events are one range of rowids.

-- What the store remembers of itself.
create table meta (
  name text primary key,  -- what
  value text not null  -- `batch`: the mark of the newest commit, looked for when a commit's answer is lost
) without rowid;

-- Everyone who ever wrote here. Other tables know a user by number.
create table users (
  no integer primary key autoincrement,  -- stands for the user in every other table
  id text not null unique,  -- as the caller says it; compared by equality only
  last_event integer not null default 0,  -- the counter behind event ids and activity (SQLite; Postgres has a sequence)
  created_at integer not null  -- first write
);

-- One row for each log, with the counter that numbers its events.
create table conversations (
  no integer primary key autoincrement,  -- stands for the conversation in other tables
  user_no integer not null,  -- whose
  id text not null,  -- as the caller says it; unique within the user
  title text,  -- given, or from the first message
  workspace text,  -- at most one
  workflow_id text,  -- a run of another system
  metadata text not null,  -- JSON
  last_seq integer not null default 0,  -- the number of the newest event; never goes back
  active_branch integer not null default 0,  -- meant when none is named
  activity integer not null,  -- orders the list; drawn from a counter, because clocks jump
  created_at integer not null,  -- milliseconds UTC, as every time here
  updated_at integer not null,  -- last append
  deleted_at integer  -- in the bin since
);
create unique index conversations_by_id on conversations (user_no, id);
create index conversations_by_activity on conversations (user_no, activity);

-- Pointers into a log: (parent, event number). `main` has number 0 and no parent.
create table branches (
  user_no integer not null,  -- whose
  conversation_no integer not null,  -- of which conversation
  no integer not null,  -- 0, 1, 2, ... within the conversation
  name text not null,  -- unique within the conversation
  parent integer,  -- the branch it was forked from
  fork_seq integer not null,  -- the last number shared with it
  summary_seq integer,  -- the summary in force
  created_at integer not null,  -- when it was forked
  primary key (user_no, conversation_no, no)
) without rowid;
create unique index branches_by_name on branches (user_no, conversation_no, name);

-- The log itself. A row is never changed.
create table events (
  id integer primary key,  -- on SQLite: user number << 32, plus a counter, so that one user is one range
  user_no integer not null,  -- whose
  conversation_no integer not null,  -- of which conversation
  branch_no integer not null,  -- the branch it was written on
  seq integer not null,  -- 1, 2, 3, ... within the conversation, whatever the branch
  kind text not null,  -- message, tool_use, ...
  role text,  -- who speaks
  text text not null,  -- what was said, whole
  name text,  -- the type of an `event`
  tool text,  -- which tool
  path text,  -- which file
  agent text,  -- which agent
  status text,  -- a state
  task_id text,  -- the task of a ledger snapshot
  message integer,  -- of reasoning: its message; of a summary: the last number it covers
  tags text,  -- a JSON list
  payload text,  -- a JSON object
  model text,  -- which model
  input_tokens integer,  -- read by the model
  output_tokens integer,  -- written by the model
  cost real,  -- in the caller's currency
  duration_ms integer,  -- how long it took
  key text,  -- idempotency key
  created_at integer not null,  -- when it happened
  checksum integer not null  -- of what the event says; `verify` compares
);
create unique index events_by_seq on events (user_no, conversation_no, branch_no, seq);
create index events_by_kind on events (user_no, conversation_no, branch_no, kind, seq);
create unique index events_by_key on events (user_no, conversation_no, branch_no, key) where key is not null;

-- What was deleted or cleared: the numbers and the time, no content.
create table tombstones (
  user_no integer not null,  -- whose
  conversation_no integer not null,  -- of which conversation
  first_seq integer not null,  -- from this number
  last_seq integer not null,  -- to this one
  deleted_at integer not null,  -- when
  primary key (user_no, conversation_no, first_seq)
) without rowid;

-- Background work that survives a crash.
create table jobs (
  id integer primary key autoincrement,  -- in order of asking
  user_no integer not null,  -- whose
  kind text not null,  -- what is to be done
  key text not null,  -- to what; unique with `kind` while queued, which is the debounce
  state text not null,  -- queued, running or failed; a job that is done is gone
  run_at integer not null,  -- not before
  attempts integer not null default 0,  -- so far
  last_error text,  -- of the newest attempt
  lease_until integer,  -- when a worker that vanished loses it
  created_at integer not null  -- when it was asked for
);
create unique index jobs_queued on jobs (user_no, kind, key) where state = 'queued';
create index jobs_by_time on jobs (user_no, state, run_at);

-- What was erased, and when: counts, no content.
create table receipts (
  user_no integer not null,  -- whose
  id text not null,  -- UUIDv7
  request text not null,  -- JSON: what was asked
  counts text not null,  -- JSON: rows by table
  erased_at integer not null,  -- when
  primary key (user_no, id)
) without rowid;

insert into meta (name, value) values ('batch', '');
