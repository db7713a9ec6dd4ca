"""Imports point one way, and `import recollect` stays light."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import recollect

ROOT = Path(recollect.__file__).parent
# doors -> store -> verbs -> nouns -> db -> the ground. What is listed nowhere is a door: it may use all, and none but doors use it.
LAYERS = [
    {"light", "errors", "ids", "model", "config", "checks", "redact", "hosts", "courtesies", "other_names"},
    {"db", "telemetry"},
    {
        "conversations", "branches", "events", "log", "summarize", "jobs", "health", "workflow", "backup", "salvage", "scan",
        "search", "memories", "context", "views", "retention", "consolidate", "extract", "decide", "filters", "items", "mirror",
        "checkpoints", "schema", "archive", "feed", "keys", "crypt", "sealed", "spool", "erased", "erasure", "learned", "receipts",
        "edits", "removal", "sources", "relations", "coverage", "beside", "asked",
    },
    {"verbs"},
    {"store"},
]  # fmt: skip
HEAVY = (
    "pydantic fastapi starlette langgraph langchain_core streamlit numpy opentelemetry asyncio psycopg psycopg_pool typer"
    " rich click httpx mcp multiprocessing concurrent.futures logging sqlite3 email http.client"
).split()


def layer(module: str) -> int:
    return next((i for i, names in enumerate(LAYERS) if module in names), len(LAYERS))


def modules() -> dict[str, Path]:
    found = {}
    for file in sorted(ROOT.rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        found[".".join(p for p in parts if p != "__init__")] = file
    return found


def imports(name: str, file: Path) -> set[str]:
    """The modules of ours that a module imports, at its top or inside a function; those for type checkers count too."""
    package = name if file.name == "__init__.py" else name.rpartition(".")[0]
    known = set(modules())
    found = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        targets: list[str] = []
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = package.split(".") if package else []
                base = base[: len(base) - (node.level - 1)]
                start = ".".join([*base, *([node.module] if node.module else [])])
            elif (node.module or "").split(".")[0] == "recollect":
                start = (node.module or "").removeprefix("recollect").lstrip(".")
            else:
                continue
            targets = [start, *(f"{start}.{a.name}".lstrip(".") for a in node.names)]
        elif isinstance(node, ast.Import):
            targets = [a.name.removeprefix("recollect.") for a in node.names if a.name.startswith("recollect.")]
        found |= {t for t in targets if t in known and t}
    return found - {name}


INNER = {n: f for n, f in modules().items() if n and n != "__main__"}


@pytest.mark.parametrize("name", INNER)
def test_imports_point_down(name: str) -> None:
    own = layer(name.split(".")[0])
    for target in imports(name, INNER[name]):
        assert layer(target.split(".")[0]) <= own, f"{name} imports {target}, which is above it"


def test_there_is_no_circle() -> None:
    graph = {n: {t for t in imports(n, f) if t != n} for n, f in INNER.items()}
    # `from . import x` in a package names the package as well; a package may be imported by its own modules.
    graph = {n: {t for t in ts if not n.startswith(t + ".")} for n, ts in graph.items()}
    done: set[str] = set()

    def visit(n: str, path: tuple[str, ...]) -> None:
        assert n not in path, " -> ".join([*path[path.index(n) :], n])
        if n not in done:
            for t in graph[n]:
                visit(t, (*path, n))
            done.add(n)

    for n in graph:
        if layer(n.split(".")[0]) < len(LAYERS):
            visit(n, ())


@pytest.mark.parametrize("name", [n for n in INNER if n.split(".")[0] != "cli"])
def test_what_begins_with_an_underscore_is_used_in_its_own_module_alone(name: str) -> None:
    """A name that another module needs has no underscore: whoever changes it can see that."""
    ours: set[str] = set()
    taken: list[str] = []
    nodes = list(ast.walk(ast.parse(INNER[name].read_text("utf-8"))))
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.level or (node.module or "").split(".")[0] == "recollect"):
            ours |= {alias.asname or alias.name for alias in node.names}
            taken += [alias.name for alias in node.names if is_private(alias.name)]
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and is_private(node.attr):
            taken += [f"{node.value.id}.{node.attr}"] if node.value.id in ours else []
    assert taken == []


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_every_name_of_a_layer_is_a_module() -> None:
    for names in LAYERS:
        assert {n for n in names if n not in modules()} == set()


def loaded_after(code: str) -> set[str]:
    show = "\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + show], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_import_recollect_is_light() -> None:
    assert loaded_after("import recollect") & set(HEAVY) == set()


def test_opening_a_file_and_appending_is_light(tmp_path: Path) -> None:
    code = (
        f"import recollect\nwith recollect.open({str(tmp_path / 'chat.db')!r}, user='alex') as s:\n"
        "    s.append(s.create(), role='user', text='hi')"
    )
    assert loaded_after(code) & set(HEAVY) == set()


def test_one_sqlite_in_the_process() -> None:
    """Two copies of SQLite on one file lost acknowledged rows: nothing of ours imports the standard one."""
    for name, file in modules().items():
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
            assert "sqlite3" not in [n.split(".")[0] for n in names], name
