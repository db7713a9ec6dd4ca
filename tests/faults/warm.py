"""Imported once by the server from which the children of these tests are forked: everything that is imported or compiled
with the first append is there already, and no file, thread or connection is left open."""

import recollect
import recollect.db.sqlite

with recollect.open(":memory:", user="warm", background=False) as store:
    store.create("warm")
    store.append("warm", role="user", text="warm 1/1 x")
    store.verify()
