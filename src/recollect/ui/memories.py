"""The page Memories: what is remembered, as cards or as a table, with where it came from; to correct, pin, forget and take
back; and what waits for somebody to look at it."""

from __future__ import annotations

import json
from functools import partial

import streamlit as st

from ..context import is_about
from ..errors import RecollectError
from ..model import MEMORY_KINDS, MEMORY_STATES, Memory
from ..store import Store
from . import behind, dialogs, look, state, transcript
from .state import guarded

CARDS, TABLE, REVIEW, OTHERS = "Cards", "Table", "Review", "Other branches"
PER_PAGE = 20
MOST = 2_000
LOOK_EVERY = 2.0
EDIT, PIN, UNPIN, FORGET, HISTORY, ERASE, BACK = (
    "Edit…", "Pin", "Unpin", "Forget", "History…", "Erase for good…", "Take the last change back",
)  # fmt: skip
TO_LOOK_AT = "quarantined"


def page() -> None:
    store, waiting = state.store(), _waiting()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Memories", anchor=False, width="stretch")
        st.button("Add", key="memory-add", icon=":material/add:", type="primary", on_click=dialogs.ask, args=(add,))
        with st.popover("More", key=dialogs.menu("memories"), icon=":material/more_horiz:", type="tertiary"):
            st.download_button(
                "Export (JSON lines)", data=lambda: exported(store), file_name="memories.jsonl", mime="application/x-ndjson",
                key="memory-export", icon=":material/download:", on_click="ignore", width="stretch",
            )  # fmt: skip
            c = state.current()
            if c is not None:
                st.button(
                    "Erase all from this conversation…", key="purge-conversation", icon=":material/delete_forever:",
                    width="stretch", help=look.plain(c.title or "Untitled"), on_click=dialogs.ask, args=(dialogs.purge, c),
                )  # fmt: skip
            st.button(
                "Erase all of this profile…", key="purge-user", icon=":material/delete_forever:", width="stretch",
                on_click=dialogs.ask, args=(dialogs.purge, None),
            )  # fmt: skip
    others = behind.elsewhere(c) if c is not None else []
    if not others and st.session_state.get("memory-view") == OTHERS:
        st.session_state["memory-view"] = CARDS
    counts = {REVIEW: len(waiting), OTHERS: len(others)}
    view = st.segmented_control(
        "View", [CARDS, TABLE, REVIEW, *([OTHERS] if others else [])], default=CARDS, required=True, key="memory-view",
        label_visibility="collapsed", format_func=lambda v: f"{v} ({counts[v]})" if counts.get(v) else v,
    )  # fmt: skip
    if view == REVIEW:
        _review(waiting)
    elif view == OTHERS and c is not None:
        behind.listing(c, others)
    else:
        _listing(view or CARDS)
    st.session_state["memories-fresh"] = True
    _watch()


@st.fragment(run_every=LOOK_EVERY)
def _watch() -> None:
    """What is learned in the background, or added by another process, appears without a reload."""
    newest = tuple((m.id, m.updated_at, m.state) for m in state.store().memories(state=None, limit=30))
    if st.session_state.pop("memories-fresh", False):
        st.session_state["memories-seen"] = newest
    elif st.session_state.get("memories-seen") != newest:
        st.rerun()


# -- listing


