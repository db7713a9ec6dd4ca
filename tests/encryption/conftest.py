"""What the tests of encryption share: a store with something in every field, and keys of both forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recollect
from talk import Hashed, exchange

RAW = "8f" * 32
PASSPHRASE = "correct horse battery staple"
CANARY = "quokka"


def canary(n: int) -> str:
    return f"{CANARY}{n:03d}"


def fill(store: recollect.Store) -> int:
    """A canary in every field that holds something. Returns how many there are."""
    numbers = iter(range(1_000))

    def c() -> str:
        return canary(next(numbers))

    talk = store.create(
        c(), title=f"About {c()}", workspace=f"/{c()}", workflow_id=c(), metadata={c(): [c(), {"deep": c()}]}
    )
    store.append_many(talk, exchange(30))
    store.append(
        talk, role="user", text=f"I prefer {c()} and {c()}.", tags=[c()], agent=c(), model=c(), key=c(),
        payload={c(): c()}, name=c(), path=f"src/{c()}.py",
    )  # fmt: skip
    store.append(talk, role="assistant", text=f"Noted: {c()}.", reasoning=recollect.Reasoning(c(), effort=c()))
    store.append(talk, kind="tool_use", tool=c(), path=f"a/{c()}", text=c(), payload={"in": c()})
    store.append(talk, kind="tool_result", tool=c(), text=c() * 2_000, status=c())
    store.append(talk, kind="artifact", path=f"{c()}.md", diff=f"--- a\n+++ b\n+{c()}\n")
    store.append(talk, kind="ledger", task_id=c(), goal=c(), payload={"plan": [c()]})
    store.record_workflow_event(talk, {"type": f"workflow.{c()}", "data": {"said": c()}})
    store.fork(talk, name=c())
    store.append(talk, role="user", text=f"on the branch: {c()}")
    store.delete_event(talk, store.append(talk, kind="note", text=f"gone: {c()}").seq)
    mine = store.remember(f"Likes {c()}", tags=[c()], workspace=f"/{c()}")
    store.revise(mine, content=f"Loves {c()}")
    store.settle()
    store.consolidate(talk)
    store.summarize(talk)
    other = store.for_user(c())
    other.append(other.create(title=c()), role="user", text=c())
    return next(numbers)


def opened(path: Path | str, key: Any = None, **settings: Any) -> recollect.Store:
    settings = {"background": False, "embedder": Hashed(), **settings}
    return recollect.open(path, user="alex", key=key, **settings)


def leaks(folder: Path) -> dict[str, int]:
    """How often a canary stands in each file below a folder, as bytes, in any case and as UTF-16 too."""
    found = {}
    for file in sorted(p for p in folder.rglob("*") if p.is_file()):
        content = file.read_bytes().lower()
        n = content.count(CANARY.encode()) + content.count(CANARY.encode("utf-16-le"))
        found[file.relative_to(folder).as_posix()] = n + (CANARY in file.name)
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir()
    return tmp_path / "store" / "chat.db"


@pytest.fixture(params=["raw key", "passphrase"])
def key(request: pytest.FixtureRequest) -> str:
    return RAW if request.param == "raw key" else PASSPHRASE
