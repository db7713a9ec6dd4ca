"""A turn of the chat: say something, have it answered in the background, and keep what was looked up for it.

What is handed to the model besides the conversation is written down before it is asked, as an event of its own with ids
and reasons and no content: so it can be shown for ever, and what is erased is erased here as well. Where no model is set
up nothing is handed to one: what is written down is what the answer quotes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import streamlit as st

from ..context import reasons
from ..errors import RecollectError
from ..model import Branch, Checkpoint, Conversation, Event, Hit, Memory
from ..store import Store
from . import state
from .answers import Answer

INJECTED = "context.injected"
"""The name of the event that says what was handed to a model, or quoted where there is none."""
NODES = frozenset({"recall", "answer", "tools", "record"})
"""Of the graph that answers here."""


def injects(c: Conversation) -> bool:
    """Whether memories and excerpts of other conversations are handed to the model here."""
    return c.metadata.get("context") is not False


def say(c: Conversation, text: str, branch: str, user: str) -> Answer:
    """Say something on a branch; the answer comes in the background."""
    home = state.shared()
    handle = home.handle(user)

    def give() -> Iterator[str]:
        from ..langgraph import ask

        on = injects(c)
        if on:
            note(handle, c, text, branch)
        yield from ask(home.graph(user), c.id, text, branch=branch, inject=on)

    return home.answers.start((user, c.id, branch), text, c.last_seq, give, lambda: handle.get(c.id).last_seq)


def answer_again(c: Conversation, branch: Branch) -> Answer:
    """Go on where a run was cut off: its message is in the log, its answer is not."""
    home, user = state.shared(), state.user()
    return home.answers.start((user, c.id, branch.name), None, c.last_seq, lambda: _resumed(home, user, branch))


def _resumed(home: state.Shared, user: str, where: Branch | Mapping[str, Any]) -> Iterator[str]:
    from ..langgraph import resume

    values = resume(home.graph(user), where)  # type: ignore[arg-type]
    messages = (values or {}).get("messages") or []
    if messages and messages[-1].type == "ai":
        yield str(messages[-1].text)


def run_on(c: Conversation, config: Mapping[str, Any], branch: str) -> Answer:
    """Run the graph from a checkpoint of a fork."""
    home, user = state.shared(), state.user()
    return home.answers.start((user, c.id, branch), None, c.last_seq, lambda: _resumed(home, user, config))


def running(c: Conversation, branch: str) -> Answer | None:
    return state.shared().answers.get((state.user(), c.id, branch))


def waiting(c: Conversation, branch: str) -> list[str]:
    """What was said while an answer is given, and is answered next."""
    return state.shared().answers.waiting((state.user(), c.id, branch))


def failure(c: Conversation, branch: str) -> str | None:
    """Why the last answer could not be given, in words that quote nothing."""
    error = state.shared().answers.failed((state.user(), c.id, branch))
    if error is None:
        return None
    why = str(error) if isinstance(error, RecollectError) else f"({type(error).__name__})"
    return f"The answer could not be given. {why}"


def note(store: Store, c: Conversation, text: str, branch: str) -> None:
    """Write down what this turn's answer is made from."""
    try:
        payload = _handed(store, c, text) if store.settings.chat_model else _quoted(store, c, text, branch)
        if payload["items"]:
            store.append(c.id, kind="event", name=INJECTED, branch=branch, payload=payload)
    except RecollectError:
        return  # the message comes next, and is to be kept whatever cannot be looked up; a remark is not worth an answer


def _handed(store: Store, c: Conversation, text: str) -> dict[str, Any]:
    made = store.context(text, conversation=c.id, why=True)
    items = [
        {
            "type": item.hit.type,
            "kind": item.hit.kind,
            "id": item.hit.id,
            "conversation": item.hit.conversation_id,
            "seqs": [h.seq for h in item.hits if h.seq is not None],
            "branch": item.hit.branch,
            "tokens": item.tokens,
            "why": item.why,
        }
        for item in made.items
    ]
    return {"tokens": made.tokens, "items": items}


