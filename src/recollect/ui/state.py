"""What the pages share: the one store of the process, whose it is, and which conversation and branch are looked at.

The address is an entry hint: `?chat=<id>&branch=<branch or checkpoint id>` is read when a session begins; from then on
the state leads and the address follows, so that a reload comes back to the same place. An id that is unknown, or of
somebody else, gives a friendly note and nothing more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec

import streamlit as st

from .. import telemetry
from ..administration import Admin
from ..config import Settings
from ..errors import ConversationDeleted, InvalidInput, NotFound, RecollectError
from ..model import Branch, Checkpoint, Conversation
from ..store import Store
from . import look
from .answers import Answers

P = ParamSpec("P")

USER, THREAD, BRANCH = "chat_user_id", "chat_thread_id", "chat_branch"
LISTED = 40
PAGES = 5
"""How many pages of checkpoints are looked through for one that an address names."""


# -- the process


class Shared:
    """The store, a handle and a graph for each profile, and the answers that are being given."""

    def __init__(self) -> None:
        self.store = Store.open(settings=Settings.load())
        self.answers = Answers()
        self._handles = {self.store.user: self.store}
        self._graphs: dict[str, Any] = {}
        self._lock = threading.Lock()

    def handle(self, user: str) -> Store:
        with self._lock:
            found = self._handles.get(user)
            if found is None:
                found = self._handles[user] = self.store.for_user(user)
            return found

    def graph(self, user: str) -> Any:
        """The chat of a profile: a LangGraph graph that keeps its state in the store. Where its model cannot be had, one
        that keeps what is said and tells why there is no answer; it is tried anew the next time."""
        handle = self.handle(user)
        with self._lock:
            if user not in self._graphs:
                from ..langgraph import chat_graph

                try:
                    self._graphs[user] = chat_graph(store=handle)
                except RecollectError as e:
                    from ..langgraph.models import Unavailable

                    return chat_graph(Unavailable(why=e), store=handle)
            return self._graphs[user]

    def profiles(self) -> list[str]:
        """The people of this file. Of a server nobody is listed: who else uses it is not this page's business."""
        if "://" in self.store.location:
            return [self.store.user]
        return sorted({self.store.user, *Admin(self.store).users()})

    def close(self) -> None:
        self.answers.close()
        self.store.close()


@st.cache_resource(show_spinner=False, on_release=lambda shared: shared.close())
def shared() -> Shared:
    return Shared()


def reopen() -> None:
    """Close the store and open it anew when it is next needed: other settings are in force then."""
    shared.clear()


def store() -> Store:
    return shared().handle(user())


def user() -> str:
    return str(st.session_state[USER])


# -- the session


def begin() -> None:
    """Once a session: whose it is, and what the address asks for."""
    if st.session_state.get("begun"):
        return
    st.session_state["begun"] = True
    home = shared()
    asked = st.query_params.get("profile")
    st.session_state[USER] = home.store.user
    if asked and asked != home.store.user:
        if asked in home.profiles():
            st.session_state[USER] = asked
        else:
            tell(f"There is no profile of that name here. This is {home.store.user}'s.")
    st.session_state.setdefault(THREAD, None)
    st.session_state.setdefault(BRANCH, None)
    chat, branch = st.query_params.get("chat"), st.query_params.get("branch")
    if chat:
        _enter(chat, branch)
    else:
        newest = store().conversations(limit=1)
        if newest:
            look_at(newest[0].id)


def _enter(chat: str, branch: str | None) -> None:
    try:
        found = store().get(chat)
    except ConversationDeleted:
        tell("That conversation is in the bin. You can take it out there (below the list of conversations).")
        return
    except (NotFound, InvalidInput):
        tell("There is no such conversation here. It may have been erased, or it belongs to another profile.")
        return
    turn_to(found.id)
    if branch:
        names = {b.name for b in store().branches(found.id)}
        if branch in names:
            st.session_state[BRANCH] = branch
        elif (checkpoint := find_checkpoint(found.id, branch)) is not None:
            st.session_state[BRANCH] = checkpoint.branch
            st.session_state["checkpoint"] = checkpoint.id
            tell("The address names a checkpoint: it is picked on the page Time travel.", "info")
        else:
            st.session_state[BRANCH] = branch  # lost: the page asks which one instead


def find_checkpoint(conversation: str, id: str) -> Checkpoint | None:
    before: Checkpoint | None = None
    for _ in range(PAGES):
        page = store().checkpoints(conversation, limit=200, before=before)
        for checkpoint in page:
            if checkpoint.id == id:
                return checkpoint
        if len(page) < 200:
            return None
        before = page[-1]
    return None


