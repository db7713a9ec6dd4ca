-- A memory's life. What is stored of it is a statement; everything that can change is in its changes, one row each, never
-- overwritten. Which change is in force depends on where one looks from: a change that was made on a branch is seen on that
-- branch. `head` is the one in force as seen from outside, kept so that most reads need not look at the others.

alter table memories rename to plain_memories;
drop index memories_by_id;
drop index memories_by_time;

-- Short statements that outlive their conversation.
create table memories (
  id integer primary key, -- drawn from the same counter as the ids of events
  user_no integer not null, -- whose it is
  memory_id text not null, -- its id for callers: follows from scope and statement
  content text not null, -- the statement; another statement is another memory
  kind text not null, -- as it is indexed: fact, preference, todo, project_state
  tags text, -- as it is indexed: a JSON list, null without any
  conversation_no integer, -- the conversation it is limited to; null: the user's
  workspace text, -- the workspace it is limited to; null: everywhere
  namespace text not null, -- both in one, for equality: u, c7, w/repo
  state text not null, -- as seen from outside: active, replaced, quarantined, forgotten, expired; hidden: on another branch
  head integer, -- the change in force as seen from outside
  indexed_at integer, -- since when it can be found by search; null: it cannot
  uses integer not null default 0, -- how often it was recalled
  used_at integer, -- when it was last
  created_at integer not null -- when it was first remembered
);
create unique index memories_by_id on memories (user_no, memory_id);
create index memories_by_time on memories (user_no, id);
create index memories_by_state on memories (user_no, namespace, state);

-- What happened to a memory: who, why, and how it stood afterwards.
create table memory_changes (
  id integer primary key, -- drawn from the same counter: the order of changes
  user_no integer not null, -- whose
  memory integer not null, -- of which memory, by its number
  change integer not null, -- what was changed together has the same number, and is undone together
  action text not null, -- added, confirmed, revised, replaced, forgotten, expired, evicted, quarantined, promoted, pinned, ...
  state text not null, -- how it stands after this
  wording text, -- the statement in other letters (upper, lower); null: as it was first said
  kind text not null, -- fact, preference, todo, project_state
  importance real not null, -- 0 to 1
  tags text, -- a JSON list, null without any
  pinned_at integer, -- when it was pinned; null: it is not
  by_hand integer, -- when a person wrote or revised it; null: nobody did
  replaced_by text, -- the id of the memory that took its place
  conflicts_with text, -- the id of a memory that it contradicts and may not replace
  flag text, -- why somebody should look at it; null: no need
  source text, -- the event it came from, where that is not one of ours
  source_no integer, -- the conversation it was said in
  source_branch integer, -- on which branch
  source_seqs text, -- the numbers of the events, with commas
  checkpoint text, -- the checkpoint of a graph it came with
  role text, -- whose words
  extractor text not null, -- what took it from them: hand, rules, events, model:...
  valid_from integer, -- since when it is true
  valid_to integer, -- until when
  expires_at integer, -- when it is dropped unless it is said again; null: never
  conversation_no integer, -- where the change was made; null: everywhere
  branch_no integer, -- on which branch
  seq integer, -- at which event
  who text not null, -- user, or what made the change
  why text, -- for a person to read
  prior integer, -- the change that was in force before it, as seen from there
  at integer not null, -- when it was said, or done by hand
  undone_at integer -- when it was undone; null: it was not
);
create index memory_changes_by_memory on memory_changes (user_no, memory, id);
create index memory_changes_by_place on memory_changes (user_no, conversation_no, branch_no, seq);
create index memory_changes_by_source on memory_changes (user_no, source_no);
create index memory_changes_by_group on memory_changes (user_no, change);

-- Which memory was derived from which.
create table memory_roots (
  user_no integer not null, -- whose
  memory integer not null, -- the derived one
  root integer not null, -- what it rests on
  primary key (user_no, memory, root)
) without rowid;
create index memory_roots_by_root on memory_roots (user_no, root);

-- How far the events of a branch have been considered for memories.
create table considered (
  user_no integer not null, -- whose
  conversation_no integer not null, -- of which conversation
  branch_no integer not null, -- the branch that the events were written on
  upto integer not null, -- the number of the newest one considered
  primary key (user_no, conversation_no, branch_no)
) without rowid;

insert into memories (id, user_no, memory_id, content, kind, tags, conversation_no, workspace, namespace, state, head,
  indexed_at, created_at)
  select id, user_no, memory_id, content, kind, tags, conversation_no, workspace,
    case when conversation_no is null and workspace is null then 'u' else '' end
    || case when conversation_no is null then '' else 'c' || conversation_no end
    || case when workspace is null then '' else 'w' || workspace end,
    'active', id, created_at, created_at from plain_memories;
insert into memory_changes (id, user_no, memory, change, action, state, kind, importance, tags, pinned_at, by_hand, source,
  role, extractor, valid_from, who, why, at)
  select id, user_no, id, id, 'added', 'active', kind, importance, tags, pinned_at, created_at, source, 'user', 'hand',
    created_at, 'user', 'remembered', updated_at from plain_memories;
drop table plain_memories;

alter table conversations add column origin text; -- what records it: hook, http, langgraph, import; null: the application

-- Events that never expire.
create table pins (
  user_no integer not null, -- whose
  conversation_no integer not null, -- of which conversation
  seq integer not null, -- the event's number
  pinned_at integer not null, -- since when
  primary key (user_no, conversation_no, seq)
) without rowid;
