-- Erasure: receipts and hashes; what each column holds is said in the SQLite file of the same name.

alter table receipts add column who text;
alter table receipts add column target text;
alter table receipts add column changed text;
alter table receipts add column hashes text;
alter table receipts add column backups text;
alter table receipts add column checks text;
alter table receipts add column finished_at bigint;
create index receipts_unfinished on receipts (user_no) where finished_at is null;

create table erased (
  user_no bigint not null,
  hash text not null,
  kind text not null,
  erased_at bigint not null,
  receipt text not null,
  primary key (user_no, hash)
);
create index erased_by_kind on erased (user_no, kind);
create index erased_by_receipt on erased (user_no, receipt);

alter table erased enable row level security;
alter table erased force row level security;
create policy own on erased using (user_no = nullif(current_setting('recollect.user_no', true), '')::bigint);
-- What was interrupted is finished by whoever opens the database next, and the administrator counts receipts: both look
-- across users, at numbers and hashes. Changing stays everyone's own.
create policy looked_after on receipts for select using (current_setting('recollect.admin', true) = 'on');

insert into meta (name, value) values
  ('erasure key', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
