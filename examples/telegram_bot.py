"""A Telegram-style bot behind a webhook: every delivery is a run with a new thread id, and the bot still knows its chats.

    pip install '.[langgraph]'
    python examples/telegram_bot.py                    plays a few deliveries, with a restart in between
    python examples/telegram_bot.py --serve 8080       takes Telegram's updates at http://127.0.0.1:8080/

Three things make it work. A node parses the update into `results.telegram_events_parser`. `AgentNode` makes the chat's key
from it (`telegram:<chat id>`) and keeps the history under that key. And each chat is a user of the store, so that nothing
said in one chat is ever found from another. Without a model (set RECOLLECT_CHAT_MODEL for one) answers come from memory.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any, TypedDict

try:
    from langchain_core.messages import AnyMessage, HumanMessage
    from langgraph.graph import START, StateGraph
    from langgraph.graph.message import add_messages

    import recollect
    from recollect.langgraph import AgentNode, default_model
except ModuleNotFoundError as e:
    raise SystemExit(f"{e}. In Recollect's own folder: pip install '.[langgraph]'") from None


class State(TypedDict, total=False):
    inputs: dict[str, Any]
    results: dict[str, Any]
    messages: Annotated[list[AnyMessage], add_messages]


def parse(state: State) -> State:
    """What Telegram sent, as the rest of the graph wants it. The update's id is the message's: delivered twice, said once."""
    update = state["inputs"]["update"]
    message = update["message"]
    parsed = {"chat_id": message["chat"]["id"], "text": message.get("text", "")}
    said = HumanMessage(parsed["text"], id=f"telegram-{update['update_id']}")
    return {"results": {"telegram_events_parser": parsed}, "messages": [said]}


def make_bot(store: recollect.Store) -> Any:
    agent = AgentNode(default_model(store), use_graph_chat_history=True, max_messages=30, store=store, learn=True)
    builder = StateGraph(State)
    builder.add_node("telegram_events_parser", parse)
    builder.add_node("agent", agent)
    builder.add_edge(START, "telegram_events_parser")
    builder.add_edge("telegram_events_parser", "agent")
    return builder.compile()


def deliver(bot: Any, update: dict[str, Any]) -> dict[str, Any]:
    """One webhook call, and what to send back to Telegram."""
    chat = update["message"]["chat"]["id"]
    config = {"configurable": {"thread_id": str(uuid.uuid4()), "user_id": f"telegram:{chat}"}}
    done = bot.invoke({"inputs": {"update": update}}, config)
    return {"method": "sendMessage", "chat_id": chat, "text": done["messages"][-1].text}


def serve(store: recollect.Store, port: int) -> None:
    bot = make_bot(store)

    class Webhook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            update = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(deliver(bot, update)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Addresses and contents are nobody's business."""

    with ThreadingHTTPServer(("127.0.0.1", port), Webhook) as server:
        print(f"listening on http://127.0.0.1:{server.server_address[1]}/", flush=True)
        server.serve_forever()


def update(id: int, chat: int, text: str) -> dict[str, Any]:
    return {"update_id": id, "message": {"message_id": id, "chat": {"id": chat, "type": "private"}, "text": text}}


def play(path: Path) -> None:
    kim, sam = 4711, 4712
    days = [
        [update(1, kim, "Remember I prefer dark mode"), update(2, sam, "Remember I prefer light mode")],
        [
            update(3, kim, "What are my preferences?"),
            update(4, sam, "What are my preferences?"),
            update(5, kim, "/reset"),
        ],
    ]
    for deliveries in days:
        with recollect.open(path, user="bot") as store:  # each day the bot starts anew
            bot = make_bot(store)
            for one in deliveries:
                answer = deliver(bot, one)
                print(f"{answer['chat_id']}: {one['message']['text']}\n   -> {answer['text']}")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--serve", type=int, metavar="PORT", help="take updates at this port of 127.0.0.1")
    options.add_argument("--store", type=Path, help="the file to keep everything in")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = chosen.store or Path(folder) / "bot.db"
        if chosen.serve is None:
            play(path)
            return
        with recollect.open(path, user="bot") as store:
            serve(store, chosen.serve)


if __name__ == "__main__":
    main()
