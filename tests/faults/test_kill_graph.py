"""kill -9 of a running graph, at random: every acknowledged checkpoint and write is there, and its messages with it."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest

from .harness import Child, Say, caught, figures, seeds

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def graph(saver: Any) -> Any:
    from langchain_core.messages import AIMessage
    from langgraph.graph import START, MessagesState, StateGraph

    builder = StateGraph(MessagesState)
    builder.add_node("left", lambda state: {"messages": [AIMessage(f"left {len(state['messages'])}")]})
    builder.add_node("right", lambda state: {"messages": [AIMessage(f"right {len(state['messages'])}")]})
    builder.add_edge(START, "left")
    builder.add_edge(START, "right")
    return builder.compile(checkpointer=saver)


def runs(say: Say, path: str, honest: bool = True) -> None:
    """A graph that runs until it is killed; what returned is said."""
    from langchain_core.messages import HumanMessage

    from recollect.langgraph import Saver

    class Telling(Saver):
        def put(self, config: Any, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            if not honest:
                say("put", checkpoint["id"])
            stored = super().put(config, checkpoint, metadata, new_versions)
            say("put", checkpoint["id"])
            return stored

        def put_writes(self, config: Any, writes: Any, task_id: str, task_path: str = "") -> None:
            super().put_writes(config, writes, task_id, task_path)
            say("writes", config["configurable"]["checkpoint_id"], task_id, len(writes))

    saver = Telling(path, user="alex", semantic=False, background=False, summaries=False)
    made = graph(saver)
    i = 0
    while True:
        made.invoke({"messages": [HumanMessage(f"turn {i}")]}, CONFIG)
        i += 1


def look(path: Path, said: list[Any]) -> list[str]:
    from recollect.langgraph import Saver

    wrong = []
    with Saver(path, user="alex", semantic=False, background=False, summaries=False) as saver:
        wrong += [f"{p.where}: {p.what}" for p in saver.store.verify().problems]
        for what, id, *rest in (s for s in said if s[0] in ("put", "writes")):
            found = saver.get_tuple(
                {"configurable": {**CONFIG["configurable"], "checkpoint_ns": "", "checkpoint_id": id}}
            )
            if what == "put" and found is None:
                wrong.append(f"lost: checkpoint {id}")
            if what == "writes" and found is not None:
                task, count = rest
                if len([w for w in found.pending_writes or [] if w[0] == task]) < count:
                    wrong.append(f"lost: writes of {task}")
        head = saver.get_tuple(CONFIG)
        if head is not None:
            stated = [m.content for m in head.checkpoint["channel_values"].get("messages", [])]
            logged = [e.text for e in saver.store.read("t", kinds=["message"])]
            if stated != logged:
                wrong.append(f"the state has {len(stated)} messages, the log {len(logged)}")
            made = graph(saver)
            from langchain_core.messages import HumanMessage

            made.invoke({"messages": [HumanMessage("after")]}, CONFIG)
            if [m.content for m in made.get_state(CONFIG).values["messages"]] != [
                e.text for e in saver.store.read("t", kinds=["message"])
            ]:
                wrong.append("it does not go on as it was")
    return wrong


def kill(folder: Path, rounds: int, name: str) -> int:
    acknowledged = 0
    path = folder / "chat.db"
    for i, seed in enumerate(seeds(name, rounds)):
        rng = random.Random(seed)
        if i % 4 == 0:
            path = folder / f"{i}.db"
        with Child(runs, str(path)) as child:
            # At its beginning, and in full swing: counted, for a slow disk does little in a time.
            child.hear(rng.choice(("put", "writes")), 120, times=20 if i % 2 else 1)
            time.sleep(rng.uniform(0, 0.3))
            said = child.kill()
        acknowledged += len(said)
        assert look(path, said) == [], f"seed {seed}"
    return acknowledged


def test_killed_while_a_graph_runs(tmp_path: Path) -> None:
    acknowledged = kill(tmp_path, 10, "graph")
    assert acknowledged > 100
    figures("kill-graph", rounds=10, acknowledged=acknowledged, lost=0)


@pytest.mark.nightly
def test_killed_while_a_graph_runs_five_hundred_times(tmp_path: Path) -> None:
    figures("kill-graph-nightly", rounds=500, acknowledged=kill(tmp_path, 500, "graph nightly"), lost=0)


def test_control_a_checkpoint_that_was_never_written_is_missed(tmp_path: Path) -> None:
    for i, seed in enumerate(seeds("dishonest saver", 30)):
        with Child(runs, str(tmp_path / f"{i}.db"), False) as child:
            child.hear("put")
            time.sleep(random.Random(seed).uniform(0, 0.05))
            said = child.kill()
        if any(line.startswith("lost: ") for line in look(tmp_path / f"{i}.db", said)):
            caught("kill", "a saver that acknowledges before it commits")
            return
    raise AssertionError("30 rounds of a saver that acknowledges before it commits, and nothing was found lost")
