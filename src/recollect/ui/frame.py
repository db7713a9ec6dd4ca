"""The frame of every page: theme, navigation, the list of conversations, and errors in plain words."""

from __future__ import annotations

import logging

import streamlit as st

from ..errors import RecollectError, place
from . import dialogs, look, sidebar, state
from .launch import SCREENS

PAGES = (
    ("chat", "Chat", ":material/forum:"),
    ("time_travel", "Time travel", ":material/history:"),
    ("memories", "Memories", ":material/psychology_alt:"),
    ("search", "Search", ":material/search:"),
    ("timeline", "Timeline", ":material/timeline:"),
    ("settings", "Settings & health", ":material/tune:"),
)
OF_CONVERSATION = ("chat", "time_travel", "timeline")
"""Pages on which another conversation can be picked without leaving them."""


def run() -> None:
    """One run of the script: everything that is on the page."""
    st.set_page_config(page_title="Recollect", page_icon="🔖", layout="centered")
    look.style()
    page = st.navigation(
        [
            st.Page(SCREENS / f"{name}.py", title=title, icon=icon, url_path=name, default=name == "chat")
            for name, title, icon in PAGES
        ],
        position="top",
    )
    try:
        state.shared()
    except RecollectError as e:
        st.error(look.unpictured(str(e)), icon=":material/error:")
        st.caption("The store could not be opened. `recollect doctor` in a terminal says what to do.")
        return
    try:
        state.begin()
        stays = page.url_path in ("", *OF_CONVERSATION)
        sidebar.draw(stays)
        state.find_current()
        state.address()  # before the page: it may follow an answer for minutes
        if page.url_path:  # the chat has its own place for them, below its title
            state.notes(page.url_path)
        page.run()
        dialogs.draw()
        st.session_state["fresh"] = True
        sidebar.watch()
        look.tell_of_the_lock()
    except RecollectError as e:
        st.error(look.unpictured(str(e)), icon=":material/error:")
    except Exception as e:
        said_wrong(e)


def said_wrong(e: Exception) -> bool:
    """What is said of an error that nobody foresaw: no message of it and no traceback, both may quote what was said. Where
    it happened is enough to find it."""
    where = place(e) or "an unknown place"
    logging.getLogger("recollect.ui").error("%s in %s", type(e).__name__, where)
    st.error(
        "Something went wrong while this page was drawn. What was saved is safe; reloading the page often helps. "
        f"If it happens again, please report: {type(e).__name__} in {where}.",
        icon=":material/error:",
    )
    return True
