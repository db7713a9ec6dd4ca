-- Erasure: receipts that can be checked again, and the hashes by which a late writer is known for one. No id, no content.

alter table receipts add column who text; -- who asked: user, admin, langgraph
alter table receipts add column target text; -- JSON: numbers of what goes, which are never used again, and the steps that are left
alter table receipts add column changed text; -- JSON: rows by table that stay and lose only what came from there
alter table receipts add column hashes text; -- JSON list: keyed hashes of the ids of what went
alter table receipts add column backups text; -- JSON list: names of the files beside the store that still hold it
alter table receipts add column checks text; -- JSON: what was looked for afterwards, and how much of it was found
alter table receipts add column finished_at integer; -- when all of it was gone; null: the next opening goes on with it
create index receipts_unfinished on receipts (user_no) where finished_at is null;

-- What was erased, so that nobody brings it back without being asked to. A hash is keyed with `erasure key` of `meta`.
create table erased (
  user_no integer not null, -- whose it was
  hash text not null, -- of the kind and the id
  kind text not null, -- conversation, checkpoint, message, memory
  erased_at integer not null, -- when
  receipt text not null, -- by which erasure
  primary key (user_no, hash)
) without rowid;
create index erased_by_kind on erased (user_no, kind);
create index erased_by_receipt on erased (user_no, receipt);

insert into meta (name, value) values ('erasure key', lower(hex(randomblob(32))));
