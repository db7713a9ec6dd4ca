-- The state of graphs; what each column holds is said in the SQLite file of the same name.

create table checkpoints (
  user_no bigint not null,
  conversation_no bigint not null,
  namespace text not null,
  checkpoint_id text not null collate "C",
  parent_id text collate "C",
  branch_no bigint not null,
  seq bigint not null,
  source text,
  step bigint,
  node text,
  run_id text,
  created_at bigint not null,
  state bytea not null,
  checksum bigint not null,
  primary key (user_no, conversation_no, namespace, checkpoint_id)
);
create index checkpoints_by_parent on checkpoints (user_no, conversation_no, namespace, parent_id);
create index checkpoints_by_branch on checkpoints (user_no, conversation_no, namespace, branch_no, checkpoint_id);
create index checkpoints_by_run on checkpoints (user_no, run_id) where run_id is not null;

create table checkpoint_writes (
  user_no bigint not null,
  conversation_no bigint not null,
  namespace text not null,
  checkpoint_id text not null collate "C",
  task_id text not null collate "C",
  idx bigint not null,
  task_path text not null collate "C",
  channel text not null,
  type text not null,
  data bytea not null,
  checksum bigint not null,
  primary key (user_no, conversation_no, namespace, checkpoint_id, task_id, idx)
);

create table checkpoint_pieces (
  user_no bigint not null,
  conversation_no bigint not null,
  key bytea not null,
  type text not null,
  data bytea not null,
  primary key (user_no, conversation_no, key)
);
-- What is small and random does not get smaller by compressing, and what is large is read far more often than written.
alter table checkpoint_pieces alter column data set storage external;

create table checkpoint_messages (
  user_no bigint not null,
  conversation_no bigint not null,
  message_id text not null,
  branch_no bigint not null,
  seq bigint not null,
  first_seq bigint not null,
  digest bytea not null,
  primary key (user_no, conversation_no, message_id, branch_no, seq)
);

do $$
declare t text;
begin
  foreach t in array array['checkpoints', 'checkpoint_writes', 'checkpoint_pieces', 'checkpoint_messages'] loop
    execute format('alter table %I enable row level security', t);
    execute format('alter table %I force row level security', t);
    execute format(
      'create policy own on %I using (user_no = nullif(current_setting(''recollect.user_no'', true), '''')::bigint)', t
    );
  end loop;
end $$;
