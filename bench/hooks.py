"""What a coding agent waits for: a hook's process against a Python that does nothing."""

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator

import recollect
from recollect.hooks import command_line

from . import Figure, Run, benchmark, most
from .corpus import build
from .measure import environment, in_turns, p50
from .search import questions


@benchmark
def hooks(run: Run) -> Iterator[Figure]:
    """UserPromptSubmit with 100,000 events (10,000 with --quick): recorded, and answered with a context."""
    size = 10_000 if run.quick else 100_000
    folder = run.folder / "data"
    folder.mkdir()
    build(folder / "chat.db", size, embed=False, memories=500)
    env = environment(run.folder) | {"CLAUDE_PROJECT_DIR": "/repo/3"}
    command = command_line("claude-code", ["--data-dir", str(folder), "--user", "alex"])
    rounds, warm_up = run.rounds(60, 30), 5
    asked = iter(questions(rounds + warm_up))
    told = iter(
        f"{question} See src/planner/layout_engine.py and https://example.org/docs/beds?id=4711."
        for question in questions(rounds + warm_up)
    )
    answers: list[int] = []
    processor: dict[str, list[float]] = {"plain": [], "loud": [], "empty": []}

    def process(words: str, given: str, which: str) -> str:
        """One process, with what it takes of the processor: that is the same on a busy machine."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(["sh", "-c", words], input=given, capture_output=True, text=True, env=env, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor[which].append(1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
        return done.stdout

    def hook(prompt: str, which: str) -> None:
        payload = {
            "session_id": which, "transcript_path": str(run.folder / "none.jsonl"), "cwd": "/repo/3",
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": prompt,
            "prompt_id": f"p-{len(answers)}",
        }  # fmt: skip
        answers.append(len(process(command, json.dumps(payload), which)))

    calls: list[Callable[[], object]] = [
        lambda: hook(next(asked), "plain"),
        lambda: hook(next(told), "loud"),
        lambda: process(f"{sys.executable} -c pass", "", "empty"),
    ]
    plain, loud, nothing = in_turns(calls, rounds, warm_up=warm_up)
    with recollect.open(folder / "chat.db", user="alex", background=False) as store:
        assert store.get("plain").last_seq == store.get("loud").last_seq == rounds + warm_up, "each was recorded"
    given = sum(1 for length in answers if length) / len(answers)
    base = p50(nothing)
    more = {which: p50(taken) - p50(processor["empty"]) for which, taken in processor.items()}
    yield Figure(
        f"a prompt's hook over {size:,} events: more than `python -c pass`, p50", p50(plain) - base, base, "ms", most(50),
        f"{p50(plain) / base:.1f} times as long in all; processor {more['plain']:.1f} ms more; {given:.0%} got a context",
    )  # fmt: skip
    yield Figure(
        "the same with a path and an address in the prompt, p50", p50(loud) - base, base, "ms", None,
        f"{p50(loud) / base:.1f} times; processor {more['loud']:.1f} ms more: it is searched for secrets",
    )  # fmt: skip
