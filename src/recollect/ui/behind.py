"""What a fork leaves behind: what was learned on one branch is not seen from another, and nobody should have to find that out.

A memory is seen where the message it came from is seen. So what was learned after the point of a fork stays with the branch it
was learned on. It is back when that branch is the active one, and can be used on every branch if somebody says so.
"""

from __future__ import annotations

from functools import partial

import streamlit as st

from ..model import Branch, Conversation, Memory
from . import look, state, transcript
from .state import guarded

MOST = 12
"""Branches that are looked at, the newest."""


def after(c: Conversation, branch: str, at: int) -> list[Memory]:
    """What was learned on a branch after an event: what a fork there would leave behind."""
    return [
        m
        for m in state.store().memories(conversation=c, branch=branch, limit=200)
        if m.provenance.conversation_id == c.id and m.provenance.seqs and min(m.provenance.seqs) > at
    ]


def elsewhere(c: Conversation) -> list[tuple[str, Memory]]:
    """(branch, memory) of a conversation: what other branches than the active one have."""
    store = state.store()
    branches = store.branches(c.id)
    if len(branches) < 2:
        return []
    known = {m.id for m in store.memories(conversation=c, limit=200)} | {m.id for m in store.memories(limit=200)}
    found: dict[str, tuple[str, Memory]] = {}
    for b in sorted(branches, key=lambda b: -b.updated_at)[:MOST]:
        for m in [] if b.active else store.memories(conversation=c, branch=b.name, limit=200):
            if m.id not in known:
                found.setdefault(m.id, (m.provenance.branch or b.name, m))
    return list(found.values())


def tell(c: Conversation, made: Branch | str, was: str) -> None:
    """After a fork: on which branch one is, and what stayed with the other."""
    name = made if isinstance(made, str) else made.name
    store = state.store()
    here = {m.id for m in store.memories(conversation=c, branch=name, limit=200)}
    left = [m for m in store.memories(conversation=c, branch=was, limit=200) if m.id not in here]
    said = f"This is the new branch **{look.plain(name)}**; **{look.plain(was)}** is as it was"
    if left:
        them = "it is" if len(left) == 1 else "they are"
        said += (
            f", and keeps {look.count(len(left), 'memory')} learned on it since: {look.plain(_named(left))}. While this branch is the active "
            f"one, {them} not used. The page Memories has {'it' if len(left) == 1 else 'them'} under **Other branches**, to use "
            "here as well"
        )
    state.tell(f"{said}.", "success")


def _named(left: list[Memory]) -> str:
    first = ", ".join(f"“{look.short(m.content, 50)}”" for m in left[:3])
    return first + (f" and {len(left) - 3} more" if len(left) > 3 else "")


def warn(c: Conversation, branch: str, at: int) -> None:
    """Before a fork."""
    left = after(c, branch, at)
    if left:
        was, stay, are = ("was", "It stays", "is") if len(left) == 1 else ("were", "They stay", "are")
        look.quiet(
            f"{look.count(len(left), 'memory')} {was} learned on {branch} after this moment: {_named(left)}. {stay} with {branch}, "
            f"and {are} not used on the new branch."
        )


def listing(c: Conversation, found: list[tuple[str, Memory]]) -> None:
    """On the page Memories: each with the branch it belongs to, and what can be done about it."""
    look.quiet(
        f"Learned in “{look.short(c.title or 'Untitled', 50)}” on branches that are not the active one. None of it is used until "
        "its branch is the active one again, or you use it everywhere."
    )
    for branch, m in found:
        with st.container(border=True, gap="xsmall", key=f"elsewhere-{m.id}"):
            look.snippet(m.content)
            look.badges([(look.kind(m.kind), look.KIND_COLOURS.get(m.kind, "gray"), look.KIND_ICONS.get(m.kind))])
            look.quiet(f"on {branch} · {look.ago(m.updated_at)}")
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Use it everywhere", key=f"promote-{m.id}", icon=":material/public:", on_click=_promote, args=(m,)
                )
                p = m.provenance
                if p.conversation_id and st.button(
                    "Source", key=f"elsewhere-source-{m.id}", icon=":material/arrow_outward:", type="tertiary"
                ):
                    transcript.jump(p.conversation_id, p.seqs[0] if p.seqs else None, p.branch)


@guarded
def _promote(m: Memory) -> None:
    store = state.store()
    store.revise(m.id, promote=True)
    state.offer_undo(f"Used everywhere: {look.label(m.content, 80)}", partial(store.undo, m.id))
