"""Work that leads past every named point of `recollect.db.points`, and what must hold when a process dies there.

A scenario is three functions. `prepare(path)` lets an earlier process leave something behind. `work(say, path, rng)`
runs in the process that dies. `after(path)` runs in a fresh one and returns what is wrong: whatever was being done must
be done or not begun, and the same work must succeed when it is simply done again.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import recollect
from recollect import backup, crypt, ids
from recollect.db import migrate, points

from .harness import Say, acknowledged, check, checkpoint_often, texts, write_some

SECRET = "the-word-that-must-go"
KEY = "5e" * 32


class Scenario(NamedTuple):
    work: Callable[[Say, str, random.Random], None]
    prepare: Callable[[str], None]
    after: Callable[[str], list[str]]
    most: int
    """The point is reached at least this often: the one at which the process dies is drawn from them."""


def opened(path: str, **settings: int) -> recollect.Store:
    try:
        return recollect.open(path, user="alex", background=False, **settings)
    except recollect.errors.MissingKey:
        return recollect.open(path, user="alex", background=False, key=KEY, **settings)


def die_at(point: str, time: int) -> None:
    """From now on this process kills itself when it reaches the point for the n-th time."""
    left = time

    def hook(name: str) -> None:
        nonlocal left
        left -= name == point
        if name == point and left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    points.hook = hook


# -- appending -------------------------------------------------------------------------------------------------------


def nothing(path: str) -> None:
    pass


def create(say: Say, path: str, rng: random.Random) -> None:
    opened(path).close()


def append(say: Say, path: str, rng: random.Random) -> None:
    checkpoint_often(12)
    store = opened(path)
    for n in range(40):
        if n % 10 == 0:
            store.create(f"c{n}")
        tag = f"{rng.randrange(1 << 40)}"
        say("ack", tag, write_some(store, f"c{n // 10 * 10}", rng, tag))
    store.close()


def append_again(path: str) -> list[str]:
    with opened(path) as store:
        store.create()
        wrong = []
        for n in range(5):
            c = store.create().id
            event = store.append(c, role="user", text=texts(f"after-{n}-{c}", 1)[0])
            if event.seq != 1:
                wrong.append(f"the first number of a new conversation is {event.seq}")
        return wrong


def some_history(path: str) -> None:
    with opened(path) as store:
        store.create("c0")
        for n in range(30):
            store.append("c0", role="assistant" if n % 2 else "user", text=texts(f"said-{n}", 1, 300)[0])


# -- migration -------------------------------------------------------------------------------------------------------

SECOND = """
create table later (name text primary key, value text not null) without rowid;
alter table conversations add column later integer not null default 7;
insert into later (name, value) select id, title from conversations;
"""


@contextlib.contextmanager
def a_second_migration() -> Iterator[None]:
    latest, scripts = migrate.LATEST, migrate.scripts

    def more(dialect: str, after: int) -> list[tuple[int, str]]:
        found = scripts(dialect, after)
        return [*found, (latest + 1, SECOND)] if after <= latest else found

    migrate.LATEST, migrate.scripts = latest + 1, more
    try:
        yield
    finally:
        migrate.LATEST, migrate.scripts = latest, scripts


def migrate_it(say: Say, path: str, rng: random.Random) -> None:
    with a_second_migration():
        opened(path).close()


def migrate_again(path: str) -> list[str]:
    wrong = []
    try:  # the older program, which knows nothing of the new schema: it works on, or refuses
        with opened(path) as store:
            wrong += check(store, {f"said-{n}": [n + 1] for n in range(30)})
    except recollect.errors.NewerSchema:
        pass
    with a_second_migration():
        for _ in range(2):
            with opened(path) as store:
                wrong += check(store, {f"said-{n}": [n + 1] for n in range(30)})
                if store.stats().schema != migrate.LATEST:
                    wrong.append(f"the schema is {store.stats().schema} after the migration")
    for aside in Path(path).parent.glob("*.backup"):
        with contextlib.suppress(recollect.errors.NotARecollectFile, recollect.errors.Damaged):
            backup.check(aside)  # a backup cut short by the kill is found to be one; a whole one is sound
    return wrong


# -- summaries and jobs ----------------------------------------------------------------------------------------------


def summarize(say: Say, path: str, rng: random.Random) -> None:
    with opened(path) as store:
        store.summarize("c0")
        for n in range(20):
            store.append("c0", role="assistant", text=texts(f"more-{n}", 1)[0])
            say("ack", f"more-{n}", None)
        store.summarize("c0")


def summarize_again(path: str) -> list[str]:
    with opened(path) as store:
        wrong = check(store, {f"said-{n}": None for n in range(30)})
        store.summarize("c0")
        shown = store.messages("c0", limit=None)
        if [e.kind for e in shown].count("summary") != 1 or shown[0].kind != "summary":
            wrong.append(f"after summarizing again: {[e.kind for e in shown]}")
        through = shown[0].message or 0
        covered = shown[0].payload["covers"]
        if covered != [1, through] or shown[1].seq <= through:
            wrong.append(f"the summary covers {covered}, the next message is {shown[1].seq}")
        return wrong + check(store, {})


def settle(say: Say, path: str, rng: random.Random) -> None:
    with opened(path) as store:
        say("queued", dict(store.stats().jobs))
        store.settle()


def settle_later(path: str) -> list[str]:
    """A job whose worker died is done by the next one, when its lease has run out."""
    now = ids.now
    with opened(path) as store:
        wrong = check(store, {f"said-{n}": None for n in range(30)})
        ids.now = lambda: now() + 3_600_000
        try:
            store.settle()
        finally:
            ids.now = now
        if store.stats().jobs:
            wrong.append(f"jobs are left: {store.stats().jobs} {store.stats().job_errors}")
        summaries = store.read("c0", kinds=["summary"])
        if len(summaries) != 1:
            wrong.append(f"{len(summaries)} summaries of one job")
        return wrong + check(store, {})


# -- the whole file --------------------------------------------------------------------------------------------------


def back_up(say: Say, path: str, rng: random.Random) -> None:
    with opened(path) as store:
        made = store.backup(path + ".copy")
        say("backup", made.events)


def back_up_again(path: str) -> list[str]:
    wrong = []
    there = Path(path + ".copy")
    if there.exists():  # under its name it is whole, or not there at all
        backup.check(there)
        there.unlink()
    with opened(path) as store:
        wrong += check(store, {f"said-{n}": None for n in range(30)})
        store.backup(there)
    with opened(str(there)) as store:
        return wrong + check(store, {f"said-{n}": None for n in range(30)})


def a_secret_too(path: str) -> None:
    some_history(path)
    with opened(path) as store:
        store.create("secret")
        for n in range(20):
            store.append("secret", role="user", text=f"{texts(f'secret-{n}', 1)[0]} {SECRET}")


def erase(say: Say, path: str, rng: random.Random) -> None:
    with opened(path) as store:
        store.erase(conversation="secret")


def erase_again(path: str) -> list[str]:
    with opened(path) as store:
        wrong = check(store, {f"said-{n}": None for n in range(30)})
        try:
            here = len(store.read("secret"))
            if here != 20:
                wrong.append(f"half erased: {here} of 20 events are left")
            store.erase(conversation="secret")
        except recollect.errors.NotFound:
            store.create("other")
            store.erase(conversation="other")
        for file in (Path(path), Path(path + "-wal")):
            if file.exists() and SECRET.encode() in file.read_bytes():
                wrong.append(f"erased text is left in {file.name}")
        return wrong + check(store, {f"said-{n}": None for n in range(30)})


def erased_by_now(path: str) -> list[str]:
    """It was begun: opening has finished it."""
    with opened(path) as store:
        wrong = check(store, {f"said-{n}": None for n in range(30)})
        wrong += [f"left in {f.name}" for f in Path(path).parent.iterdir() if SECRET.encode() in f.read_bytes()]
        wrong += [f"not finished: {r}" for r in store.receipts() if not r.ok]
        if [r.counts.get("events") for r in store.receipts(conversation="secret")] != [20]:
            wrong.append(f"the receipt says {store.receipts()}")
        return wrong


def compact(say: Say, path: str, rng: random.Random) -> None:
    with opened(path) as store:
        store.erase(conversation="secret")
        store.compact()


def compact_again(path: str) -> list[str]:
    with opened(path) as store:
        wrong = check(store, {f"said-{n}": None for n in range(30)})
        store.compact()
        return wrong + check(store, {f"said-{n}": None for n in range(30)})


def a_backup_and_more(path: str) -> None:
    some_history(path)
    with opened(path) as store:
        store.backup(path + ".copy")
        store.append("c0", role="user", text=texts("later", 1)[0])


def restore(say: Say, path: str, rng: random.Random) -> None:
    backup.restore(Path(path + ".copy"), Path(path))


def restore_again(path: str) -> list[str]:
    """At every moment the store's name leads to the file before or to the backup: never to an empty store."""
    said = {f"said-{n}": [n + 1] for n in range(30)}
    with opened(path) as store:
        wrong = check(store, said)
    backup.restore(Path(path + ".copy"), Path(path))
    with opened(path) as store:
        return wrong + check(store, said)


