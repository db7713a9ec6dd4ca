"""The page Search: what was said and what is remembered, by words and by meaning, with filters inside the search, the
matching words marked, and a way to the very message."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, time
from typing import Any

import streamlit as st

from ..context import LEAST, is_about, is_repeat
from ..model import KINDS, Conversation, Hit
from . import look, state, transcript

BOTH, FACTS, RECORDS = "Everything", "Facts", "Records"
TYPES = {BOTH: None, FACTS: "memories", RECORDS: "events"}
MOST, FEW, NEAREST = 30, 5, 3
EVERY = "*"


def page() -> None:
    st.subheader("Search", anchor=False)
    question = st.text_input(
        "What are you looking for?", key="search-question", type="search", icon=":material/search:",
        placeholder="Words, or a question: which theme do I prefer?", label_visibility="collapsed",
        persist_state="session",
    )  # fmt: skip
    kind = st.segmented_control(
        "Look in", [BOTH, FACTS, RECORDS], default=BOTH, required=True, key="search-in", label_visibility="collapsed",
        help="Facts are memories; records are what was said and done.",
    )  # fmt: skip
    scope = _filters(kind == FACTS)
    if not question.strip():
        look.empty(
            "search", "Find anything that was ever said", "In your own words. Meaning counts as well as spelling."
        )
        return
    types = "events" if {"tool", "kinds"} & set(scope) else TYPES[kind or BOTH]  # a memory has no tool
    found = state.store().search(question, types=types, limit=MOST, explain=True, **scope)
    hits = [h for h in found if is_about(h)]
    if not hits and "branch" not in scope:
        _elsewhere(question, types, scope)
    if not found:
        look.empty("search_off", "Nothing was found", "Try other words, or fewer filters.")
        return
    shown = _Shown(question)
    if not hits:  # as on the command line
        look.quiet("Nothing is about it. The nearest in meaning:")
        shown.all(found[:NEAREST])
        return
    repeats = [h for h in hits if is_repeat(h)]
    told = [h for h in hits if not is_repeat(h)]
    close = [h for h in told if _says_it(h) and h.score >= LEAST * told[0].score]
    rest = [h for h in told if h not in close]
    if close:
        look.quiet(f"{look.count(len(close), 'result')}{', the best ones' if len(close) == MOST else ''}")
        shown.all(close)
    if rest:
        look.quiet(
            "Less close: beside it, or near in meaning"
            if close
            else "Nothing has its words. Beside it, or near in meaning:"
        )
        is_all = st.session_state.get("search-all-of") == question
        shown.all(rest if is_all else rest[:NEAREST])
        if len(rest) > NEAREST and not is_all:
            st.button(
                f"Show {len(rest) - NEAREST} more", key="search-all", type="tertiary", on_click=_all, args=(question,)
            )
    if repeats:
        verb = "repeats" if len(repeats) == 1 else "repeat"
        with st.expander(f"{look.count(len(repeats), 'answer')} given without a model {verb} it", key="search-repeats"):
            shown.all(repeats)


def _says_it(hit: Hit) -> bool:
    """Whether it has words of the question, or was said when or by whom it asks for; not only what stands around it."""
    return any(hit.parts.get(part, 0.0) > 0 for part in ("words", "time"))


def _all(question: str) -> None:
    st.session_state["search-all-of"] = question


def _elsewhere(question: str, types: str | None, scope: dict[str, Any]) -> None:
    """Whether there is something on the branches that were not looked at, and a click to see it."""
    hits = state.store().search(question, types=types, limit=FEW, branch=EVERY, **scope)
    if not any(is_about(h) for h in hits):
        return
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center"):
        look.quiet("Other branches have something about it.")
        st.button("Look on every branch", key="search-every", icon=":material/fork_right:", on_click=_every)


def _every() -> None:
    st.session_state["search-branches"] = True


def _filters(facts: bool) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    listed: list[Conversation] = list(st.session_state.get("listed", ()))
    spaces = sorted({c.workspace for c in listed if c.workspace})
    with st.expander("Filters", icon=":material/filter_list:", key="filters"):
        with st.container(horizontal=True):
            c = st.selectbox(
                "Conversation", [None, *listed], key="search-conversation",
                format_func=lambda c: "any" if c is None else look.short(c.title or "Untitled", 50),
            )  # fmt: skip
            if c is not None:
                scope["conversation"] = c.id
            w = st.selectbox("Workspace", [None, *spaces], format_func=lambda w: w or "any", key="search-workspace")
            if w:
                scope["workspace"] = w
        with st.container(horizontal=True):
            since = st.date_input("From", value=None, key="search-since", max_value=date.today())
            until = st.date_input("Until", value=None, key="search-until")
            tool = st.text_input("Tool", key="search-tool", placeholder="any", disabled=facts, max_chars=100)
        if isinstance(since, date):
            scope["since"] = _ms(since, time.min)
        if isinstance(until, date):
            scope["until"] = _ms(until, time.max)
        if tool.strip() and not facts:
            scope["tool"] = tool.strip()
        if not facts:
            kinds = st.pills(
                "Kinds of records", KINDS, selection_mode="multi", key="search-kinds", format_func=look.kind,
            )  # fmt: skip
            if kinds:
                scope["kinds"] = list(kinds)
            if st.toggle("Every branch", key="search-branches", help="Off: of each conversation its active branch."):
                scope["branch"] = EVERY
    return scope


def _ms(day: date, at: time) -> int:
    return max(0, int(datetime.combine(day, at).timestamp() * 1000))


class _Shown:
    """The hits of one question as cards, numbered through."""

    def __init__(self, question: str) -> None:
        self._words = look.words_of(question)
        self._titles = {c.id: c.title or "Untitled" for c in st.session_state.get("listed", ())}
        self._count = 0

    def all(self, hits: Sequence[Hit]) -> None:
        for hit in hits:
            self._card(self._count, hit)
            self._count += 1

    def _card(self, n: int, hit: Hit) -> None:
        with st.container(border=True, gap="xsmall", key=f"hit-{n}"):
            look.snippet(hit.snippet or hit.text[:400], self._words)
            with st.container(horizontal=True, vertical_alignment="center"):
                marks: list[tuple[str, str, str | None]] = [
                    (look.kind(hit.kind), look.KIND_COLOURS.get(hit.kind, "gray"), look.KIND_ICONS.get(hit.kind)),
                ]
                if hit.sensitive:
                    marks.append(("a secret was taken out", "orange", None))
                look.badges(marks)
                where = self._titles.get(hit.conversation_id, "another conversation") if hit.conversation_id else ""
                parts = ", ".join(f"{k} {v:.2f}" for k, v in hit.parts.items() if v > 0.005)
                look.quiet(" · ".join(filter(None, [hit.speaker, look.ago(hit.created_at), look.short(where, 40)])))
                st.caption("why", help=f"Score {hit.score:.2f}: {look.plain(parts)}", width="content")
                if hit.type == "memory":
                    if st.button(
                        "Open in Memories", key=f"hit-memory-{n}", type="tertiary", icon=":material/arrow_outward:"
                    ):
                        st.session_state["memory-question"] = hit.text[:200]
                        st.switch_page("memories.py")
                elif hit.conversation_id is not None and st.button(
                    "Go there", key=f"hit-go-{n}", type="tertiary", icon=":material/arrow_outward:"
                ):
                    transcript.jump(hit.conversation_id, hit.seq, hit.branch)
