"""The application as a person uses it, without a browser: Streamlit's own AppTest on the real pages and a real store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from streamlit.testing.v1 import AppTest

import recollect
from recollect.ui import state
from recollect.ui.launch import MAIN


class App:
    """One tab of a browser."""

    def __init__(self, **query: str) -> None:
        self.at = AppTest.from_file(str(MAIN), default_timeout=120)
        for name, value in query.items():
            self.at.query_params[name] = value
        self.run()

    def run(self) -> App:
        self.at.run()
        assert not self.at.exception, [e.value for e in self.at.exception]
        return self

    def go(self, page: str) -> App:
        self.at.switch_page(f"{page}.py")
        return self.run()

    # -- doing

    def say(self, text: str) -> App:
        box = self.at.chat_input[0]
        box.set_value(text).run()
        assert not self.at.exception, [e.value for e in self.at.exception]
        return self

    def click(self, key: str) -> App:
        self.at.button(key=key).click().run()
        assert not self.at.exception, [e.value for e in self.at.exception]
        return self

    def choose(self, key: str, what: str) -> App:
        """Something of a menu."""
        self.at.menu_button(key=key).click(what).run()
        assert not self.at.exception, [e.value for e in self.at.exception]
        return self

    def open(self, title: str) -> App:
        """A conversation of the list."""
        next(b for b in self.at.sidebar.button if b.key.startswith("open-") and b.label == title).click().run()
        return self

    # -- seeing

    @property
    def said(self) -> list[str]:
        """The chat as it is shown: what stands in the bubbles."""
        found = []
        for bubble in self.at.chat_message:
            found += [m.value for m in bubble.markdown]
        return found

    @property
    def listed(self) -> list[str]:
        """The titles in the list of conversations."""
        return [b.label for b in self.at.sidebar.button if b.key.startswith("open-")]

    @property
    def text(self) -> str:
        """Everything there is to read on the page."""
        kinds = ("markdown", "html", "subheader", "code", "error", "warning", "info", "success", "caption", "json")
        parts: list[str] = []
        for kind in kinds:
            parts += [str(e.value) for e in getattr(self.at, kind)]
        parts += [b.label for b in self.at.button] + [e.label for e in self.at.expander]
        parts += [str(w.value) for w in (*self.at.text_input, *self.at.text_area)]
        return "\n".join(parts)

    @property
    def conversation(self) -> str:
        return str(self.at.session_state["chat_thread_id"])


def restart(**query: str) -> App:
    """As if the application had been ended and started again."""
    state.reopen()
    return App(**query)


@contextmanager
def another_process(**settings: Any) -> Iterator[recollect.Store]:
    """The same store, opened as another program would."""
    with recollect.open(**settings) as store:
        yield store
