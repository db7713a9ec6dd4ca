"""What `model=` takes, what it refuses at once, and how a model that fails is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import recollect
from recollect.errors import HostNotAllowed, InvalidInput

SAID = "Facts: the launch is on Monday."


class Completions(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        message = {"role": "assistant", "content": f"{SAID} ({asked['model']})"}
        body = json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [
            {"index": 0, "finish_reason": "stop", "message": message}]}).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    made = ThreadingHTTPServer(("127.0.0.1", 0), Completions)
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}/v1"
    made.shutdown()
    made.server_close()


def summary(url: Any, model: Any, **settings: Any) -> str:
    with recollect.open(url, user="alex", model=model, semantic=False, background=False, **settings) as store:
        c = store.create("c")
        for n in range(4):
            store.append(c, role="user", text=f"The launch is on day {n}.")
            store.append(c, role="assistant", text="Noted.")
        made = store.summarize(c)
        assert made is not None
        assert made.payload["by"] == "model", made.text
        return made.text


async def answer(prompt: str) -> str:
    return SAID


def wrong(prompt: str, other: str) -> str:
    return SAID


class Asks:
    async def __call__(self, prompt: str) -> str:
        return SAID


@pytest.mark.parametrize("model", [lambda prompt: SAID, answer, Asks()], ids=["function", "async", "object"])
def test_callables_are_models(url: str, model: Any) -> None:
    assert SAID in summary(url, model)


@pytest.mark.parametrize("kind", ["OpenAI", "AsyncOpenAI"])
def test_clients_of_openai_are_models(url: str, server: str, kind: str) -> None:
    import openai

    client = getattr(openai, kind)(api_key="none", base_url=server)
    assert f"{SAID} (small)" in summary(url, client, chat_model="openai:small")


def test_chat_models_of_langchain_are_models(url: str) -> None:
    from langchain_core.language_models import FakeListChatModel

    assert SAID in summary(url, FakeListChatModel(responses=[SAID]))


@pytest.mark.parametrize("model", ["ollama:llama3.2", "no-such-model", object(), 7, wrong, Asks, {"model": "x"}])
async def test_anything_else_is_refused_at_once_with_what_is_accepted(url: str, model: Any) -> None:
    for opening in (lambda: recollect.open(url, model=model), lambda: recollect.open_async(url, model=model)):
        with pytest.raises(InvalidInput, match=r"model= takes a function.*LangChain.*AsyncOpenAI"):
            opened = opening()
            if not isinstance(opened, recollect.Store):
                await opened


def test_a_client_needs_a_name_for_its_model_and_an_allowed_host(url: str) -> None:
    import openai

    far = openai.AsyncOpenAI(api_key="none", base_url="https://models.example.com/v1")
    with pytest.raises(InvalidInput, match="chat_model"):
        recollect.open(url, model=far)
    with pytest.raises(HostNotAllowed, match=r"models\.example\.com"):
        recollect.open(url, model=far, chat_model="small")


def test_a_model_that_raises_is_told_until_it_answers_again(url: str) -> None:
    broken = True

    def moody(prompt: str) -> str:
        if broken:
            raise ConnectionError("what was said is not to be quoted")
        return SAID

    with recollect.open(url, user="alex", model=moody, semantic=False, background=False) as store:
        c = store.create("c")
        for n in range(8):
            store.append(c, role="user", text=f"The launch is on day {n}.")
        store.summarize(c)
        (told,) = [e for e in store.stats().job_errors if e.startswith("model ")]
        assert "ConnectionError" in told and "quoted" not in told
    with recollect.open(url, user="alex", model=moody, semantic=False, background=False) as store:
        assert [e for e in store.stats().job_errors if e.startswith("model ")], (
            "another process sees it, as the doctor is"
        )
        broken = False
        for n in range(12):
            store.append("c", role="user", text=f"The party is on day {n}.")
        assert store.summarize("c") is not None
        assert not store.stats().job_errors


def test_chat_graph_takes_and_refuses_the_same(store: recollect.Store) -> None:
    from recollect.langgraph import ask, chat_graph

    assert "".join(ask(chat_graph(answer, store=store), "t", "When is the launch?")) == SAID
    for model in (object(), Asks, 7, wrong):
        with pytest.raises(InvalidInput, match="model= takes"):
            chat_graph(model, store=store)
