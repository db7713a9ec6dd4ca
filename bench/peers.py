"""Another store that a user might pick, beside ours: the same texts, the same vectors, the same questions.

It lives in a virtual environment of its own, made on first use (some hundred megabytes), because none of its
dependencies may be near ours. That is why it is measured with --full only, or when it is asked for by name.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import recollect

from . import Figure, Run, benchmark
from .corpus import Corpus
from .measure import p50
from .search import WARM_UP, Bare, _remember, questions, timed

CHROMA = "chromadb==1.5.9"
HOME = Path(__file__).parent / "out" / "peers"

# Runs in the peer's own environment: reads what is to be stored and asked, writes milliseconds.
SCRIPT = """
import json, sys, time
import chromadb
from chromadb.config import Settings
given = json.load(open(sys.argv[1]))
client = chromadb.PersistentClient(path=sys.argv[2], settings=Settings(anonymized_telemetry=False))
kept = client.create_collection("memories", embedding_function=None, metadata={"hnsw:space": "cosine"})
for at in range(0, len(given["texts"]), 500):
    part = slice(at, at + 500)
    kept.add(ids=[str(i) for i in range(at, at + len(given["texts"][part]))], documents=given["texts"][part],
             embeddings=given["vectors"][part], metadatas=[{"user": "alex"}] * len(given["texts"][part]))
taken = []
for vector in given["questions"]:
    start = time.perf_counter_ns()
    kept.query(query_embeddings=[vector], n_results=10, where={"user": "alex"})
    taken.append((time.perf_counter_ns() - start) / 1e6)
json.dump(taken, sys.stdout)
"""


@benchmark
def peers(run: Run) -> Iterator[Figure]:
    """Recall top 10 of 10,000 memories beside chromadb, which finds by vectors alone (with --full, or by name)."""
    if not run.full and "peers" not in sys.argv:
        return
    python = _installed(CHROMA, run)
    corpus = Corpus()
    count = 2_000 if run.quick else 10_000
    said = list({corpus.turn()[:200]: None for _ in range(count)})
    asked = questions(WARM_UP + run.rounds(200, 60))
    embedder = Bare(256)
    with recollect.open(
        run.folder / "ours.db",
        user="alex",
        background=False,
        embedder=embedder,
        memory_max_items_per_namespace=1_000_000,
    ) as store:
        _remember(store, said)
        store.settle()
        ours, _ = timed(lambda q: store.recall(q, limit=10), asked)
    theirs = _asked(python, run.folder, said, embedder, asked)
    yield Figure(
        f"recall top 10 of {len(said):,} memories, 256 dimensions, p50, beside chromadb", p50(ours), p50(theirs[WARM_UP:]),
        "ms", None, "theirs: the nearest vectors, the question embedded beforehand; ours: words and meaning, ranked",
    )  # fmt: skip


def _installed(requirement: str, run: Run) -> Path:
    home = HOME / requirement.partition("=")[0]
    python = home / "bin" / "python"
    if subprocess.run([python, "-c", "import chromadb"], capture_output=True).returncode if python.exists() else True:
        run.say(f"installing {requirement} into an environment of its own")
        subprocess.run([sys.executable, "-m", "venv", home], check=True)
        quietly = ["-q", "--disable-pip-version-check"]
        subprocess.run([python, "-m", "pip", *quietly, "install", requirement], check=True)
    return python


def _asked(python: Path, folder: Path, said: list[str], embedder: Bare, asked: list[str]) -> list[float]:
    given = folder / "given.json"
    given.write_text(
        json.dumps(
            {"texts": said, "vectors": embedder.embed_documents(said), "questions": embedder.embed_documents(asked)}
        ),
        "utf-8",
    )
    env = {**os.environ, "HOME": str(folder), "ANONYMIZED_TELEMETRY": "False"}  # it would write into the home folder
    done = subprocess.run(
        [python, "-c", SCRIPT, given, folder / "chroma"], capture_output=True, text=True, env=env, check=True
    )
    found: Any = json.loads(done.stdout)
    return [float(ms) for ms in found]