def encrypt(say: Say, path: str, rng: random.Random) -> None:
    crypt.encrypt(path, KEY)


def encrypt_again(path: str) -> list[str]:
    """Plain or encrypted, and the same either way; then encrypted, with nothing left beside it."""
    said = {f"said-{n}": [n + 1] for n in range(30)}
    with opened(path) as store:
        wrong = check(store, said)
    crypt.encrypt(path, KEY)
    with recollect.open(path, user="alex", background=False, key=KEY) as store:
        wrong += check(store, said)
    return wrong + [f"left over: {p.name}" for p in Path(path).parent.glob("*.converting")]


_writing = Scenario(append, nothing, append_again, 10)
_summary = Scenario(summarize, some_history, summarize_again, 2)
_job = Scenario(settle, some_history, settle_later, 1)
_encrypt = Scenario(encrypt, some_history, encrypt_again, 1)
_backup = Scenario(back_up, some_history, back_up_again, 1)

SCENARIOS = {
    "file made": Scenario(create, nothing, append_again, 1),
    "schema built": Scenario(create, nothing, append_again, 1),
    "schema committed": Scenario(create, nothing, append_again, 1),
    "migration backed up": Scenario(migrate_it, some_history, migrate_again, 1),
    "gate taken": _writing,
    "transaction begun": _writing,
    "request applied": _writing,
    "before commit": _writing,
    "after commit": _writing,
    "before checkpoint": _writing._replace(most=4),
    "after checkpoint": _writing._replace(most=4),
    "summary planned": _summary,
    "summary written": _summary,
    "job claimed": _job,
    "job done": _job,
    "backup copied": _backup,
    "backup verified": _backup,
    "erasure begun": Scenario(erase, a_secret_too, erased_by_now, 1),
    "erased elsewhere": Scenario(erase, a_secret_too, erased_by_now, 1),
    "erased": Scenario(erase, a_secret_too, erased_by_now, 2),
    "erasure scrubbed": Scenario(erase, a_secret_too, erased_by_now, 1),
    "compacted": Scenario(compact, a_secret_too, compact_again, 1),
    "restore set aside": Scenario(restore, a_backup_and_more, restore_again, 1),
    "conversion copied": _encrypt,
    "conversion verified": _encrypt,
    "conversion placed": _encrypt,
    "conversion noted": _encrypt,
}

