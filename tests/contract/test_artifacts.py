"""artifacts: pointers to files, bounded, inside the workspace."""

import pytest

import recollect
from recollect.errors import InvalidInput
from talk import Open


def kept(store: recollect.Store, workspace: str | None, path: str) -> str | None:
    c = store.create(workspace=workspace)
    return store.append(c.id, kind="artifact", path=path).path


@pytest.mark.parametrize(
    ("workspace", "path", "relative"),
    [
        ("/repo", "src/a.py", "src/a.py"),
        ("/repo", "/repo/src/a.py", "src/a.py"),
        ("/repo/", "/repo/src//a.py", "src/a.py"),
        ("/repo", "./src/../b.py", "b.py"),
        ("/repo", "/repo", "."),
        ("/repo", "日本/ü.md", "日本/ü.md"),
        ("C:\\repo", "C:\\repo\\src\\a.py", "src/a.py"),
        ("C:\\repo", "src\\a.py", "src/a.py"),
        ("c:/repo", "C:/Repo/a.py", "a.py"),
        ("my project", "a.py", "a.py"),
        (None, "/anywhere/a.py", "/anywhere/a.py"),
        (None, "a.py", "a.py"),
    ],
)
def test_the_path_is_kept_relative_to_the_workspace(
    store: recollect.Store, workspace: str | None, path: str, relative: str
) -> None:
    assert kept(store, workspace, path) == relative


@pytest.mark.parametrize(
    ("workspace", "path"),
    [
        ("/repo", "/etc/passwd"),
        ("/repo", "../secret"),
        ("/repo", "src/../../secret"),
        ("/repo", "/repository/a.py"),
        ("/repo", "/repo/../repo2/a.py"),
        ("/repo", "/REPO/a.py"),
        ("C:\\repo", "D:\\repo\\a.py"),
        ("C:\\repo", "..\\a.py"),
        ("C:\\repo", "\\\\server\\share\\a.py"),
        ("my project", "../other/a.py"),
        ("my project", "/etc/passwd"),
        ("my/project", "../../../etc/passwd"),
    ],
)
def test_a_path_outside_the_workspace_is_refused(store: recollect.Store, workspace: str, path: str) -> None:
    with pytest.raises(InvalidInput, match="outside the workspace"):
        kept(store, workspace, path)


def test_unless_it_is_allowed(open_store: Open) -> None:
    store = open_store(artifacts_outside_workspace=True)
    assert kept(store, "/repo", "/etc/hosts") == "/etc/hosts"
    assert kept(store, "/repo", "../x/a.py") == "/x/a.py"
    assert kept(store, "/repo", "/repo/a.py") == "a.py"


def test_a_refused_artifact_takes_its_batch_with_it(store: recollect.Store) -> None:
    c = store.create(workspace="/repo")
    with pytest.raises(InvalidInput):
        store.append_many(c, [{"role": "user", "text": "x"}, {"kind": "artifact", "path": "/etc/passwd"}])
    assert store.read(c) == []


def test_the_paths_of_other_kinds_are_as_they_are(store: recollect.Store) -> None:
    c = store.create(workspace="/repo")
    assert store.append(c, kind="tool_use", tool="Read", path="/etc/hosts").path == "/etc/hosts"


def test_a_snippet_is_cut_where_one_can_see_it(store: recollect.Store) -> None:
    c = store.create()
    e = store.append(c, kind="artifact", path="a.py", text="x" * 1400)
    assert e.text.startswith("x" * 400 + "\n")
    assert "x" * 401 not in e.text
    assert "1,000 more characters" in e.text
    assert store.append(c, kind="artifact", path="a.py", text="y" * 400).text == "y" * 400


def test_a_diff_is_cut_where_one_can_see_it(store: recollect.Store) -> None:
    c = store.create()
    diff = "\n".join(f"+line {i}" for i in range(1, 301))
    kept = store.append(c, kind="artifact", path="a.py", diff=diff, payload={"sha": "1"}).payload
    assert kept["sha"] == "1"
    lines = kept["diff"].splitlines()
    assert lines[:200] == diff.splitlines()[:200]
    assert lines[200:] == ["[cut: 100 more lines]"]
    short = "+a\n-b\n"
    assert store.append(c, kind="artifact", path="a.py", diff=short).payload == {"diff": short}


def test_a_diff_of_few_but_endless_lines_is_bounded_too(store: recollect.Store) -> None:
    c = store.create()
    e = store.append(c, kind="artifact", path="a.min.js", diff="+" + "x" * 1_000_000)
    assert len(e.payload["diff"]) < 200_000


def test_artifacts_are_read_by_kind(store: recollect.Store) -> None:
    c = store.create(workspace="/repo")
    store.append(c, role="user", text="write it")
    store.append(c, kind="artifact", path="a.py", text="print()", tool="Write")
    assert [(e.path, e.text, e.tool) for e in store.read(c, kinds=["artifact"])] == [("a.py", "print()", "Write")]
