"""A supervisor with two workers that share one memory.

    pip install '.[langgraph]' langgraph-supervisor
    python examples/supervisor.py

The scribe listens, the archivist answers questions, and a supervisor says whose turn it is. Both workers are `chat_graph`s on
the same store, so what one of them hears the other knows, in the next conversation too. It runs without a network: the
workers answer from memory (set RECOLLECT_CHAT_MODEL for a model), and the supervisor decides by a question mark, where yours
would ask a model.
"""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

try:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langgraph_supervisor import create_supervisor

    import recollect
    from recollect.langgraph import Saver, chat_graph
except ModuleNotFoundError as e:
    raise SystemExit(f"{e}. In Recollect's own folder: pip install '.[langgraph]' langgraph-supervisor") from None


class Switchboard(BaseChatModel):
    """Hands a question to the archivist and everything else to the scribe; when one of them has answered, that was it."""

    @property
    def _llm_type(self) -> str:
        return "switchboard"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        last = max(i for i, m in enumerate(messages) if isinstance(m, HumanMessage))
        if any(m.name in ("scribe", "archivist") for m in messages[last:]):
            said = AIMessage("Anything else?")
        else:
            worker = "archivist" if messages[last].text.rstrip().endswith("?") else "scribe"
            said = AIMessage(
                "", tool_calls=[{"name": f"transfer_to_{worker}", "args": {}, "id": f"to-{worker}-{last}"}]
            )
        return ChatResult(generations=[ChatGeneration(message=said)])


def make_team(store: recollect.Store) -> Any:
    workers = [chat_graph(store=store, name="scribe"), chat_graph(store=store, name="archivist")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # langgraph-supervisor still uses a name that LangGraph has moved
        team = create_supervisor(workers, model=Switchboard(), supervisor_name="switchboard")
    return team.compile(checkpointer=Saver(store))


def ask(team: Any, conversation: str, text: str) -> list[tuple[str, str]]:
    """(worker, answer) of those who answered."""
    before = len(team.get_state({"configurable": {"thread_id": conversation}}).values.get("messages", []))
    done = team.invoke({"messages": [HumanMessage(text)]}, {"configurable": {"thread_id": conversation}})
    said = [m for m in done["messages"][before:] if isinstance(m, AIMessage) and not m.tool_calls]
    return [(m.name, m.text) for m in said if m.name in ("scribe", "archivist")]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, recollect.open(Path(folder) / "team.db", user="alex") as store:
        team = make_team(store)
        for conversation, text in (
            ("monday", "Remember I prefer dark mode"),
            ("monday", "The launch of Atlas is on 3 March 2027"),
            ("tuesday", "What are my preferences?"),
            ("tuesday", "When is the launch of Atlas?"),
        ):
            print(f"[{conversation}] {text}")
            for worker, answer in ask(team, conversation, text):
                print(f"   {worker}: {answer}")


if __name__ == "__main__":
    main()
