"""The docs say what the code does: the reference is made from it, the examples are run, the links lead somewhere.

Every page is a program. Its `python` blocks run in order in one process and one namespace, in an empty folder, with a
data folder of their own. A `text` block right below one is what it prints. In a `console` block every `$ recollect ...`
runs through the real command line and must succeed; the lines below it are what it prints, `...` standing for anything. A
`sql` block runs as the server's superuser. What cannot run here (installing, starting a server) stands in a `sh` block.

    python tests/test_docs.py docs/tutorial.md      runs one page by hand
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")])
POSTGRES = "postgresql://app:secret@db.example/agent"  # what the pages say where the tests have a server
COMMAND = "import sys; sys.argv[0] = 'recollect'; from recollect.cli import main; sys.exit(main())"


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


# -- pages -----------------------------------------------------------------------------------------------------------


class Block(NamedTuple):
    language: str
    line: int
    text: str


def blocks(page: Path) -> list[Block]:
    found: list[Block] = []
    language, start, lines = "", 0, list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if not language and (fence := re.fullmatch(r"```(\w+)", line)):
            language, start, lines = fence[1], number + 1, []
        elif language and line == "```":
            found.append(Block(language, start, "".join(f"{kept}\n" for kept in lines)))
            language = ""
        elif language:
            lines.append(line)
    return found


def prose(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def slug(heading: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {slug(heading) for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)}


# -- running a page --------------------------------------------------------------------------------------------------


def run_page(page: Path, database: str | None, superuser: str | None) -> int:
    """Run a page's blocks in this process, in order. Says which one failed, with the page's own line numbers."""
    source = page.read_text("utf-8").splitlines(keepends=True)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    try:
        for block in blocks(page):
            where = f"{page}:{block.line}"
            if block.language == "python":
                text = "\n" * (block.line - 1) + block.text.replace(POSTGRES, database or POSTGRES)
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(text, str(page), "exec"), namespace)
                printed = out.getvalue()
            elif block.language == "text" and source[block.line - 4].strip() == "```":
                compare(where, block.text, printed)
            elif block.language == "console":
                run_console(where, block.text)
            elif block.language == "sql":
                run_sql(superuser, block.text)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        for value in list(namespace.values()):
            if type(value).__name__ in ("Store", "Admin"):
                value.close()
    return 0


def run_console(where: str, text: str) -> None:
    for step in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        line, _, expected = step.partition("\n")
        if not line.startswith("$ recollect"):
            continue
        words = shlex.split(line.removeprefix("$ recollect"))
        done = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, text=True, timeout=180)
        if done.returncode:
            raise AssertionError(f"{where}: {line} exits with {done.returncode}\n{done.stdout}{done.stderr}")
        if expected.strip():
            compare(where, expected, done.stdout)


def run_sql(superuser: str | None, text: str) -> None:
    """Statement by statement, as psql would; a block that begins with `-- in the database NAME` runs there."""
    import psycopg

    there = re.match(r"-- in the database (\w+)\n", text)
    url = re.sub(r"/\w+$", f"/{there[1]}", superuser or "") if there else superuser or ""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in re.split(r";\n", text):
            if statement.strip():
                connection.execute(statement.encode())


def compare(where: str, expected: str, printed: str) -> None:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    if not doctest.OutputChecker().check_output(expected, printed, flags):
        raise AssertionError(f"{where}: it says\n{expected}\nbut what is printed is\n{printed}")


EXAMPLES = [page for page in PAGES if {"python", "console", "sql"} & {block.language for block in blocks(page)}]


@pytest.mark.parametrize("page", EXAMPLES, ids=name)
def test_examples_run(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """In a process of its own: what a page imports (LangGraph, say) is nobody else's business."""
    urls: list[str] = []
    if POSTGRES in page.read_text("utf-8"):
        # The page makes its own roles and its own database, so it gets a whole server.
        superuser = request.getfixturevalue("private_postgres").admin_url()
        urls = [re.sub(r"//.*@(.*)/\w+$", r"//app:secret@\1/agent", superuser), superuser]
    command = [sys.executable, str(Path(__file__)), str(page), *urls]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "120", "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


# -- the reference ---------------------------------------------------------------------------------------------------


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_reference_is_up_to_date() -> None:
    assert generator().stale() == [], "run `make docs`"


def test_check_says_which_page_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = generator()
    made.REFERENCE = tmp_path
    assert made.main(["--check"]) == 1
    assert "verbs.md is stale" in capsys.readouterr().out
    assert made.main([]) == 0
    assert made.main(["--check"]) == 0
    (tmp_path / "left-over.md").touch()
    assert made.main(["--check"]) == 1
    assert made.main([]) == 0
    assert not (tmp_path / "left-over.md").exists()


