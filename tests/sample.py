"""A short conversation with something of every kind: messages with reasoning, tools, a ledger, an artifact, a fork."""

from recollect import Conversation, Store, ids
from recollect.cli.story import _THEME as _DIFF
from recollect.model import Entry, Reasoning

_STORY: tuple[tuple[int, Entry], ...] = (
    (0, {"role": "user", "text": "Could you give the garden planner a dark mode? I prefer dark themes everywhere."}),
    (4, {
        "role": "assistant", "agent": "planner", "model": "sample-model", "input_tokens": 412, "output_tokens": 58,
        "duration_ms": 2_300,
        "text": "Sure. I will look at how colours are set first, then decide between a switch and the system's preference.",
        "reasoning": Reasoning(
            "The user wants dark mode and says they prefer it everywhere: following the system may be enough. Read the "
            "stylesheet before promising anything.",
            effort="low", model="sample-model", output_tokens=61, duration_ms=900,
        ),
    }),
    (5, {"kind": "ledger", "task_id": "dark-mode", "goal": "A dark mode for the garden planner", "status": "in_progress"}),
    (6, {"kind": "tool_use", "tool": "Read", "path": "src/theme.css", "agent": "planner"}),
    (7, {
        "kind": "tool_result", "tool": "Read", "path": "src/theme.css", "duration_ms": 12,
        "text": ":root {\n  --background: #ffffff;\n  --text: #1b1f24;\n}",
    }),
    (11, {
        "role": "assistant", "agent": "planner", "model": "sample-model", "input_tokens": 690, "output_tokens": 74,
        "duration_ms": 1_900,
        "text": "All colours are two variables, so following the system's preference takes five lines. Shall I?",
        "reasoning": "Two custom properties only: a media query will do, no switch and no script needed.",
    }),
    (48, {"role": "user", "text": "Yes, let's go with the system's preference. 🌙"}),
    (49, {"kind": "approval", "tool": "Edit", "path": "src/theme.css", "status": "granted"}),
    (52, {"kind": "artifact", "path": "src/theme.css", "text": "Dark colours by media query", "diff": _DIFF}),
    (53, {"kind": "ledger", "task_id": "dark-mode", "goal": "A dark mode for the garden planner", "status": "done"}),
    (55, {
        "role": "assistant", "agent": "planner", "model": "sample-model", "input_tokens": 802, "output_tokens": 41,
        "duration_ms": 1_200,
        "text": "Done: src/theme.css now follows the system. Decided: no switch, the system's preference decides.",
    }),
)  # fmt: skip

_OTHER_ROAD: tuple[tuple[int, Entry], ...] = (
    (70, {"role": "user", "text": "What if visitors could choose it themselves?"}),
    (75, {
        "role": "assistant", "agent": "planner", "model": "sample-model", "input_tokens": 731, "output_tokens": 66,
        "duration_ms": 2_000,
        "text": "Then a switch in the header, remembered in the browser: about forty lines, and a flash to avoid on load.",
    }),
)  # fmt: skip


def record(store: Store) -> Conversation:
    """The sample, as if it had ended a moment ago."""
    begin = ids.now() - 80_000
    c = store.create(title="A dark mode for the garden planner", workspace="sample", metadata={"sample": True})
    said = store.append_many(c.id, [{**e, "created_at": begin + at * 1000} for at, e in _STORY])
    question = next(e for e in said if e.role == "user" and e.seq > 1)
    store.fork(c.id, at=question.seq - 1, name="with-a-switch")
    store.append_many(c.id, [{**e, "created_at": begin + at * 1000} for at, e in _OTHER_ROAD], branch="with-a-switch")
    return store.get(c.id)
