-- Items: what a graph keeps under a namespace and a key, and the index of words and meanings over them. They have an index
-- of their own, because a search for events must not wade through them.

-- Values under (namespace, key), as a graph's store puts them.
create table items (
  id integer primary key, -- drawn from the same counter as the ids of events when the key is first put
  user_no integer not null, -- whose store it is in
  namespace text not null, -- its labels, each followed by a full stop (which no label holds): a range of texts is a prefix
  key text not null, -- unique within the namespace
  value text not null, -- a JSON object, exactly as it was put
  tick integer not null, -- drawn anew by every put: the order of changes
  ttl_ms integer, -- how long it lives after it was last put or read; null: for ever
  expires_at integer, -- from when on it is not seen any more; null: never
  source text, -- JSON: the thread, checkpoint, node and run that put it; null outside a graph
  memory text, -- the id of the memory that it also is; null: it is none
  created_at integer not null, -- when the key was first put
  updated_at integer not null, -- when it was last put
  checksum integer not null -- of namespace, key and value; `verify` compares
);
create unique index items_by_key on items (user_no, namespace, key);
create index items_by_time on items (user_no, namespace, tick);
create index items_by_expiry on items (user_no, expires_at) where expires_at is not null;

-- The texts that an item is found by: one for each field that is indexed, and for each element of a list.
create table item_texts (
  id integer primary key, -- drawn from the same counter; new whenever the text is
  user_no integer not null, -- whose it is
  item integer not null, -- the id of the item
  namespace text not null, -- the item's, so that a search by meaning need not look it up
  text text not null, -- what is indexed and embedded of it
  model text, -- of which model the vector is, and its dimension; null: there is none yet
  signature blob, -- one bit a dimension
  vector blob -- two bytes a dimension
);
create index item_texts_by_item on item_texts (user_no, item);
create index item_texts_by_model on item_texts (user_no, model, id);

-- Terms of these texts; `scope` has a token for every prefix of the namespace.
create virtual table item_words using fts5(
  terms, scope, content = '', tokenize = "unicode61 remove_diacritics 0 tokenchars './:@+#-_\'"
);
insert into item_words (item_words, rank) values ('secure-delete', 1);