def test_everything_public_is_documented() -> None:
    assert generator().undocumented() == []


def test_everything_public_is_in_the_reference() -> None:
    import recollect
    from recollect import aio, config, errors, store

    made = generator()
    reference = {page.name: page.read_text("utf-8") for page in (DOCS / "reference").glob("*.md")}
    for verb, _ in made.public(store.Store):
        assert re.search(rf"^### (store|recollect)\.{verb}$", reference["verbs.md"], re.MULTILINE), verb
    for verb, _ in made.public(aio.AsyncStore):
        assert re.search(rf"#store{verb}\)|^### async_store\.{verb}$", reference["verbs.md"], re.MULTILINE), verb
    for setting in config.Settings.__dataclass_fields__:
        assert f"| `{setting}` |" in reference["settings.md"], setting
    for error in made.error_classes():
        assert f"| `{error.__name__}` |" in reference["errors.md"], error
    for value in made.value_classes():
        assert f"## {value}\n" in reference["values.md"], value
    words = [words for words, _ in made.commands()]
    assert words, "there is no command line"
    for word in words:
        assert f"### {word}\n" in reference["commands.md"], word
    everything = "\n".join(reference.values())
    for exported in recollect.__all__:
        assert re.search(rf"\b{exported}\b", everything), exported
    assert errors.__doc__


# -- links and promises ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", prose(page))
    targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'(?:src|srcset|href)="([^"]+)"', text)
    for target in targets:
        if re.match(r"https?:|mailto:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        assert there.exists(), f"{name(page)} links to {target}"
        if anchor:
            assert anchor in anchors(there), f"{name(page)} links to {target}: no such heading"


def test_every_page_can_be_reached_from_the_index() -> None:
    seen, waiting = set[Path](), [DOCS / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in seen:
            continue
        seen.add(page)
        links = re.findall(r"\]\(([^)#\s]+\.md)", prose(page))
        waiting += [(page.parent / link).resolve() for link in links if "://" not in link]
    assert not [name(page) for page in DOCS.rglob("*.md") if page not in seen]


def test_the_layout_names_every_room() -> None:
    """Whoever looks for where something belongs finds it in CONTRIBUTING.md."""
    layout = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("```text")[2].partition("```")[0]
    rooms = [r.name for r in (ROOT / "src" / "recollect").iterdir() if r.suffix == ".py" or r.is_dir()]
    named = set(re.findall(r"[\w.]+", layout))
    assert [r for r in sorted(rooms) if not r.startswith("__") and r not in named] == []


def test_readme_names_both_commands_and_shows_a_picture() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    assert "make run" in text
    assert "make test" in text
    assert "docs/picture.svg" in text
    examples = [block for block in blocks(ROOT / "README.md") if block.language == "python"]
    assert len(examples) == 2, "one in Python, one in LangGraph"


def test_each_example_of_the_readme_can_be_copied_alone(tmp_path: Path) -> None:
    """Whoever comes for LangGraph copies the block about LangGraph, and not what stands above it."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    for n, block in enumerate(block for block in blocks(ROOT / "README.md") if block.language == "python"):
        folder = tmp_path / str(n)
        folder.mkdir()
        command = [sys.executable, "-c", block.text]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=180)
        assert done.returncode == 0, done.stderr


def test_changelog_knows_this_version() -> None:
    import recollect

    assert f"## [{recollect.__version__}]" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def requirement_rows() -> list[tuple[str, str, str]]:
    rows = []
    for line in (DOCS / "requirements.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] != "requirement":
            rows.append((cells[0], cells[1], cells[2]))
    return rows


def test_requirements_name_what_exists() -> None:
    rows = requirement_rows()
    assert len(rows) >= 40
    for requirement, modules, tests in rows:
        for module in re.findall(r"`([^`]+)`", modules) or ["(nothing)"]:
            places = [ROOT / module, ROOT / "src" / "recollect" / module]
            assert any(place.exists() for place in places), f"{requirement}: there is no {module}"
        for test in re.findall(r"`([^`]+)`", tests) or ["(nothing)"]:
            path, _, function = test.partition("::")
            file = ROOT / path if path.startswith("bench/") else ROOT / "tests" / path
            assert file.exists(), f"{requirement}: there is no {test}"
            if function:
                assert re.search(rf"^\s*(?:async )?def {function}\(", file.read_text("utf-8"), re.MULTILINE), (
                    f"{requirement}: there is no {test}"
                )


if __name__ == "__main__":
    page, *urls = sys.argv[1:]
    sys.exit(run_page(Path(page).resolve(), *(urls or [None, None])))
