-- The state of graphs, beside the log of the same conversation. A value is stored once for each conversation, whatever the
-- number of checkpoints that hold it: lists in pieces, so that one more message costs one more message.

-- One row for each checkpoint: what it is, where in the log it was taken, and where its values are.
create table checkpoints (
  user_no integer not null, -- whose
  conversation_no integer not null, -- of which conversation
  namespace text not null, -- empty for the graph itself, a path for a subgraph
  checkpoint_id text not null, -- sorts by time
  parent_id text, -- the checkpoint it came from
  branch_no integer not null, -- the branch of the log it belongs to
  seq integer not null, -- the number of the newest event when it was taken
  source text, -- input, loop, update or fork
  step integer, -- the graph's own counter
  node text, -- which nodes had run
  run_id text, -- the run that made it
  created_at integer not null, -- when it was stored
  state blob not null, -- JSON, deflated: versions, metadata, small values, and the keys of large ones
  checksum integer not null, -- of all of it; a reading compares
  primary key (user_no, conversation_no, namespace, checkpoint_id)
);
create index checkpoints_by_parent on checkpoints (user_no, conversation_no, namespace, parent_id);
create index checkpoints_by_branch on checkpoints (user_no, conversation_no, namespace, branch_no, checkpoint_id);
create index checkpoints_by_run on checkpoints (user_no, run_id) where run_id is not null;

-- What a task of a graph has written since a checkpoint.
create table checkpoint_writes (
  user_no integer not null, -- whose
  conversation_no integer not null, -- of which conversation
  namespace text not null, -- as in checkpoints
  checkpoint_id text not null, -- since which checkpoint; it may be stored later than the write
  task_id text not null, -- by which task
  idx integer not null, -- its place among the task's writes; below 0: an error, an interrupt, an answer to one
  task_path text not null, -- orders the tasks
  channel text not null, -- to what
  type text not null, -- how the data is to be read
  data blob not null, -- the value, or for a list the keys of its pieces
  checksum integer not null, -- of all of it
  primary key (user_no, conversation_no, namespace, checkpoint_id, task_id, idx)
) without rowid;

-- Values and parts of lists, by a keyed hash of their content.
create table checkpoint_pieces (
  user_no integer not null, -- whose
  conversation_no integer not null, -- of which conversation
  key blob not null, -- the hash; empty: the row that holds the hash's secret
  type text not null, -- how the data is to be read: list and group hold keys of other pieces
  data blob not null, -- the content
  primary key (user_no, conversation_no, key)
);

-- Which messages of a graph's state are in the log, so that each is there once.
create table checkpoint_messages (
  user_no integer not null, -- whose
  conversation_no integer not null, -- of which conversation
  message_id text not null, -- the message's own id, or a hash
  branch_no integer not null, -- the branch of the event
  seq integer not null, -- its number
  first_seq integer not null, -- the number of the event that it stands for; its own, unless the message was changed
  digest blob not null, -- of what it said
  primary key (user_no, conversation_no, message_id, branch_no, seq)
) without rowid;
