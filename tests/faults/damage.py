"""Damaged files: what is done to them, and what must be noticed or saved. Runs in processes of its own, with a time
limit: a damaged number must not make anyone count to it."""

from __future__ import annotations

import contextlib
import random
import shutil
from pathlib import Path
from typing import Any

import apsw

import recollect
from recollect.db import file
from recollect.salvage import salvage

from .harness import Say

USERS = ("alex", "kim")
PAGE = 4096

# What a program may say of a file that it cannot use; anything else is a bug, however damaged the file.
TYPED = (recollect.errors.Damaged, recollect.errors.Refused)


def make(path: Path, events: int) -> None:
    """A store with something of everything: users, conversations, branches, batches, long texts, deletions."""
    rng = random.Random(7)
    with recollect.open(path, user=USERS[0], background=False) as store:
        for user in USERS:
            mine = store if user == USERS[0] else store.for_user(user)
            per = events // len(USERS) // 5
            for c in range(5):
                name = f"{user}-{c}"
                mine.create(name, title=f"Title of {name}", workspace="/work" if c % 2 else None, metadata={"n": c})
                left = per
                while left > 0:
                    size = min(left, rng.randint(1, 200))
                    mine.append_many(name, [_entry(rng, f"{name} {left - i}") for i in range(size)])
                    left -= size
                mine.fork(name, at=per // 2, name="other")
                mine.append_many(name, [_entry(rng, f"{name} other {i}") for i in range(20)], branch="other")
                mine.delete_event(name, 3)
                if c == 1:
                    mine.summarize(name)


def _entry(rng: random.Random, text: str) -> recollect.Entry:
    length = 9000 if rng.random() < 0.004 else rng.randint(10, 250)
    said = f"{text} " + "".join(rng.choices("abcdefghij klmnop äöü 日本", k=length))
    if rng.random() < 0.2:
        return {"kind": "tool_use", "tool": "Write", "path": "a.txt", "text": said, "payload": {"n": 1}, "tags": ["t"]}
    return {"role": rng.choice(["user", "assistant"]), "text": said}


Row = tuple[Any, ...]


def content(path: Path) -> dict[tuple[str, str, int], Row]:
    """Everything said in a store: (user, conversation, number) -> the event's fields and its branch."""
    found: dict[tuple[str, str, int], Row] = {}
    with recollect.admin(path) as admin:
        for user in admin.users():
            mine = admin.for_user(user)
            for c in [*mine.conversations(limit=1000)]:
                for e in mine.read(c.id, branch="*"):
                    found[user, c.id, e.seq] = fields(e)
    return found


def fields(e: recollect.Event) -> Row:
    return (e.kind, e.role, e.text, e.tool, e.path, e.name, tuple(e.tags), dict(e.payload), e.branch, e.created_at)


def verify_all(path: Path) -> list[str]:
    """As the doctor does it: the file first, then everyone in it."""
    with recollect.open(path, user=USERS[0], background=False) as store:
        found = [f"{p.where}: {p.what}" for p in store.verify().problems]
    if found:
        return found
    with recollect.admin(path) as admin:
        for user in admin.users():
            found += [f"{p.where}: {p.what}" for p in admin.for_user(user).verify().problems]
    return found


# -- found, or harmless ----------------------------------------------------------------------------------------------


def damage(data: bytearray, rng: random.Random) -> str:
    kind = rng.choice(
        ["byte", "byte", "byte", "bytes", "bit", "zeroed page", "page of noise", "truncated", "swapped pages"]
    )
    pages = len(data) // PAGE
    if kind in ("byte", "bytes", "bit"):
        count = {"byte": 1, "bytes": rng.randint(2, 64), "bit": 1}[kind]
        places = [rng.randrange(len(data)) for _ in range(count)]
        for at in places:
            data[at] ^= (1 << rng.randrange(8)) if kind == "bit" else rng.randint(1, 255)
        return f"{kind} at {places[:5]}"
    if kind == "truncated":
        size = rng.randrange(len(data))
        del data[size:]
        return f"truncated to {size}"
    a, b = rng.randrange(pages) * PAGE, rng.randrange(pages) * PAGE
    if kind == "swapped pages":
        data[a : a + PAGE], data[b : b + PAGE] = data[b : b + PAGE], data[a : a + PAGE]
        return f"pages {a // PAGE} and {b // PAGE} swapped"
    data[a : a + PAGE] = bytes(PAGE) if kind == "zeroed page" else rng.randbytes(PAGE)
    return f"{kind}: {a // PAGE}"


def look_at(path: Path, before: dict[tuple[str, str, int], Row]) -> tuple[str, str]:
    """Open and verify a file that may be damaged: (refused | found | harmless | unnoticed | crashed, what was said)."""
    try:
        problems = verify_all(path)
        if problems:
            return "found", problems[0]
        now = content(path)
    except TYPED as e:
        return "refused", f"{type(e).__name__}: {e}"
    except Exception as e:
        return "crashed", f"{type(e).__name__}: {e}"
    if now == before:
        return "harmless", ""
    changed = [key for key in {*now, *before} if now.get(key) != before.get(key)]
    return "unnoticed", f"{len(changed)} events, first {changed[0]}: {before.get(changed[0])} is {now.get(changed[0])}"


def flips(say: Say, sound: str, folder: str, all_seeds: list[int]) -> None:
    before = content(Path(sound))
    whole = Path(sound).read_bytes()
    for seed in all_seeds:
        rng = random.Random(seed)
        data = bytearray(whole)
        what = damage(data, rng)
        say("trying", seed, what)
        path = Path(folder, "damaged.db")
        remove(path)
        path.write_bytes(data)
        verdict, said = look_at(path, before)
        say("verdict", seed, what, verdict, said[:600])


def numbers(path: Path) -> list[tuple[int, str]]:
    """Places of numbers in a file, and bytes (hex) to put there."""
    whole = path.read_bytes()
    found = [(at, value) for at in range(16, 100) for value in ("00", "7f", "ff")]
    rng = random.Random(3)
    for page in range(len(whole) // PAGE):
        head = page * PAGE + (100 if page == 0 else 0)
        found += [(head + rng.randrange(8), rng.choice(["00", "7f", "ff"]))]
        cells = int.from_bytes(whole[head + 3 : head + 5])
        for _ in range(2 if whole[head] in (2, 5, 10, 13) and cells else 0):
            pointer = head + (12 if whole[head] in (2, 5) else 8) + 2 * rng.randrange(cells)
            row = page * PAGE + int.from_bytes(whole[pointer : pointer + 2])
            if page * PAGE < row < (page + 1) * PAGE - 16:
                found.append(
                    (row + rng.randrange(9), rng.choice(["ff", "8fffffff7f", "87ffffff7f", "ffffffffffffffffff"]))
                )
    return found


def wrong_numbers(say: Say, sound: str, damaged: str, places: list[tuple[int, str]]) -> None:
    whole, path = Path(sound).read_bytes(), Path(damaged)
    for at, value in places:
        data = bytearray(whole)
        data[at : at + len(value) // 2] = bytes.fromhex(value)
        remove(path)
        path.write_bytes(data)
        try:
            with recollect.open(path, user=USERS[0], background=False) as store:
                answer, said = ("well" if store.verify().ok else "found"), ""
        except Exception as e:
            answer, said = type(e).__name__, str(e)
        say("verdict", at, value, answer, said[:300])


def without_memory(say: Say, sound: str) -> None:
    """SQLite gets no memory, as when it is asked for more than there is."""
    with recollect.open(sound, user=USERS[0], background=False) as store:
        conversation = store.conversations()[0].id
        for what, ask in (("read", lambda: store.read(conversation)), ("verify", store.verify)):
            with contextlib.suppress(apsw.Error):
                apsw.hard_heap_limit(1)
            try:
                ask()
            except recollect.RecollectError as e:
                say("said", what, type(e).__name__, "doctor" in str(e))
        file.bytearray = _no_room  # type: ignore[attr-defined]
        try:
            store.verify()
        except recollect.RecollectError as e:
            say("said", "no room for the file either", type(e).__name__, "doctor" in str(e))
        apsw.hard_heap_limit(0)


def _no_room(size: int) -> bytearray:
    raise MemoryError


def remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal", ".lock"):
        Path(str(path) + suffix).unlink(missing_ok=True)


# -- saved -----------------------------------------------------------------------------------------------------------


def saved(before: dict[tuple[str, str, int], Row], damaged: Path, out: Path) -> tuple[int, list[str], Any]:
    """Salvage; returns how many events came through exactly, what is wrong with the new store, and the report."""
    remove(out)
    report = salvage(damaged, out)
    wrong = verify_all(out)
    after = content(out)
    exact = sum(after.get(key) == row for key, row in before.items())
    return exact, wrong, report


def salvage_rounds(say: Say, sound: str, folder: str, kind: str, all_seeds: list[int], honest: bool) -> None:
    before = content(Path(sound))
    whole = Path(sound).read_bytes()
    pages = page_map(Path(sound))
    if not honest:
        dishonest()
    for seed in all_seeds:
        rng = random.Random(seed)
        data = bytearray(whole)
        allowed = 0
        if kind == "64 bytes":
            for _ in range(64):
                data[rng.randrange(len(data))] ^= rng.randint(1, 255)
            allowed = int(len(before) * 0.015)
        elif kind == "a zeroed page":
            # Half of the time a page of events, so that it matters; page 1 is SQLite's own header and the schema.
            mine = [number for number, (name, _) in pages.items() if name == "events"]
            number = rng.choice(mine) if rng.random() < 0.5 else rng.randint(1, len(data) // PAGE)
            data[(number - 1) * PAGE : number * PAGE] = bytes(PAGE)
            allowed = pages.get(number, ("", 0))[1]
        elif kind == "cut short":
            keep = rng.randint(len(data) // 2, len(data) - 1)
            lost = [cells for number, (_, cells) in pages.items() if number * PAGE > keep]
            del data[keep:]
            allowed = sum(lost)
        say("trying", seed, kind)
        path = Path(folder, "damaged.db")
        remove(path)
        path.write_bytes(data)
        exact, wrong, report = saved(before, path, Path(folder, "saved.db"))
        unnoticed = path.read_bytes() != bytes(data)
        if unnoticed:
            wrong.append("the damaged file was written to")
        say("saved", seed, len(before), exact, allowed, report.damaged, [line[:300] for line in wrong[:3]])


def page_map(path: Path) -> dict[int, tuple[str, int]]:
    """SQLite's own account: page -> (table, how many events are lost at most when it is gone)."""
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READONLY)
    try:
        found: dict[int, tuple[str, int]] = {}
        for number, name, kind, cells in connection.execute("select pageno, name, pagetype, ncell from dbstat"):
            events = 0
            if name == "events" and kind == "leaf":
                events = int(cells)
            elif name == "events" and kind == "overflow":
                events = 1
            found[int(number)] = (str(name), events)
        return found
    finally:
        connection.close()


def dishonest() -> None:
    """The control: a salvage that silently drops every fortieth row."""
    from recollect import salvage as module

    records = module.records
    count = 0

    def fewer(pages: Any, number: int) -> Any:
        nonlocal count
        for record in records(pages, number):
            if len(record.values) == module.EVENT:
                count += 1
                if count % 40 == 0:
                    continue
            yield record

    module.records = fewer


def with_log(say: Say, sound: str, folder: str) -> None:
    """A store that was killed has its newest events in the log: salvage reads them there."""
    path = Path(folder, "killed.db")
    shutil.copy(sound, path)
    store = recollect.open(path, user=USERS[0], background=False)
    for n in range(50):
        store.append("alex-0", role="user", text=f"in the log {n}")
    before = content(path)
    crashed = Path(folder, "crashed.db")
    for suffix in ("", "-wal"):
        shutil.copy(str(path) + suffix, str(crashed) + suffix)
    exact, wrong, _ = saved(before, crashed, Path(folder, "saved.db"))
    say("saved", 0, len(before), exact, 0, 0, wrong[:3])