def _listing(view: str) -> None:
    found = _filtered()
    if not found:
        narrowed = st.session_state.get("memory-question") or st.session_state.get("memory-kinds")
        look.empty(
            "favorite", "Nothing fits" if narrowed else "Nothing is remembered yet",
            "Other words or fewer filters may help." if narrowed
            else "Say “Remember I prefer dark mode” in a chat, or add something here by hand.",
        )  # fmt: skip
        return
    if view == TABLE:
        _table(found)
        return
    pages = -(-len(found) // PER_PAGE)
    at = st.pagination(pages, key=f"memory-page-{pages}") if pages > 1 else 1
    for m in found[(at - 1) * PER_PAGE : at * PER_PAGE]:
        _card(m)


ANY = "any"
_PLACES = {ANY: ANY, "user": "everywhere", "conversation": "in its conversation", "workspace": "in a project"}


def _filtered() -> list[Memory]:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        question = st.text_input(
            "Search", key="memory-question", type="search", icon=":material/search:", placeholder="Search memories",
            label_visibility="collapsed",
        )  # fmt: skip
        with st.popover("Filters", key="memory-filters", icon=":material/filter_list:"):
            scope = st.selectbox(
                "Scope",
                [ANY, "user", "conversation", "workspace"],
                format_func=lambda s: _PLACES[s],
                key="memory-scope",
            )
            status = st.selectbox(
                "State", ["active", ANY, *(s for s in MEMORY_STATES if s != "active")], key="memory-state",
                format_func=lambda s: look.STATE_NAMES.get(s, s),
            )  # fmt: skip
            least = st.slider("At least this important", 0.0, 1.0, 0.0, 0.1, key="memory-least")
            only_pinned = st.toggle("Only pinned", key="memory-pinned")
            order = st.selectbox("Order", ["newest", "most important", "most used"], key="memory-order")
    kinds = st.pills(
        "Kinds", MEMORY_KINDS, selection_mode="multi", key="memory-kinds", label_visibility="collapsed",
        format_func=lambda k: k.replace("_", " "),
    )  # fmt: skip
    store = state.store()
    found = store.memories(
        scope=None if scope == ANY else scope,
        state=None if status == ANY else status,
        kinds=list(kinds) or None,
        limit=MOST,
    )
    found = [m for m in found if m.importance >= least and (m.pinned or not only_pinned)]
    if order == "most important":
        found.sort(key=lambda m: -m.importance)
    elif order == "most used":
        found.sort(key=lambda m: -m.uses)
    if question.strip():
        ranks = {h.id: n for n, h in enumerate(filter(is_about, store.search(question, types="memories", limit=100)))}
        words = question.casefold().split()
        found = [m for m in found if m.id in ranks or all(w in m.content.casefold() for w in words)]
        found.sort(key=lambda m: ranks.get(m.id, len(ranks)))
    return found


def _marks(m: Memory) -> list[tuple[str, str, str | None]]:
    marks: list[tuple[str, str, str | None]] = [
        (m.kind.replace("_", " "), look.KIND_COLOURS.get(m.kind, "gray"), look.KIND_ICONS.get(m.kind)),
        (look.place(m.scope, m.workspace), "gray", None),
    ]
    if m.state != "active":
        marks.append((look.STATE_NAMES.get(m.state, m.state), look.STATE_COLOURS.get(m.state, "gray"), None))
    if m.pinned:
        marks.append(("pinned", "primary", ":material/keep:"))
    if m.by_hand:
        marks.append(("by hand", "gray", None))
    marks += [(t, "gray", None) for t in m.tags[:4]]
    return marks


def _facts(m: Memory) -> str:
    said = [f"importance {m.importance:.1f}", look.ago(m.updated_at), f"used {m.uses}×" if m.uses else "not used yet"]
    if m.valid_to is not None:
        said.append(f"{'due' if m.kind == 'todo' else 'until'} {look.day(m.valid_to)}")
    if m.flag:
        said.append(m.flag)
    return " · ".join(said)


def _card(m: Memory) -> None:
    with st.container(border=True, gap="xsmall", key=f"memory-{m.id}"):
        look.snippet(m.content)
        look.badges(_marks(m))
        with st.container(horizontal=True, vertical_alignment="center", key=f"memory-foot-{m.id}"):
            look.quiet(_facts(m))
            _source(m, "card")
            changed = m.state in ("forgotten", "replaced", "expired")
            options = (
                [BACK, HISTORY, ERASE] if changed else [EDIT, UNPIN if m.pinned else PIN, FORGET, HISTORY, BACK, ERASE]
            )
            chosen = st.menu_button(
                "Actions", options, key=f"memory-do-{m.id}", type="tertiary", icon=":material/more_horiz:"
            )
            if chosen:
                act(chosen, m)


def _source(m: Memory, where: str) -> None:
    p = m.provenance
    if p.conversation_id and p.seqs and st.button(
        "Source", key=f"memory-source-{where}-{m.id}", type="tertiary", icon=":material/arrow_outward:",
        help="To the message it came from",
    ):  # fmt: skip
        transcript.jump(p.conversation_id, p.seqs[0], p.branch)


def act(chosen: str, m: Memory) -> None:
    store = state.store()
    if chosen == EDIT:
        dialogs.ask(edit, m)
    elif chosen == HISTORY:
        dialogs.ask(history, m)
    elif chosen == ERASE:
        dialogs.ask(dialogs.erase_memory, m)
    else:
        try:
            if chosen == FORGET:
                store.forget(m.id)
                state.offer_undo(f"Forgotten: {look.label(m.content, 80)}", partial(store.undo, m.id))
            elif chosen == PIN:
                store.pin(m.id)
            elif chosen == UNPIN:
                store.unpin(m.id)
            elif chosen == BACK:
                now = store.undo(m.id)
                state.tell(f"As it stands now: {look.label(now.content, 80)} ({now.state})", "success")
        except RecollectError as error:
            state.tell(str(error), "error")
        st.rerun()


def _table(found: list[Memory]) -> None:
    rows = [
        {
            "Memory": m.content, "Kind": m.kind.replace("_", " "), "Scope": look.place(m.scope, m.workspace), "Importance": m.importance,
            "Age": look.ago(m.updated_at), "Uses": m.uses, "State": m.state, "Pinned": m.pinned,
            "Source": m.source or m.provenance.conversation_id or "by hand",
        }
        for m in found
    ]  # fmt: skip
    picked = st.dataframe(
        rows, hide_index=True, key="memory-table", on_select="rerun", selection_mode="single-row",
        column_config={
            "Memory": st.column_config.TextColumn(width="large"),
            "Importance": st.column_config.ProgressColumn(min_value=0.0, max_value=1.0, format="%.1f"),
        },
    )  # fmt: skip
    chosen = picked["selection"]["rows"]
    if chosen and chosen[0] < len(found):
        _card(found[chosen[0]])
    else:
        look.quiet("Select a row to edit, pin or forget it.")


# -- changing


def _form(m: Memory | None, key: str) -> tuple[str, str, float, list[str], str | None]:
    """(statement, kind, importance, tags, where it is used: a workspace, or `ANYWHERE`, or as it is)."""
    content = st.text_area("Statement", value=m.content if m else "", key=f"{key}-content", max_chars=4_000)
    with st.container(horizontal=True):
        kind = st.selectbox(
            "Kind", MEMORY_KINDS, index=MEMORY_KINDS.index(m.kind) if m else 1, key=f"{key}-kind",
            format_func=lambda k: k.replace("_", " "),
        )  # fmt: skip
        tags = st.text_input("Tags", value=", ".join(m.tags) if m else "", key=f"{key}-tags", placeholder="a, b")
    importance = st.slider(
        "Importance", 0.0, 1.0, float(round(m.importance, 1)) if m else 0.6, 0.1, key=f"{key}-importance"
    )
    used = st.selectbox(
        "Used", _used_in(m), key=f"{key}-used", format_func=_place,
        help="What is true of one project is given to an agent in that project alone.",
    )  # fmt: skip
    return content.strip(), kind, importance, [t.strip() for t in tags.split(",") if t.strip()], used


ANYWHERE = ""
"""As a place where a memory is used; a workspace is never empty."""


def _place(workspace: str | None) -> str:
    return _PLACES["conversation"] if workspace is None else look.place("workspace" if workspace else "user", workspace)


def _used_in(m: Memory | None) -> list[str | None]:
    """Where a memory may be used, first where it is now; None: in its conversation alone."""
    now = ANYWHERE if m is None or m.scope == "user" else m.workspace
    known = sorted({c.workspace for c in state.store().conversations(limit=MOST) if c.workspace})
    return list(dict.fromkeys([now, ANYWHERE, *known]))


def _moved(m: Memory, used: str | None) -> dict[str, str]:
    """What `revise` is told, so that a memory is used there from now on."""
    if used == _used_in(m)[0]:
        return {}
    return {"workspace": used} if used else {"scope": "user"}


@st.dialog("Add a memory", icon=":material/add:", on_dismiss=dialogs.close)
def add() -> None:
    content, kind, importance, tags, used = _form(None, "new-memory")
    pinned = st.toggle("Pin it", key="new-memory-pin")
    if st.button("Remember", key="new-memory-go", type="primary", disabled=not content):
        try:
            made = state.store().remember(
                content, kind=kind, importance=importance, tags=tags, pinned=pinned, workspace=used or None
            )
        except RecollectError as error:
            st.error(look.unpictured(str(error)))
            return
        if made.made_room:
            state.tell(f"{look.count(len(made.made_room), 'less important memory')} had to make room.", "info")
        dialogs.done()


@st.dialog("Edit a memory", icon=":material/edit:", on_dismiss=dialogs.close)
def edit(m: Memory, promote: bool = False) -> None:
    content, kind, importance, tags, used = _form(m, f"edit-{m.id}")
    if st.button("Save", key="edit-memory-go", type="primary", disabled=not content):
        try:
            changed = state.store().revise(
                m.id, content=content if content != m.content else None, kind=kind, importance=importance, tags=tags,
                promote=promote, **_moved(m, used),
            )  # fmt: skip
        except RecollectError as error:
            st.error(look.unpictured(str(error)))
            return
        state.offer_undo(f"Saved: {look.label(changed.content, 80)}", partial(state.store().undo, changed.id))
        dialogs.done()


@st.dialog("History", icon=":material/history:", width="medium", on_dismiss=dialogs.close)
def history(m: Memory) -> None:
    changes = state.store().memory_history(m.id)
    for earlier in _before(m):
        changes += state.store().memory_history(earlier.id)
    for change in sorted(changes, key=lambda c: -c.at):
        with st.container(border=True, gap="xsmall"):
            undone = " (taken back)" if change.undone_at else ""
            st.markdown(
                f"**{look.plain(change.action)}**{undone} by {look.plain(change.who)} · {look.moment(change.at)}"
            )
            if change.before is not None and change.before.content != change.after.content:
                look.snippet(f"before: {change.before.content}")
            look.snippet(change.after.content)
            if change.why:
                look.quiet(change.why)
            if change.after.replaced_by:
                look.quiet("Another statement took its place.")


def _before(m: Memory) -> list[Memory]:
    """The statements whose place it took, and those whose place they had taken."""
    held = state.store().memories(state=None, limit=MOST)
    found: list[Memory] = []
    wanted = {m.id}
    while wanted and len(found) < 20:
        step = [old for old in held if old.replaced_by in wanted and old not in found]
        found += step
        wanted = {old.id for old in step}
    return found


# -- review


def _waiting() -> list[Memory]:
    return state.store().memories(state=TO_LOOK_AT, limit=200)


def _speaker(role: str | None) -> str:
    return {None: "somebody else", "user": "you"}.get(role) or f"the {role}"


def _review(waiting: list[Memory]) -> None:
    look.quiet(
        "What a tool, a file, the web or the assistant said waits here, and so does what contradicts something you wrote "
        "or pinned. None of it is used until you accept it."
    )
    if not waiting:
        look.empty(
            "check_circle", "Nothing waits for you", "What comes from others than you will be listed here first."
        )
        return
    others = (
        {m.id: m for m in state.store().memories(state=None, limit=MOST)}
        if any(m.conflicts_with for m in waiting)
        else {}
    )
    for m in waiting:
        with st.container(border=True, gap="xsmall", key=f"review-{m.id}"):
            look.snippet(m.content)
            against = others.get(m.conflicts_with or "")
            if against is not None:
                st.markdown(f":orange-badge[contradicts] {look.plain(against.content)}")
            look.badges(_marks(m))
            look.quiet(
                " · ".join(filter(None, [f"said by {_speaker(m.provenance.role)}", m.flag, look.ago(m.created_at)]))
            )
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button(
                    "Accept",
                    key=f"accept-{m.id}",
                    icon=":material/check:",
                    type="primary",
                    on_click=_accept,
                    args=(m, against),
                )
                if st.button("Edit…", key=f"review-edit-{m.id}", icon=":material/edit:"):
                    dialogs.ask(edit, m, True)
                st.button("Reject", key=f"reject-{m.id}", icon=":material/close:", on_click=_reject, args=(m,))
                _source(m, "review")


@guarded
def _accept(m: Memory, against: Memory | None) -> None:
    """It counts from now on; what it contradicts does not, and can be brought back."""
    store = state.store()
    store.revise(m.id, promote=True)
    if against is not None and against.state == "active":
        store.forget(against.id)

        def back() -> None:
            store.undo(against.id)
            store.undo(m.id)  # or both would hold

        state.offer_undo(f"Accepted. It takes the place of: {look.label(against.content, 80)}", back)
    else:
        state.offer_undo(f"Accepted: {look.label(m.content, 80)}", partial(store.undo, m.id))


@guarded
def _reject(m: Memory) -> None:
    store = state.store()
    store.forget(m.id)
    state.offer_undo(f"Rejected: {look.label(m.content, 80)}", partial(store.undo, m.id))


def exported(store: Store) -> str:
    """Every memory in every state, a JSON object a line."""
    rows = []
    for m in store.memories(state=None, limit=100_000):
        row = {k: v for k, v in m.__dict__.items() if k != "made_room"}
        rows.append(json.dumps({**row, "provenance": dict(m.provenance.__dict__)}, ensure_ascii=False, default=list))
    return "\n".join(rows) + ("\n" if rows else "")