def _quoted(store: Store, c: Conversation, text: str, branch: str) -> dict[str, Any]:
    from .. import respond

    store._catch_up()  # as the answer does: what was said a moment ago elsewhere is quoted too
    found = respond.answered(store, text, conversation=c.id, branch=branch)[1]
    return {"items": [_item(q) for q in found]}


def _item(quoted: Memory | Hit) -> dict[str, Any]:
    if isinstance(quoted, Memory):
        return {"type": "memory", "kind": quoted.kind, "id": quoted.id, "why": "it is on the list"}
    return {
        "type": quoted.type,
        "kind": quoted.kind,
        "id": quoted.id,
        "conversation": quoted.conversation_id,
        "seqs": [] if quoted.seq is None else [quoted.seq],
        "branch": quoted.branch,
        "why": reasons(quoted),
    }


def leading_to(branch: Branch, branches: list[Branch], found: list[Checkpoint]) -> list[Checkpoint]:
    """Those from which a branch comes: its own, and its ancestors' up to where it was forked."""
    by_name = {b.name: b for b in branches}
    upto: dict[str, float] = {branch.name: float("inf")}
    at: Branch | None = branch
    while at is not None and at.parent is not None and at.parent not in upto:
        upto[at.parent] = min(upto[at.name], at.fork_seq)
        at = by_name.get(at.parent)
    # What was begun at the very point of the fork went on elsewhere.
    return [k for k in found if k.seq < upto.get(k.branch, -1) or (k.seq == upto.get(k.branch) and k.source != "input")]


def other_graph(made: Iterable[Checkpoint]) -> str | None:
    """The node that ran last, if it is not of the chat's graph: another program's graph has answered there, and the page's
    own would answer next. `made`: newest first."""
    ran = next((k.node for k in made if k.node and not k.node.startswith("__")), None)
    return None if ran is None or NODES.issuperset(ran.split(",")) else ran


def who_answers(c: Conversation, branches: list[Branch], branch: Branch) -> str | None:
    """`other_graph` of a branch. Looked up when the conversation has a new checkpoint, and not at every run of the page."""
    if c.checkpoint is None:
        return None
    at = (c.id, branch.name, c.checkpoint)
    known: tuple[object, str | None] | None = st.session_state.get("who-answers")
    if known is None or known[0] != at:
        made = state.store().checkpoints(c.id, limit=200)
        known = st.session_state["who-answers"] = (at, other_graph(leading_to(branch, branches, made)))
    return known[1]


def fork_at(checkpoint: Checkpoint) -> tuple[Mapping[str, Any], str]:
    """A branch from a checkpoint, nothing run yet. Returns where to resume, and the branch's name."""
    from ..langgraph import fork

    config: Any = fork(state.shared().graph(state.user()), checkpoint)
    made = config["configurable"]["checkpoint_id"]
    found = state.find_checkpoint(checkpoint.conversation_id, made)
    return config, found.branch if found else checkpoint.branch


def evidence(events: list[Event]) -> dict[int, Event]:
    """Message number -> the event that says what its answer was made from.

    The note comes before its question and on the same branch. A fork at the question keeps the note of the one that is
    replaced, and where nothing is found for the new one there is no other: it would be shown as the new answer's."""
    found: dict[int, Event] = {}
    waiting: Event | None = None
    asked = False
    for e in events:
        if e.kind == "event" and e.name == INJECTED:
            waiting, asked = e, False
        elif e.kind == "message" and e.role == "user":
            if asked or (waiting is not None and waiting.branch != e.branch):
                waiting = None  # looked up for a question that was never answered, or that was replaced on this branch
            asked = True
        elif e.kind == "message" and e.role == "assistant" and waiting is not None:
            found[e.seq] = waiting
            waiting = None
    return found
