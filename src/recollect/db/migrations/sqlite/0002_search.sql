-- Memories, and the index of words and meanings over them and the events. A row of the index has the id of what it
-- indexes; ids carry the user in their upper bits, so one person's rows are one range.

-- Short statements that outlive their conversation.
create table memories (
  id integer primary key, -- drawn from the same counter as the ids of events
  user_no integer not null, -- whose it is
  memory_id text not null, -- its id for callers
  kind text not null, -- fact, preference, todo, project_state
  content text not null, -- the statement
  importance real not null, -- 0 to 1
  tags text, -- a JSON list, null without any
  conversation_no integer, -- the conversation it is limited to; null: the user's
  workspace text, -- the workspace it is limited to; null: everywhere
  source text, -- the id of the event it came from, if any
  pinned_at integer, -- when it was pinned; null: it is not
  created_at integer not null, -- when it was remembered
  updated_at integer not null -- when it was last said again or changed
);
create unique index memories_by_id on memories (user_no, memory_id);
create index memories_by_time on memories (user_no, id);

-- Terms by our own tokenizer (search/tokens.py); the rows themselves are in events and memories.
-- `terms` of text, tags, path, tool and name, of memories content and tags; `scope` is what a search may be limited to.
create virtual table words using fts5(
  terms, scope, content = '', tokenize = "unicode61 remove_diacritics 0 tokenchars './:@+#-_\'"
);
insert into words (words, rank) values ('secure-delete', 1);

-- The same for the titles of conversations, by conversation number.
create virtual table title_words using fts5(
  terms, scope, content = '', tokenize = "unicode61 remove_diacritics 0 tokenchars './:@+#-_\'"
);
insert into title_words (title_words, rank) values ('secure-delete', 1);

-- Embeddings: half-precision floats, and a bit for the sign of each for the first pass.
create table vectors (
  id integer primary key, -- the event or memory it is of
  user_no integer not null, -- whose it is
  conversation_no integer not null, -- the conversation of the event; 0: it is of a memory
  signature blob not null, -- one bit a dimension
  vector blob not null -- two bytes a dimension
);

-- How far a user's vectors are, and of which model.
create table embeddings (
  user_no integer primary key, -- whose they are
  dimension integer not null, -- the embedder's dimension (before the name: salvage knows a row of `users` by its shape)
  model text not null, -- the embedder's name
  upto integer not null -- everything up to this id has been embedded
);

-- In how many of a user's events a term stands, from a sample; rebuilt as the log grows.
create table statistics (
  user_no integer primary key, -- whose they are
  events integer not null, -- how many events there were
  counts text not null -- a JSON object: term -> count
);

-- What was written before this index existed is indexed by a job.
insert into jobs (user_no, kind, key, state, run_at, created_at)
  select no, 'index', 'all', 'queued', 0, 0 from users where last_event > 0;
