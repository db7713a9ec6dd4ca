"""LangChain's `create_agent` with a memory: one line of middleware.

    pip install '.[agent]'
    python examples/middleware_agent.py

The middleware puts the best evidence from all conversations beside the question, brings the memory tools, and has everything
recorded. The agent has a tool of its own too. Without a model (set RECOLLECT_CHAT_MODEL for one) it answers from memory.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

try:
    from langchain.agents import create_agent
    from langchain_core.messages import HumanMessage
    from langchain_core.tools import tool

    import recollect
    from recollect.langgraph import MemoryMiddleware, Saver, default_model
except ModuleNotFoundError as e:
    raise SystemExit(f"{e}. In Recollect's own folder: pip install '.[agent]'") from None


@tool
def opening_hours(shop: str) -> str:
    """When a shop is open."""
    return f"{shop} is open from 9 to 17."


def make_agent(store: recollect.Store) -> Any:
    return create_agent(
        default_model(store),
        tools=[opening_hours],
        system_prompt="You help people to plan their day.",
        middleware=[MemoryMiddleware(store, tools=("MemorySearch", "remember"))],
        checkpointer=Saver(store),
    )


def say(agent: Any, conversation: str, text: str) -> str:
    done = agent.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": conversation}})
    return str(done["messages"][-1].text)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, recollect.open(Path(folder) / "agent.db", user="alex") as store:
        agent = make_agent(store)
        for conversation, text in (
            ("monday", "I'm allergic to nuts"),
            ("monday", "I prefer to have lunch at noon"),
            ("tuesday", "What do you know about me?"),
            ("tuesday", "When do I have lunch?"),
        ):
            print(f"[{conversation}] {text}\n   -> {say(agent, conversation, text)}")
        print(f"{store.stats().messages} messages in {len(store.conversations())} conversations are on record.")


if __name__ == "__main__":
    main()
