-- A memory's life: its changes; what each column holds is said in the SQLite file of the same name.

alter table memories no force row level security;
alter table memories rename to plain_memories;
alter index memories_pkey rename to plain_memories_pkey;
drop index memories_by_id;
drop index memories_by_time;

create table memories (
  id bigint not null,
  user_no bigint not null,
  memory_id text not null,
  content text not null,
  kind text not null,
  tags text,
  conversation_no bigint,
  workspace text,
  namespace text not null,
  state text not null,
  head bigint,
  indexed_at bigint,
  uses bigint not null default 0,
  used_at bigint,
  created_at bigint not null,
  primary key (user_no, id)
);
create unique index memories_by_id on memories (user_no, memory_id);
create index memories_by_time on memories (user_no, id);
create index memories_by_state on memories (user_no, namespace, state);

create table memory_changes (
  id bigint not null,
  user_no bigint not null,
  memory bigint not null,
  change bigint not null,
  action text not null,
  state text not null,
  wording text,
  kind text not null,
  importance double precision not null,
  tags text,
  pinned_at bigint,
  by_hand bigint,
  replaced_by text,
  conflicts_with text,
  flag text,
  source text,
  source_no bigint,
  source_branch bigint,
  source_seqs text,
  checkpoint text,
  role text,
  extractor text not null,
  valid_from bigint,
  valid_to bigint,
  expires_at bigint,
  conversation_no bigint,
  branch_no bigint,
  seq bigint,
  who text not null,
  why text,
  prior bigint,
  at bigint not null,
  undone_at bigint,
  primary key (user_no, id)
);
create index memory_changes_by_memory on memory_changes (user_no, memory, id);
create index memory_changes_by_place on memory_changes (user_no, conversation_no, branch_no, seq);
create index memory_changes_by_source on memory_changes (user_no, source_no);
create index memory_changes_by_group on memory_changes (user_no, change);

create table memory_roots (
  user_no bigint not null,
  memory bigint not null,
  root bigint not null,
  primary key (user_no, memory, root)
);
create index memory_roots_by_root on memory_roots (user_no, root);

create table considered (
  user_no bigint not null,
  conversation_no bigint not null,
  branch_no bigint not null,
  upto bigint not null,
  primary key (user_no, conversation_no, branch_no)
);

-- As the owner, whom only forced policies bind: the rows of all users are meant here.
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

alter table conversations add column origin text;

create table pins (
  user_no bigint not null,
  conversation_no bigint not null,
  seq bigint not null,
  pinned_at bigint not null,
  primary key (user_no, conversation_no, seq)
);

do $$
declare t text;
begin
  foreach t in array array['memories', 'memory_changes', 'memory_roots', 'considered', 'pins'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format(
      'create policy own on %I using (user_no = nullif(current_setting(''recollect.user_no'', true), '''')::bigint)', t
    );
  end loop;
end $$;
