"""`recollect demo`: a week of conversations to look around in, in a store of its own.

Everything goes through the same verbs as real work: what is remembered was found by the rules, what is summarized was
summarized, and the newest conversation is with the ready agent, so that there are checkpoints to go back to. Only the clock is
turned back, so that the week lies behind us.
"""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from .. import config, ids
from ..errors import InvalidInput, NotFound, Refused
from ..model import Stats
from ..store import Store
from . import output, story
from .session import Session, command
from .store import PANEL, talks

HOUR = 3_600_000
AGENT = "demo-agent"
PINNED = "Never push to main without green tests"
BY_HAND = "Prefers tabs over spaces"


@command("demo", panel=PANEL, creates=True)
def demo(
    s: Session,
    path: Annotated[Path | None, typer.Argument(metavar="PATH", help="The file to fill. Unsaid: `demo/chat.db` in the data folder, which nothing else uses; or the store that -d or --data-dir names.", show_default=False)] = None,
    again: Annotated[bool, typer.Option("--again", help="If the demo is there already: erase it and record it anew.")] = False,
) -> None:  # fmt: skip
    """Record a believable week: several workspaces, agents at work, branches, memories, checkpoints. Never in your own store, unless you name it."""
    if not s.settings.enabled:
        raise InvalidInput("Persistence is off (the setting `enabled`): there would be nothing to look at afterwards.")
    where = _where(s, path)
    with Store.open(where, settings=s.settings.but(background=False, memory_extract=True, telemetry="off")) as store:
        was_there = is_there(store)
        if was_there and again:
            remove(store)
        if not was_there or again:
            record(store)
        asked = is_there(store, AGENT)
        found = store.stats()
        location = store.location
    if s.json:
        output.emit({"location": location, "recorded": not was_there or again, "stats": found})
        return
    _tell(
        s if s.named else Session(location, None, None), location, found, recorded=not was_there or again, asked=asked
    )


def _where(s: Session, path: Path | None) -> str:
    if path is not None:
        if s.named:
            raise InvalidInput("Say where once: a path, or -d, or --data-dir.")
        return str(path.expanduser().absolute())
    if s.named:
        return str(s.where)
    return str(Path(config.data_dir(s.settings)) / "demo" / "chat.db")


def is_there(store: Store, id: str = story.SCENES[0].id) -> bool:
    try:
        store.get(id)
    except NotFound:
        return False
    return True


def remove(store: Store) -> None:
    """The demo's conversations, and with each whatever was learned from it; what was written by hand goes by its words."""
    for memory in store.memories(state=None, limit=1000):
        if memory.content in (PINNED, BY_HAND):
            store.forget(memory, erase=True)
    for id in (*(scene.id for scene in story.SCENES), AGENT):
        try:
            store.forget(source=id, erase=True)
            store.erase(conversation=id)
        except NotFound:
            continue


def record(store: Store) -> None:
    """The week that ends now."""
    end = ids.now()
    with _clock(end - 7 * 24 * HOUR):
        store.remember(PINNED, kind="preference", importance=0.9, workspace=story.PLANNER, tags=["rule"], pinned=True)
    for scene in sorted(story.SCENES, key=lambda scene: -scene.hours_ago):
        _play(store, scene, end - int(scene.hours_ago * HOUR))
    _ask(store, end - 40 * 60_000)
    with _clock(end - 30 * 60_000):
        for memory in store.memories(limit=1000):
            if memory.content == story.FORGOTTEN:
                store.forget(memory)
        for question in story.RECALLED:
            store.recall(question, limit=3)
        store.settle()


def _play(store: Store, scene: story.Scene, begin: int) -> None:
    last = max(at for at, _ in (*scene.lines, *scene.other))
    with _clock(begin):
        c = store.create(
            scene.id, title=scene.title, workspace=scene.workspace, origin=scene.origin, workflow_id=scene.workflow_id,
            metadata={"demo": True, **scene.metadata}, again=True,
        )  # fmt: skip
        store.append_many(c.id, [{**entry, "created_at": begin + at * 1000} for at, entry in scene.lines])
    with _clock(begin + last * 1000):
        if scene.fork:
            store.fork(c.id, at=scene.fork_at, name=scene.fork)
            entries = [{**entry, "created_at": begin + at * 1000} for at, entry in scene.other]
            store.append_many(c.id, entries, branch=scene.fork)  # type: ignore[arg-type]
        if scene.active:
            store.switch(c.id, scene.fork)
        store.consolidate(c.id)
        if scene.id == "demo-stack":  # written by hand, so that what is said later contradicts it and waits
            store.remember(BY_HAND, kind="preference", importance=0.8)
        store.settle()
        if scene.id in story.BINNED:
            store.delete(c.id)


def _ask(store: Store, begin: int) -> None:
    """Today, with the ready agent: its checkpoints are where time travel goes. Without LangGraph, the rest is there."""
    try:
        from ..langgraph import ask, chat_graph, fork
        from ..langgraph.offline import OfflineModel
    except (Refused, ModuleNotFoundError):
        return
    with _clock(begin):
        store.create(AGENT, title="Asking the agent", metadata={"demo": True}, again=True)
        graph = chat_graph(OfflineModel(store=store), store=store)  # whatever the settings say: the same for everyone
        for text in story.ASKED:
            list(ask(graph, AGENT, text))
        answered = [c for c in store.checkpoints(AGENT, limit=100) if c.node == "answer"]
        fork(graph, answered[1])
        made = store.branches(AGENT)[-1]
        list(ask(graph, AGENT, story.INSTEAD, branch=made))
        store.switch(AGENT, "main")


@contextmanager
def _clock(at: int) -> Iterator[None]:
    """The time is `at`, and goes on from there."""
    real = ids.now
    ahead = real() - at
    ids.now = lambda: real() - ahead
    try:
        yield
    finally:
        ids.now = real


def _tell(named: Session, location: str, found: Stats, *, recorded: bool, asked: bool) -> None:
    if not recorded:
        output.line(f"The demo is there already, in {location}. --again records it anew.")
    else:
        output.line(f"Recorded a week of conversations in {location}.")
    output.show(output.styled(f"{talks(found)}, {output.count(found.events, 'event')}", "dim"), "")
    page, agent = _has("streamlit"), _has("langgraph")
    tries = [
        (page, ["app"], "look around in the browser"),
        (True, ["conversations"], "the week, newest first"),
        (True, ["replay", "demo-frost"], "agents at work: tools, approvals, diffs, tasks"),
        (True, ["branches", "demo-trip"], "two ways of one conversation"),
        (True, ["memories", "--state", "all"], "what was learned, replaced, and waits to be looked at"),
        (True, ["search", "when is the last frost?"], "find it again"),
        (asked, ["checkpoints", AGENT], "where the agent can be taken back to"),
        (asked and agent, ["chat", "-c", AGENT], "go on with it"),
    ]
    output.show("Try", output.tries((named.command(*words), what) for works, words, what in tries if works))
    if not page or not agent:
        lacks = ["the application in the browser"] * (not page) + ["a talk with an agent"] * (not agent)
        anew = "; --again records the week anew then" * (not agent)
        output.line(
            f"The extra `ui` would add {' and '.join(lacks)}: pip install '.[ui]' in Recollect's own folder{anew}.",
            style="dim",
        )
    if agent and not asked:
        output.line(
            "It was recorded without the agent, which is here now: --again records it anew, with it.", style="dim"
        )


def _has(package: str) -> bool:
    return importlib.util.find_spec(package) is not None