def look_at(conversation: str | None, branch: str | None = None, focus: int | None = None) -> None:
    """From now on this conversation is looked at; None: one that does not exist yet."""
    st.session_state[THREAD] = conversation
    st.session_state[BRANCH] = branch
    jump(focus)
    for key in ("window", "checkpoint"):
        st.session_state.pop(key, None)


def jump(focus: int | None) -> None:
    """From now on the chat stands at this message; None: at its end."""
    st.session_state["focus"] = focus
    st.session_state["jump"] = time.time_ns()  # to the same message twice is two jumps


def turn_to(conversation: str, branch: str | None = None, focus: int | None = None) -> None:
    """Somebody chose it: looked at, and told. What is shown because another one was begun or went was not chosen."""
    look_at(conversation, branch, focus)
    telemetry.selected(store(), conversation)


def as_user(profile: str) -> None:
    """Another profile: nothing of the one before stays in sight."""
    shared().handle(profile)  # a name that is none raises before anything changes
    st.session_state[USER] = profile
    for key in ("undoable", "found", "seen"):
        st.session_state.pop(key, None)
    look_at(None)
    newest = store().conversations(limit=1)
    if newest:
        look_at(newest[0].id)


def find_current() -> None:
    """Once a run: the conversation that is looked at. One that went meanwhile is told, and left."""
    st.session_state["at"] = None
    id = st.session_state.get(THREAD)
    if id is None:
        return
    try:
        found = next((c for c in st.session_state.get("listed", ()) if c.id == id), None)
        st.session_state["at"] = found or store().get(id)
    except (NotFound, ConversationDeleted):
        look_at(None)
        tell("The conversation you were in is gone: it was deleted elsewhere.")


def current() -> Conversation | None:
    """The conversation that is looked at, None for one that does not exist yet."""
    found = st.session_state.get("at")
    return found if isinstance(found, Conversation) else None


def branch_of(conversation: Conversation, branches: list[Branch]) -> Branch | None:
    """The branch that is looked at: the active one unless another was chosen. None when the chosen one is lost."""
    wanted = st.session_state.get(BRANCH) or conversation.active_branch
    return next((b for b in branches if b.name == wanted), None)


def branch_name(conversation: Conversation) -> str:
    return str(st.session_state.get(BRANCH) or conversation.active_branch)


def address() -> None:
    """Let the address say where we are."""
    wanted: dict[str, str] = {}
    if user() != shared().store.user:
        wanted["profile"] = user()
    if st.session_state.get(THREAD):
        wanted["chat"] = st.session_state[THREAD]
        if branch := st.session_state.get(BRANCH):
            wanted["branch"] = branch
    if dict(st.query_params) != wanted:
        st.query_params.from_dict(wanted)


# -- telling


def tell(text: str, kind: str = "warning") -> None:
    """Say something on the page that is drawn next, once, where it is in sight."""
    st.session_state.setdefault("to-tell", []).append((kind, text))


def offer_undo(text: str, undo: Callable[[], Any]) -> None:
    """Say what was done, and offer to take it back until something else is."""
    st.session_state["undoable"] = (text, undo)
    st.session_state.pop("undoable-on", None)


def guarded(fn: Callable[P, None]) -> Callable[P, None]:
    """For what a click calls: an error of ours becomes a note in plain words."""

    @wraps(fn)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            fn(*args, **kwargs)
        except RecollectError as e:
            tell(str(e), "error")

    return run


@guarded
def switch(conversation: str, branch: str) -> None:
    """Somebody chose a branch: from now on it is the active one. One that is not there is told, and nothing changes."""
    if branch in {b.name for b in store().branches(conversation)}:
        store().switch(conversation, branch)
        turn_to(conversation, branch)
    else:
        look_at(conversation)
        tell("That branch is not here any more. This is the active one.")


def notes(page: str) -> None:
    """What is to be said, in a place that is always there: what follows does not jump when it goes."""
    undo = st.session_state.get("undoable")
    if undo and st.session_state.setdefault("undoable-on", page) != page:
        _dismiss()
        undo = None
    with st.container(key="notes"):
        for kind, text in st.session_state.pop("to-tell", []):
            {"error": st.error, "info": st.info, "success": st.success}.get(kind, st.warning)(look.unpictured(text))
        if undo:
            with st.container(horizontal=True, vertical_alignment="center", border=True, key="undo-bar"):
                st.markdown(undo[0], width="stretch")
                st.button("Undo", key="undo", icon=":material/undo:", on_click=_undo)
                st.button("Dismiss", key="dismiss", type="tertiary", on_click=_dismiss)


@guarded
def _undo() -> None:
    _, back = st.session_state.pop("undoable")
    st.session_state.pop("undoable-on", None)
    back()


def _dismiss() -> None:
    st.session_state.pop("undoable", None)
    st.session_state.pop("undoable-on", None)
