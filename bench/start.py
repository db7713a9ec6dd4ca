"""A new process for each event, as hooks and commands are: start, import, open, append, close."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import recollect

from . import Figure, Run, benchmark, raw, times
from .measure import environment, in_turns, p50

OURS = """
import sys
import recollect
store = recollect.open(sys.argv[1])
store.append("c", role="user", text=sys.argv[2])
store.close()
"""
# As a person would write it: the number is looked up, the row is given whole.
BY_HAND = """
import sys
import apsw
connection = apsw.Connection(sys.argv[1])
connection.pragma("journal_mode", "wal")
connection.pragma("synchronous", "full")
connection.execute("begin immediate")
seq = connection.execute("select coalesce(max(seq), 0) + 1 from events where user_no = 1 and conversation_no = 1 and branch_no = 0").fetchall()[0][0]
row = ROW | {"id": (1 << 32) + seq, "seq": seq, "text": sys.argv[2]}
connection.execute("INSERT", tuple(row.values()))
connection.execute("commit")
connection.close()
"""
OURS_NEW = OURS.replace("store.append", 'store.create("c")\nstore.append')


@benchmark
def process(run: Run) -> Iterator[Figure]:
    """import, open, one append in a new process against a bare apsw process that does the same by hand."""
    said = raw.text(60)
    env = environment(run.folder)
    ours_path, raw_path = run.folder / "ours.db", run.folder / "raw.db"
    with recollect.open(ours_path) as store:
        store.create("c")
    raw.connect(raw_path).close()
    script = run.folder / "schema.sql"
    script.write_text(raw.schema())
    row = raw.event(said) | {"user_no": 1, "conversation_no": 1}
    by_hand_code = BY_HAND.replace("ROW", repr(row)).replace("INSERT", raw.insert(said))
    build = "for _ in connection.execute(open(sys.argv[3]).read()):\n    pass\n"
    by_hand_new = by_hand_code.replace('connection.execute("begin', f'{build}connection.execute("begin')

    def program(code: str, path: Path) -> None:
        subprocess.run([sys.executable, "-c", code, str(path), said, str(script)], check=True, env=env)

    def program_on_new_file(code: str, name: str) -> None:
        for old in run.folder.glob(f"{name}*"):
            old.unlink()
        program(code, run.folder / name)

    ours, by_hand, empty, imports = in_turns(
        [
            lambda: program(OURS, ours_path),
            lambda: program(by_hand_code, raw_path),
            lambda: program("pass", raw_path),
            lambda: program("import recollect", raw_path),
        ],
        run.rounds(60, 30),
        warm_up=3,
    )
    with recollect.open(ours_path) as store:
        assert store.get("c").last_seq == run.rounds(60, 30) + 3
    note = f"an empty Python {p50(empty):.1f} ms, `import recollect` {p50(imports):.1f} ms in all"
    yield Figure("new process, one append, p50", p50(ours), p50(by_hand), "ms", times(2), note)

    ours, by_hand = in_turns(
        [lambda: program_on_new_file(OURS_NEW, "new-ours.db"), lambda: program_on_new_file(by_hand_new, "new-raw.db")],
        run.rounds(30, 10),
        warm_up=2,
    )
    yield Figure("new process, new file, create, append", p50(ours), p50(by_hand), "ms", None, "both build the schema")
    if run.verbose:
        _imports(run, env)


def _imports(run: Run, env: dict[str, str]) -> None:
    """Print what importing costs, dearest first: the smallest of five runs for each module, its own time only."""
    own: dict[str, float] = {}
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", OURS, str(run.folder / "ours.db"), "x"],
            capture_output=True, text=True, check=True, env=env,
        )  # fmt: skip
        for found in re.finditer(r"import time:\s+(\d+) \|\s+\d+ \|\s*(\S+)", done.stderr):
            name, taken = found[2], int(found[1]) / 1000
            own[name] = min(own.get(name, taken), taken)
    run.say(f"import times, ms, of {sum(own.values()):.1f} in all:")
    for name, taken in sorted(own.items(), key=lambda item: -item[1])[:25]:
        run.say(f"  {taken:6.2f}  {name}")