# The same points on another way past them.
MORE = {
    "schema built, in a migration": ("schema built", Scenario(migrate_it, some_history, migrate_again, 1)),
    "schema committed, in a migration": ("schema committed", Scenario(migrate_it, some_history, migrate_again, 1)),
    "before commit, of a summary": ("before commit", Scenario(summarize, some_history, summarize_again, 2)),
    "after commit, of a job": ("after commit", Scenario(settle, some_history, settle_later, 3)),
    "before commit, of an erasure": ("before commit", Scenario(erase, a_secret_too, erase_again, 1)),
}


def die(say: Say, point: str, which: str, path: str, seed: int) -> None:
    rng = random.Random(seed)
    scenario = scenario_of(which)
    die_at(point, rng.randint(1, scenario.most))
    scenario.work(say, path, rng)
    say("survived", point)


def scenario_of(which: str) -> Scenario:
    return SCENARIOS.get(which) or MORE[which][1]


def look(say: Say, which: str, path: str, said: list[list[object]]) -> None:
    """After the death: what is wrong?"""
    wrong = []
    if not which.endswith("in a migration"):  # the file may be of the new schema, which only `after` can read
        with opened(path) as store:
            wrong += check(store, acknowledged(said))
    wrong += scenario_of(which).after(path)
    for line in wrong[:10]:
        say("wrong", line[:1000])


def prepared(say: Say, which: str, path: str) -> None:
    scenario_of(which).prepare(path)
