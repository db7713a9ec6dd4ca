"""One browser for all tests of a module in a worker; each test gets tabs of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, sync_playwright
from tab import Application, Tab, application, chromium


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Ends with its module: while it is there an event loop runs in this thread, and no test of async code can."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox", "--disable-gpu"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def shared_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    with application(tmp_path_factory.mktemp("application")) as started:
        yield started


@pytest.fixture
def app(shared_app: Application, request: pytest.FixtureRequest) -> Application:
    """The application, for a person whom nobody else is: starting one for each test would take longer than the tests."""
    return shared_app.of(re.sub(r"\W+", "-", request.node.name))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    if call.when == "call" and outcome.get_result().failed:
        for one in getattr(item, "tabs", ()):
            one.page.screenshot(path=one.folder() / f"failed-{re.sub(r'[^a-z0-9]+', '-', item.name)}.png")


@pytest.fixture
def tab(browser: Browser, app: Application, request: pytest.FixtureRequest) -> Iterator[Callable[..., Tab]]:
    """Opens tabs. When the test ends none of them may have complained, or asked for anything elsewhere."""
    opened: list[Tab] = []
    request.node.tabs = opened

    def make(size: str = "desktop", to: Application | None = None, **options: Any) -> Tab:
        opened.append(Tab(browser, to or app, size, **options))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
