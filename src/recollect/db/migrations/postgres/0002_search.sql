-- Memories, and the index of words and meanings over them and the events; what each column holds is said in the SQLite
-- file of the same name.

create table memories (
  id bigint not null,
  user_no bigint not null,
  memory_id text not null,
  kind text not null,
  content text not null,
  importance double precision not null,
  tags text,
  conversation_no bigint,
  workspace text,
  source text,
  pinned_at bigint,
  created_at bigint not null,
  updated_at bigint not null,
  primary key (user_no, id)
);
create unique index memories_by_id on memories (user_no, memory_id);
create index memories_by_time on memories (user_no, id);

create table words (
  id bigint not null,
  user_no bigint not null,
  terms tsvector not null,
  scope text[] not null,
  primary key (user_no, id)
);
create index words_by_term on words using gin (terms);

create table title_words (
  id bigint not null,
  user_no bigint not null,
  terms tsvector not null,
  scope text[] not null,
  primary key (user_no, id)
);
create index title_words_by_term on title_words using gin (terms);

create table vectors (
  id bigint not null,
  user_no bigint not null,
  conversation_no bigint not null,
  signature bit varying not null,
  vector bytea not null,
  primary key (user_no, id)
);

create table embeddings (
  user_no bigint primary key,
  dimension bigint not null,
  model text not null,
  upto bigint not null
);

create table statistics (
  user_no bigint primary key,
  events bigint not null,
  counts text not null
);

-- As the owner, whom only forced policies bind: the rows of all users are meant here.
alter table conversations no force row level security;
alter table jobs no force row level security;
insert into jobs (user_no, kind, key, state, run_at, created_at)
  select distinct user_no, 'index', 'all', 'queued', 0, 0 from conversations where last_seq > 0;
alter table conversations force row level security;
alter table jobs force row level security;

do $$
declare t text;
begin
  foreach t in array array['memories', 'words', 'title_words', 'vectors', 'embeddings', 'statistics'] loop
    execute format('alter table %I enable row level security', t);
    execute format(
      'create policy own on %I using (user_no = nullif(current_setting(''recollect.user_no'', true), '''')::bigint)', t
    );
  end loop;
  -- Not forced on the two word tables: a policy keeps the term index from being used (the match is not leakproof; 5.6 ms
  -- became 55), so the functions below, which run as the owner, repeat the policy in their own WHERE.
  foreach t in array array['memories', 'vectors', 'embeddings', 'statistics'] loop
    execute format('alter table %I force row level security', t);
  end loop;
end $$;

-- Each term by itself, and the sum of what it weighs: ts_rank() knows no rare words, and SQLite has another order.
create function find_words(queries tsquery[], weights bigint[], needed text[], most bigint, newest boolean)
returns table (id bigint)
language sql stable security definer set search_path = recollect, pg_temp as $$
  select w.id from unnest(queries, weights) as t (query, weight) join words w on w.terms @@ t.query
  where w.user_no = nullif(current_setting('recollect.user_no', true), '')::bigint and w.scope @> needed
  group by w.id order by case when newest then 0 else sum(t.weight) end desc, w.id desc limit most
$$;

create function find_title_words(queries tsquery[], weights bigint[], needed text[], most bigint, newest boolean)
returns table (id bigint)
language sql stable security definer set search_path = recollect, pg_temp as $$
  select w.id from unnest(queries, weights) as t (query, weight) join title_words w on w.terms @@ t.query
  where w.user_no = nullif(current_setting('recollect.user_no', true), '')::bigint and w.scope @> needed
  group by w.id order by case when newest then 0 else sum(t.weight) end desc, w.id desc limit most
$$;
