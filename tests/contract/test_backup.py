"""backup, restore, compact, and backups by the clock: a copy is whole or it is none, and nothing is ever overwritten."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import recollect
from recollect import backup, ids
from recollect.errors import AlreadyExists, Damaged, DiskFull, NotARecollectFile, NotFound, Refused, StorageError
from talk import eventually, exchange, seqs

HOUR = 3_600_000
DAY = 24 * HOUR


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chat.db"


@pytest.fixture
def chat(path: Path) -> Iterator[recollect.Store]:
    with recollect.open(path, user="alex", summaries=False, semantic=False) as opened:
        opened.create("c")
        yield opened


def read_all(path: Path) -> list[recollect.Event]:
    with recollect.open(path, user="alex", summaries=False, backup_every=0) as opened:
        assert opened.verify().ok
        return opened.read("c")


# -- making one ------------------------------------------------------------------------------------------------------


def test_a_backup_while_four_threads_write(chat: recollect.Store, tmp_path: Path) -> None:
    chat.append_many("c", exchange(500))
    stop = threading.Event()
    failed: list[BaseException] = []

    def write() -> None:
        try:
            while not stop.is_set():
                chat.append_many("c", exchange(3))
        except BaseException as e:
            failed.append(e)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: failed or chat.get("c").last_seq > 500)  # they write by now
        made = [chat.backup(tmp_path / f"copy-{i}.db") for i in range(4)]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert not failed
    for copy in made:
        there = read_all(copy.path)
        assert seqs(there) == list(range(1, copy.events + 1))
        assert (copy.events - 500) % 3 == 0, "half a batch"
    assert [b.events for b in made] == sorted(b.events for b in made)
    assert made[-1].events > 500, "nobody wrote meanwhile"
    assert seqs(chat.read("c")) == list(range(1, chat.get("c").last_seq + 1))


def test_it_holds_all_users_and_is_for_its_user_only(chat: recollect.Store, tmp_path: Path) -> None:
    kim = chat.for_user("kim")
    kim.append(kim.create("k"), role="user", text="kim's")
    made = chat.backup(tmp_path / "new" / "folder" / "copy.db")
    with recollect.admin(made.path) as everyone:
        assert everyone.users() == ["alex", "kim"]
    assert made.bytes == made.path.stat().st_size
    if os.name == "posix":
        assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
        assert stat.S_IMODE(made.path.parent.stat().st_mode) == 0o700


def test_it_is_one_file_with_nothing_beside_it(chat: recollect.Store, tmp_path: Path) -> None:
    chat.append_many("c", exchange(10))
    folder = tmp_path / "copies"
    chat.backup(folder / "copy.db")
    assert [p.name for p in folder.iterdir()] == ["copy.db"]
    assert backup.check(folder / "copy.db") == 10
    assert [p.name for p in folder.iterdir()] == ["copy.db"], "looking left something behind"


def test_it_never_overwrites(chat: recollect.Store, tmp_path: Path) -> None:
    other = tmp_path / "precious.txt"
    other.write_text("precious")
    for there in (other, Path(chat.location)):
        before = there.read_bytes()
        with pytest.raises(AlreadyExists, match="never overwrites"):
            chat.backup(there)
        assert there.read_bytes() == before


def test_a_relative_path_is_where_the_program_is(
    chat: recollect.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert backup.make(chat._db, Path("here.db")).path == tmp_path / "here.db"


def test_progress_is_told(chat: recollect.Store, tmp_path: Path) -> None:
    chat.append_many("c", exchange(500))
    told: list[tuple[str, int, int]] = []
    chat.backup(tmp_path / "copy.db", progress=lambda *said: told.append(said))
    assert told[-1][0] == "copying"
    assert told[-1][1] == told[-1][2] > 0


def test_a_copy_that_is_not_sound_is_not_called_one(
    chat: recollect.Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat.append_many("c", exchange(200))
    copy = type(chat._db).copy  # type: ignore[attr-defined]

    def torn(self: Any, to: str, progress: Any = None) -> None:
        copy(self, to, progress)
        with open(to, "r+b") as f:
            f.seek(4096)
            f.write(b"\xff" * 8192)

    monkeypatch.setattr(type(chat._db), "copy", torn)
    with pytest.raises(Damaged):
        chat.backup(tmp_path / "copies" / "copy.db")
    assert list((tmp_path / "copies").iterdir()) == []


def test_of_a_store_in_memory(tmp_path: Path) -> None:
    with recollect.open(":memory:", user="alex") as memory:
        memory.append_many(memory.create("c"), exchange(7))
        assert memory.backup(tmp_path / "kept.db").events == 7
    assert len(read_all(tmp_path / "kept.db")) == 7


def test_postgres_names_its_own_tools(postgres_url: str, tmp_path: Path) -> None:
    with recollect.open(postgres_url) as store:
        with pytest.raises(Refused, match="pg_dump"):
            store.backup(tmp_path / "x.db")
        with pytest.raises(Refused, match="VACUUM"):
            store.compact()
    assert list(tmp_path.iterdir()) == []


# -- going back ------------------------------------------------------------------------------------------------------


def test_restore_keeps_the_present_file_aside(path: Path, tmp_path: Path) -> None:
    with recollect.open(path, user="alex", summaries=False) as store:
        store.append_many(store.create("c"), exchange(4))
        made = store.backup(tmp_path / "copy.db")
        store.append_many("c", exchange(2))
    aside = backup.restore(made.path, path)
    assert aside is not None
    assert len(read_all(path)) == 4
    assert len(read_all(aside)) == 6
    assert made.path.exists()
    assert backup.restore(aside, path) is not None  # and back again
    assert len(read_all(path)) == 6


def test_restore_where_there_is_nothing(chat: recollect.Store, tmp_path: Path) -> None:
    chat.append_many("c", exchange(4))
    made = chat.backup(tmp_path / "copy.db")
    there = tmp_path / "new folder" / "chat.db"
    assert backup.restore(made.path, there) is None
    assert len(read_all(there)) == 4


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda b: b[:4096] + b"\xff" * 8192 + b[4096 + 8192 :], Damaged),
        (lambda b: b[: len(b) // 2], Damaged),
        (lambda b: bytes(4096) + b[4096:], NotARecollectFile),
        (lambda b: b"no database at all" * 100, NotARecollectFile),
        (lambda b: b"", NotARecollectFile),
    ],
)
def test_a_backup_that_is_not_sound_is_never_put_in_place(
    path: Path, tmp_path: Path, spoil: Callable[[bytes], bytes], error: type[Exception]
) -> None:
    with recollect.open(path, user="alex", summaries=False) as store:
        store.append_many(store.create("c"), exchange(200))
        made = store.backup(tmp_path / "copy.db")
    made.path.write_bytes(spoil(made.path.read_bytes()))
    with pytest.raises(error):
        backup.restore(made.path, path)
    assert len(read_all(path)) == 200
    with pytest.raises(NotFound):
        backup.restore(tmp_path / "nope.db", path)


def test_restore_is_refused_while_it_is_open_in_another_process(path: Path, tmp_path: Path) -> None:
    with recollect.open(path, user="alex", summaries=False) as store:
        store.append_many(store.create("c"), exchange(4))
        made = store.backup(tmp_path / "copy.db")
    holds = f"import recollect\nrecollect.open({str(path)!r}).conversations()\nprint('open', flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        before = path.read_bytes()
        with pytest.raises(recollect.errors.StoreBusy, match="open in another program"):
            backup.restore(made.path, path)
        assert path.read_bytes() == before
        other.communicate("\n")
    assert backup.restore(made.path, path) is not None


def test_restore_is_refused_while_it_is_open_in_this_process(chat: recollect.Store, tmp_path: Path) -> None:
    made = chat.backup(tmp_path / "copy.db")
    with pytest.raises(recollect.errors.StoreBusy, match="open in another program"):
        backup.restore(made.path, Path(chat.location))
    chat.append("c", role="user", text="unharmed")


# -- compact ---------------------------------------------------------------------------------------------------------


def test_compact_gives_space_back_and_keeps_everything(chat: recollect.Store, path: Path) -> None:
    big = chat.create("big")
    chat.append_many(big, [{"kind": "note", "text": "x" * 10_000}] * 300)
    chat.append_many("c", exchange(50))
    chat.fork("c", 10, name="idea")
    chat.append("c", role="user", text="on the idea", branch="idea")
    chat.delete_event("c", 7)
    chat.erase(conversation=big)
    kept = chat.read("c", branch="*")
    told: list[tuple[str, int, int]] = []
    before, after = chat.compact(progress=lambda *said: told.append(said))
    assert before > 3_000_000 > after * 9
    assert path.stat().st_size == after
    assert told[-1][1] == told[-1][2]
    assert chat.read("c", branch="*") == kept
    assert chat.verify().ok
    assert chat.append("c", role="user", text="goes on").seq == chat.get("c").last_seq


def test_compact_while_others_write(chat: recollect.Store) -> None:
    chat.append_many("c", [{"kind": "note", "text": "x" * 1_000}] * 2_000)
    chat.clear("c")
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            chat.append("c", role="user", text="y")

    threads = [threading.Thread(target=write) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            chat.compact()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert chat.verify().ok
    assert seqs(chat.read("c")) == list(range(2_001, chat.get("c").last_seq + 1))


# -- by the clock ----------------------------------------------------------------------------------------------------


class Clock:
    """The library's own, turned by hand."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_794_744_000_000
        monkeypatch.setattr(ids, "now", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def made_by_the_clock(path: Path) -> list[backup.Found]:
    return [b for b in backup.found(path) if b.kind == "scheduled"]


def test_one_a_day_and_the_newest_are_kept(path: Path, clock: Clock) -> None:
    with recollect.open(path, user="alex", summaries=False, backup_every=24, backup_keep=3, background=False) as store:
        store.create("c")
        store.settle()
        assert len(made_by_the_clock(path)) == 1
        for day in range(1, 8):
            store.append("c", role="user", text=f"day {day}")
            for _ in range(6):
                clock.now += 4 * HOUR
                store.settle()
            there = made_by_the_clock(path)
            assert len(there) == min(day + 1, 3)
            assert backup.check(there[0].path) == day, "the newest is today's"
            assert store.stats().job_errors == ()
    ages = [b.made_at for b in made_by_the_clock(path)]
    assert [(a - b) // DAY for a, b in zip(ages, ages[1:], strict=False)] == [1, 1]


def test_in_the_background(path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.jobs.POLL_SECONDS", 0.02)
    with recollect.open(path, user="alex", summaries=False, backup_every=1, backup_keep=2) as store:
        store.create("c")
        for n in range(1, 5):
            eventually(lambda n=n: len(made_by_the_clock(path)) == min(n, 2))  # type: ignore[misc]
            eventually(lambda: store.stats().jobs == {"queued": 1})  # the next one, by the clock as it stands now
            newest = made_by_the_clock(path)[0].path
            clock.now += HOUR + 1_000
            eventually(lambda newest=newest: made_by_the_clock(path)[0].path != newest)  # type: ignore[misc]
        assert store.stats().job_errors == ()


def test_only_its_own_are_let_go(path: Path, clock: Clock) -> None:
    with recollect.open(path, user="alex", summaries=False, backup_every=1, backup_keep=1, background=False) as store:
        store.create("c")
        mine = [store.backup(path.parent / "backups" / name).path for name in ("chat-mine.db", "chat-2020.db")]
        mine.append(store.backup(backup.name(path)).path)
        neighbour = path.parent / "backups" / "chat-two-20200101-000000-auto.db"
        neighbour.write_text("of another store")
        for _ in range(4):
            store.settle()
            clock.now += 2 * HOUR
    assert all(p.exists() for p in [*mine, neighbour])
    assert len(made_by_the_clock(path)) == 1


def test_a_part_left_by_a_killed_process_is_removed(path: Path, clock: Clock) -> None:
    with recollect.open(path, user="alex", summaries=False, backup_every=1, background=False) as store:
        store.create("c")
        left = path.parent / "backups" / "chat-20200101-000000-auto.db.12345.part"
        left.parent.mkdir()
        left.write_bytes(b"half")
        by_hand = left.with_name("mine.db.12345.part")  # someone may be making it right now
        by_hand.write_bytes(b"half")
        store.settle()
    assert not left.exists()
    assert by_hand.exists()


def test_a_clock_that_was_in_the_future_stops_nothing(path: Path, clock: Clock) -> None:
    with recollect.open(path, user="alex", summaries=False, backup_every=24, backup_keep=5, background=False) as store:
        store.create("c")
        store.settle()
        clock.now -= 100 * DAY
        assert backup.scheduled(store._db, DAY, 5) == DAY
        assert len(made_by_the_clock(path)) == 2


def test_the_next_is_due_a_day_after_the_newest_whoever_asks(path: Path, clock: Clock) -> None:
    with recollect.open(path, user="alex", summaries=False, backup_every=24, background=False) as store:
        store.create("c")
        store.settle()
        clock.now += 20 * HOUR
        kim = recollect.open(path, user="kim", backup_every=24, background=False)
        with kim:
            kim.settle()
            assert len(made_by_the_clock(path)) == 1
            clock.now += 5 * HOUR
            kim.settle()
            assert len(made_by_the_clock(path)) == 2


def test_two_processes_make_one(path: Path) -> None:
    recollect.open(path, user="alex", summaries=False).close()
    script = (
        "import recollect, sys\nfrom pathlib import Path\nfrom recollect import backup\n"
        f"with recollect.open({str(path)!r}, user=sys.argv[1]) as s:\n"
        "    s.append(s.create(), role='user', text='x')\n    print('ready', flush=True)\n    input()\n"
        "    print(backup.scheduled(s._db, 3_600_000, 5))"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", script, user], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for user in ("alex", "kim", "sam")
    ]
    for other in others:
        assert other.stdout is not None
        assert other.stdout.readline() == "ready\n"
    for other in others:
        assert other.stdin is not None
        other.stdin.write("\n")
        other.stdin.flush()
    waits = [int(other.communicate()[0]) for other in others]
    assert [other.returncode for other in others] == [0, 0, 0]
    assert len(made_by_the_clock(path)) == 1
    assert max(waits) == HOUR and min(waits) > 0


def test_a_failing_disk_shows_and_is_tried_again(path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    with recollect.open(path, user="alex", summaries=False, backup_every=1, background=False) as store:
        store.create("c")

        def full(*_: object) -> None:
            raise DiskFull(f"No space left for {path}.")

        with monkeypatch.context() as patch:
            patch.setattr(type(store._db), "copy", full)
            for _ in range(20):  # longer than any job is tried
                assert store.settle() == 0
                (error,) = store.stats().job_errors
                assert "backup" in error and "DiskFull" in error
                clock.now += 2 * HOUR
            assert list((path.parent / "backups").glob("chat-*")) == []
        assert store.settle() == 1
        assert store.stats().job_errors == ()
        assert len(made_by_the_clock(path)) == 1


def test_a_store_that_cannot_be_written_still_opens(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with recollect.open(path, user="alex", summaries=False) as store:
        store.append_many(store.create("c"), exchange(3))

    def full(*_: object) -> None:
        raise DiskFull("No space left.")

    monkeypatch.setattr("recollect.jobs.enqueue", full)
    with recollect.open(path, user="alex", summaries=False, backup_every=1) as store:
        assert len(store.read("c")) == 3


def test_a_store_in_memory_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with recollect.open(":memory:", backup_every=1, background=False) as store:
        store.settle()
    assert list(tmp_path.iterdir()) == []


# -- which there are -------------------------------------------------------------------------------------------------


def test_what_is_found_beside_a_store(path: Path, clock: Clock, tmp_path: Path) -> None:
    assert backup.found(path) == []
    with recollect.open(path, user="alex", summaries=False, backup_every=24, background=False) as store:
        store.create("c")
        store.settle()
        clock.now += HOUR
        by_hand = store.backup(backup.name(path))
        again = store.backup(backup.name(path))  # within the same second
    (path.parent / "backups" / "notes.txt").write_text("no backup")
    clock.now += HOUR
    aside = backup.restore(by_hand.path, path)
    assert aside is not None
    migrated = path.with_name(f"chat.db.schema-1.{clock.now - 9 * DAY}.backup")
    migrated.write_bytes(by_hand.path.read_bytes())
    found = backup.found(path)
    assert [b.kind for b in found] == ["set aside", "by hand", "by hand", "scheduled", "before a migration"]
    assert found[0].path == aside
    assert {found[1].path, found[2].path} == {by_hand.path, again.path}
    assert [b.made_at for b in found] == sorted((b.made_at for b in found), reverse=True)


NEIGHBOURS = (
    "chat.db", "chat-old.db", "chat-20200101-000000.db", "chat-20200101.db", "notes.db", "chat.sqlite", "chat.sqlite3", "chat",
)  # fmt: skip


@pytest.fixture
def neighbours(tmp_path: Path, clock: Clock) -> dict[Path, set[Path]]:
    """Stores in one folder, and the backups of each: under a time, another in the same second, by the clock, and under
    a name of its own."""
    made: dict[Path, set[Path]] = {}
    for name in NEIGHBOURS:
        of = tmp_path / name
        with recollect.open(of, user="alex", summaries=False, semantic=False, background=False) as store:
            store.append_many(store.create("c"), exchange(3))
            mine = {store.backup(backup.name(of)).path for _ in range(2)}
            mine.add(store.backup(backup.name(of, scheduled=True)).path)
            mine.add(store.backup(of.parent / "backups" / f"before {name}.db").path)
        made[of] = mine
    return made


def test_stores_in_one_folder_have_each_their_own(neighbours: dict[Path, set[Path]]) -> None:
    for of, mine in neighbours.items():
        assert {b.path for b in backup.found(of)} == mine, of.name
        assert backup.away(of) == []


def test_a_backup_that_says_nothing_of_the_ending_is_still_listed(tmp_path: Path) -> None:
    """As they were named once: `chat-20261118-015748.db` is of chat.db if there is one, else of the only other it can be of."""
    of = tmp_path / "chat.sqlite"
    with recollect.open(of, user="alex", summaries=False, semantic=False, background=False) as store:
        old = store.backup(tmp_path / "backups" / "chat-20200101-000000.db").path
        (tmp_path / "backups" / "chat.sqlite.elsewhere").unlink()
        new = store.backup(backup.name(of)).path
    assert {b.path for b in backup.found(of)} == {old, new}
    recollect.open(tmp_path / "chat.db").close()
    assert {b.path for b in backup.found(of)} == {new}
    assert {b.path for b in backup.found(tmp_path / "chat.db")} == {old}


def test_erasing_names_no_backup_of_a_neighbour(neighbours: dict[Path, set[Path]], tmp_path: Path) -> None:
    for of, mine in neighbours.items():
        with recollect.open(of, user="alex", summaries=False, semantic=False) as store:
            assert set(store.erase(conversation="c").backups) == {p.name for p in mine}


def test_a_folder_that_was_moved_keeps_its_backups(neighbours: dict[Path, set[Path]], tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.mkdir()
    for thing in [*neighbours, tmp_path / "backups"]:
        thing.rename(moved / thing.name)
    for of, mine in neighbours.items():
        assert {b.path.name for b in backup.found(moved / of.name)} == {p.name for p in mine}
        assert backup.away(moved / of.name) == []


def test_under_another_name_for_the_same_store(neighbours: dict[Path, set[Path]], tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to("chat.db")
    with recollect.open(link, user="alex", summaries=False, semantic=False) as store:
        there = store.backup(backup.name(link)).path
    mine = neighbours[tmp_path / "chat.db"] | {there}
    assert {b.path for b in backup.found(link)} == mine
    assert {b.path for b in backup.found(tmp_path / "chat.db")} == mine


def test_the_clock_takes_nothing_from_a_neighbour(neighbours: dict[Path, set[Path]], clock: Clock) -> None:
    left = {of: Path(f"{backup.name(of, scheduled=True)}.12345.part") for of in neighbours}
    for part in left.values():
        part.write_bytes(b"half")
    of = next(iter(neighbours))
    clock.now += 2 * HOUR
    with recollect.open(of, user="alex", summaries=False, semantic=False, background=False) as store:
        backup.scheduled(store._db, HOUR, 1)
    for other in [o for o in neighbours if o != of]:
        assert left[other].exists(), "of a process that may be copying just now"
        assert all(p.exists() for p in neighbours[other])
    assert not left[of].exists()
    assert len(made_by_the_clock(of)) == 1


def test_check_refuses_what_is_no_backup(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        backup.check(tmp_path / "nope.db")
    (tmp_path / "x.db").write_text("hello")
    with pytest.raises(StorageError):
        backup.check(tmp_path / "x.db")


# -- backups made elsewhere


def test_a_backup_is_listed_once_however_it_is_reached(chat: recollect.Store, path: Path, tmp_path: Path) -> None:
    (tmp_path / "large disk").mkdir()
    (tmp_path / "backups").symlink_to(tmp_path / "large disk")
    chat.backup(tmp_path / "beside.db")
    chat.backup(backup.name(path))
    assert len(backup.found(path)) == 2
    with (tmp_path / "backups" / "chat.db.elsewhere").open("a") as f:
        f.write(f'"{path}"\n')  # of a backup that became the store
    assert len(backup.found(path)) == 2


def test_a_line_that_was_cut_off_hides_no_other_backup(chat: recollect.Store, path: Path, tmp_path: Path) -> None:
    chat.backup(tmp_path / "disk" / "a.db")
    with (tmp_path / "backups" / "chat.db.elsewhere").open("a") as f:
        f.write('"/killed/in the mid')
    chat.backup(tmp_path / "disk" / "b.db")
    assert {f.path.name for f in backup.found(path)} == {"a.db", "b.db"}


def test_a_place_that_lets_nobody_in_is_away(chat: recollect.Store, path: Path, tmp_path: Path) -> None:
    chat.backup(tmp_path / "disk" / "a.db")
    looped, long = tmp_path / "loop" / "b.db", tmp_path / ("x" * 5000) / "c.db"
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with (tmp_path / "backups" / "chat.db.elsewhere").open("a") as f:
        f.write(f'"{looped}"\n"{long}"\n')
    assert [f.path.name for f in backup.found(path)] == ["a.db"]
    assert set(backup.away(path)) == {looped, long}


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_backup_follows_no_link_under_the_name_of_its_part(store: recollect.Store, tmp_path: Path) -> None:
    """Its folder may be one that others can write to, and process numbers can be guessed."""
    store.create("c")
    precious = tmp_path / "precious"
    precious.write_text("keep me")
    (tmp_path / f"copy.db.{os.getpid()}.part").symlink_to(precious)
    assert store.backup(tmp_path / "copy.db").path.is_file()
    assert precious.read_text() == "keep me"
