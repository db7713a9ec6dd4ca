"""Conversations to search in: sentences of a made-up language with the frequencies of a real one.

Half of what people say is function words; the rest follows Zipf's law over some ten thousand words. A question is made
from an event that is there: two or three of its words, one of them rare, in a sentence of common ones. Everything
follows from a seed, so that two runs search the same text.
"""

import random
from bisect import bisect
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import recollect

DAY = 86_400_000
START = 1_700_000_000_000
TURNS = 100  # in a conversation
_FUNCTION = (
    "the to and a of in that it is was for on with as at by this have from or had not are but what all were we when your "
    "can there use each which she do how their if will up other about out many then them these so some her would make "
    "him into time has look two more go see no way could my than been who now did get come made may"
).split()
_NAMES = "Alex Kim Sam Robin Noor Ines Tomas Yuki Priya Lena Omar Wanda".split()
_ASK = (
    "What did {who} say about the {a} and the {b}?", "When did we talk about {a} with {b}?",
    "Do you remember how {who} wanted the {a} to be, with {b} and {c}?", "Which {a} did I choose for the {b}?",
    "How many times have we been to the {a} near the {b}, and what was the {c} like?", "Why was the {a} so {b} last time?",
)  # fmt: skip


class Corpus:
    """An endless talk."""

    def __init__(self, seed: int = 5, words: int = 20_000) -> None:
        self._random = rng = random.Random(seed)
        heads = "b c d f g h j k l m n p r s t v w z br cl dr fl gr pl st tr th sh".split()
        tails = "a e i o u ai ea ou an en in on ar er or al el il as is".split()
        made: dict[str, None] = {}
        while len(made) < words:
            made["".join(rng.choice(heads) + rng.choice(tails) for _ in range(rng.choice((2, 2, 3, 3, 4))))] = None
        self._words = list(made)
        self._sums = list(accumulate(1 / (rank + 10) for rank in range(words)))
        self._function = list(accumulate(1 / (rank + 3) for rank in range(len(_FUNCTION))))

    def _content(self) -> str:
        return self._words[bisect(self._sums, self._random.random() * self._sums[-1] * 0.999999)]

    def turn(self) -> str:
        """What is said in one breath: one to four sentences."""
        rng = self._random
        said: list[str] = []
        for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
            sentence = [
                self._content()
                if rng.random() < 0.5
                else _FUNCTION[bisect(self._function, rng.random() * self._function[-1] * 0.999999)]
                for _ in range(rng.randint(4, 16))
            ]
            if rng.random() < 0.15:
                sentence.insert(rng.randrange(len(sentence)), rng.choice(_NAMES))
            if rng.random() < 0.1:
                sentence.append(str(rng.randint(2, 2000)))
            said.append(" ".join(sentence).capitalize() + rng.choice("...?!"))
        return " ".join(said)

    def question(self) -> str:
        """A question in natural language; its words are drawn as those of the turns are."""
        a, b, c = self._content(), self._content(), self._content()
        return self._random.choice(_ASK).format(who=self._random.choice(_NAMES), a=a, b=b, c=c)

    def conversations(self, events: int) -> Iterator[list[recollect.Entry]]:
        """The turns of one conversation after the other, a minute apart, user and assistant in turn."""
        at = START
        while events > 0:
            at += DAY // 8
            yield [
                {"role": ("user", "assistant")[i % 2], "text": self.turn(), "created_at": at + 60_000 * i}
                for i in range(min(events, TURNS))
            ]
            events -= TURNS


def build(path: Path, events: int, *, embed: bool = True, memories: int = 0) -> None:
    """A store in which one person, "alex", has as many events, and three others together a fifth as many."""
    corpus = Corpus()
    with recollect.open(
        path, user="alex", background=False, summaries=False, semantic=embed, memory_extract=False,
        memory_max_items_per_namespace=1_000_000,
    ) as store:  # fmt: skip
        for user, share in (("alex", events), ("kim", events // 10), ("alex2", events // 20), ("noor", events // 20)):
            handle = store.for_user(user)
            for n, entries in enumerate(corpus.conversations(share)):
                handle.create(f"{user}-{n}", title=corpus.turn()[:40], workspace=f"/repo/{n % 7}")
                handle.append_many(f"{user}-{n}", entries)
        for _ in range(memories):
            store.remember(corpus.turn())
        if embed:
            for user in ("alex", "kim"):
                store.for_user(user).settle()
