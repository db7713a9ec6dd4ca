"""The application in a process of its own, and a tab of a real browser on it."""

from __future__ import annotations

import copy
import http.client
import os
import re
import runpy
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

import recollect

ROOT = Path(__file__).parents[2]
SHOTS = ROOT / "test-artifacts" / "browser"
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
PATIENCE = 60_000
"""Milliseconds: CI shares its cores."""
expect.set_options(timeout=PATIENCE)
WHERE = {
    "Chat": r":\d+/(\?|$)", "Time travel": "/time_travel", "Memories": "/memories", "Search": "/search",
    "Timeline": "/timeline", "Settings & health": "/settings",
}  # fmt: skip
# Streamlit's page asks below its own address first, and finds nothing there, when it is not opened at the root.
EXPECTED_404 = re.compile(r"/(?:time_travel|memories|search|timeline|settings)/_stcore/(?:health|host-config)$")


class Application:
    """`recollect app`, started as a user would."""

    program: tuple[str, ...] = ("-m", "recollect.cli")

    def __init__(self, data: Path, *arguments: str, **environment: str) -> None:
        self.data = data
        data.mkdir(parents=True, exist_ok=True)
        env = {k: v for k, v in os.environ.items() if not k.startswith(("RECOLLECT_", "STREAMLIT_"))}
        env |= {"RECOLLECT_DATA_DIR": str(data), "RECOLLECT_CONFIG": str(data / "config.toml"), "HOME": str(data)}
        env |= {"PYTHONUNBUFFERED": "1", **environment}
        self.environment = env
        self.process = subprocess.Popen(
            [sys.executable, *self.program, "app", *arguments],
            env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=data,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.said = [self.process.stdout.readline()]
        found = re.search(r"(http://127\.0\.0\.1:(\d+))(?:/\?secret=([\w-]+))?", self.said[0])
        if found is None:
            self.process.kill()
            raise AssertionError(self.said[0] + self.process.stdout.read())
        self.url, self.port, self.secret = found.group(1), int(found.group(2)), found.group(3)
        self.cookie: dict[str, str] = {}
        # Read along: a full pipe would stop it.
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self._wait()
        except BaseException:
            self.kill()
            raise

    person = "local"

    def of(self, person: str) -> Application:
        """The same application for another profile, which is made if there is none."""
        other = copy.copy(self)
        other.person = person
        with other.store() as store:
            store.erase(conversation=store.create())
        return other

    def store(self) -> recollect.Store:
        """What it keeps for this person, as another program sees it."""
        return recollect.open(self.data / "chat.db", user=self.person, background=False)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said.append(line)

    def _wait(self) -> None:
        """Until it answers: it listens from the start, and loads for seconds."""
        until = time.monotonic() + 120
        while time.monotonic() < until:
            assert self.process.poll() is None, "".join(self.said)
            try:
                client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
                client.request("GET", f"/_stcore/health?secret={self.secret}")
                answer = client.getresponse()
                if answer.status == 200:
                    self.cookie = {"Cookie": answer.headers.get("Set-Cookie", "").partition(";")[0]}
                    return
            except OSError:
                pass
            finally:
                client.close()
            time.sleep(0.05)
        raise AssertionError("it does not answer")

    def kill(self) -> None:
        """-9: nothing is tidied up."""
        self.process.kill()
        self.process.wait(60)
        self._drained()

    def _drained(self) -> None:
        self._reader.join(60)
        assert not self._reader.is_alive(), (
            "a child of it still holds its output"
        )  # to close it now would wait for ever
        assert self.process.stdout is not None
        self.process.stdout.close()

    def end(self, how: signal.Signals = signal.SIGINT, patience: float = 60) -> int:
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(60)
            raise
        finally:
            self._drained()


@contextmanager
def application(data: Path, *arguments: str, **environment: str) -> Iterator[Application]:
    app = Application(data, *arguments, **environment)
    try:
        yield app
    finally:
        if app.process.poll() is None:
            app.end()


class Tab:
    """A tab, and everything it complained about or asked for elsewhere."""

    def __init__(self, browser: Browser, app: Application, size: str, **options: Any) -> None:
        width, height = SIZES[size]
        self.size = size
        self.context = browser.new_context(viewport={"width": width, "height": height}, locale="en-GB", **options)
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.app = app
        self.complaints: list[str] = []
        self.elsewhere: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda e: self.complaints.append(str(e)))
        self.page.on("request", self._request)
        self.page.on("websocket", lambda s: self._look(s.url))

    def _console(self, message: Any) -> None:
        where = (message.location or {}).get("url", "")
        if message.type == "error" and not EXPECTED_404.search(where):
            self.complaints.append(f"{message.text} {where}")

    def _request(self, request: Any) -> None:
        self._look(request.url)

    def _look(self, url: str) -> None:
        if not url.startswith(
            ("data:", "blob:", f"http://127.0.0.1:{self.app.port}", f"ws://127.0.0.1:{self.app.port}")
        ):
            self.elsewhere.append(url)

    def close(self) -> None:
        self.context.close()
        assert self.complaints == []
        assert self.elsewhere == []

    # -- doing

    def open(self, **query: str) -> Tab:
        if self.app.person != "local":
            query["profile"] = self.app.person
        if self.app.secret:
            query["secret"] = self.app.secret  # as it was printed: a page of ours takes it out of the address
        self.page.goto(f"{self.app.url}/?{urlencode(query)}")
        self.box.wait_for()
        return self

    @property
    def box(self) -> Locator:
        return self.page.get_by_test_id("stChatInputTextArea")

    def say(self, text: str) -> Tab:
        """Until it is the last but one of what was said. It is not counted: a page that is drawn anew, because something
        was learned, shows less for a moment, and on a busy machine a moment is long."""
        self.quiet()
        self.box.fill(text)
        self.box.press("Enter")
        self.page.wait_for_function(
            "text => [...document.querySelectorAll('[data-testid=\"stChatMessage\"]')].at(-2)?.innerText.includes(text)",
            arg=text,
            timeout=PATIENCE,
        )
        self.quiet()
        return self

    def said(self) -> Locator:
        return self.page.get_by_test_id("stChatMessage")

    def quiet(self) -> None:
        """Until the page has been drawn to its end."""
        self.page.wait_for_function(
            "() => !document.querySelector('[data-testid=\"stStatusWidget\"]') && "
            "!document.querySelector('[data-stale=\"true\"]')",
            timeout=PATIENCE,
        )

    def sidebar(self, shown: bool = True) -> Locator:
        """The list of conversations; on a phone it is opened first, and closed by a choice."""
        bar = self.page.get_by_test_id("stSidebar")
        if self.size == "phone":
            is_there = self.page.locator('[data-testid="stSidebar"][data-collapsed="false"]')
            for _ in range(8):
                if (is_there.count() > 0) is shown:
                    break
                try:
                    if shown:
                        self.page.get_by_test_id("stExpandSidebarButton").click(timeout=5_000)
                    else:
                        bar.hover(timeout=5_000)
                        button = self.page.get_by_test_id("stSidebarCollapseButton").get_by_role("button")
                        button.click(timeout=5_000)
                    expect(is_there).to_have_count(1 if shown else 0, timeout=5_000)
                except (TimeoutError, AssertionError):
                    continue  # a choice has closed it meanwhile
            expect(is_there).to_have_count(1 if shown else 0)
        return bar

    def new(self) -> Tab:
        self.sidebar().get_by_role("button", name="New conversation").click()
        self.sidebar(shown=False)
        expect(self.page.get_by_text("What is on your mind?")).to_be_visible()
        return self

    def choose(self, title: str) -> Tab:
        self.sidebar().get_by_role("button", name=title, exact=True).click()
        self.sidebar(shown=False)
        self.quiet()
        return self

    def go(self, page: str) -> Tab:
        """By the navigation: at the top, or in the sidebar of a phone."""
        there = re.compile(WHERE[page])
        for _ in range(8):
            self.quiet()
            place = self.sidebar() if self.size == "phone" else self.page
            place.get_by_role("link", name=page).click()
            try:
                self.page.wait_for_url(there, timeout=5_000)
                break
            except TimeoutError:
                # On a busy machine a timer of Streamlit's own can overtake a click, and say the page that was before.
                continue
        assert there.search(self.page.url), self.page.url
        self.sidebar(shown=False)
        self.quiet()
        return self

    def press(self, name: str, **kw: Any) -> Tab:
        self.quiet()
        self.button(name, **kw).click()
        return self

    def pick(self, name: str) -> Tab:
        """Press one of several until it is the chosen one: who leaves the page at once takes the click back."""
        for _ in range(8):
            self.press(name, exact=True)
            try:
                expect(self.button(name, exact=True)).to_have_attribute("kind", "primary", timeout=5_000)
                return self
            except AssertionError:
                continue
        raise AssertionError(f"{name!r} was pressed eight times and is not the chosen one")

    def dialog(self) -> Locator:
        return self.page.get_by_test_id("stDialog")

    def button(self, name: str, **kw: Any) -> Locator:
        return self.page.get_by_role("main").get_by_role("button", name=name, **kw)

    def folder(self) -> Path:
        SHOTS.mkdir(parents=True, exist_ok=True)
        return SHOTS

    def shot(self, name: str) -> Path:
        path = self.folder() / f"{name}-{self.size}.png"
        self.page.screenshot(path=path)
        return path


def chromium() -> str:
    """The browser that `make browser` finds. Where there is none these tests are skipped, which fails in CI."""
    found = runpy.run_path(str(ROOT / "tools" / "browser.py"))["find"]()
    if found is None:
        pytest.skip("no Chromium or Chrome here: `make browser` says how to install one")
    return str(found)
