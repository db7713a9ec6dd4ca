"""Memories and branches: seen where their source lies in the lineage, hidden by a rewind, changed on one branch only."""

import random

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import Open


@pytest.fixture
def words(open_store: Open) -> recollect.Store:
    return open_store(background=False)


def say(store: recollect.Store, c: recollect.Conversation, text: str, branch: str | None = None) -> recollect.Event:
    event = store.append(c, role="user", text=text, branch=branch)
    store.consolidate(c, branch=branch)
    return event


def seen(
    store: recollect.Store, c: recollect.Conversation | None = None, branch: str | None = None, **asked: object
) -> list[str]:
    found = sorted(m.content for m in store.memories(conversation=c, branch=branch, **asked))  # type: ignore[arg-type]
    if not asked:  # search sees what the list sees
        hits = store.recall("lives in Porto Lisbon Berlin Madrid tea", conversation=c, branch=branch, limit=100)
        assert {h.text for h in hits} <= set(found)
        assert {f for f in found if "Lives" in f} <= {h.text for h in hits}
    return found


def test_an_update_on_one_branch_leaves_the_other_alone(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    say(words, c, "I live in Porto.")
    words.fork(c, name="b")
    say(words, c, "I moved to Lisbon.", "b")
    assert seen(words, c) == ["Lives in Porto"]
    assert seen(words, c, "b") == ["Lives in Lisbon"]
    assert seen(words) == seen(words, d) == ["Lives in Porto"], "from outside: as the active branch has it"
    words.switch(c, "b")
    assert seen(words) == seen(words, d) == ["Lives in Lisbon"]
    assert seen(words, c, "main") == ["Lives in Porto"]
    words.switch(c, "main")
    assert seen(words, d) == ["Lives in Porto"]
    assert words.verify().ok


def test_a_rewind_hides_what_was_said_after_it(words: recollect.Store) -> None:
    c = words.create("c")
    say(words, c, "I live in Porto.")
    say(words, c, "I moved to Lisbon.")
    assert seen(words, c) == ["Lives in Lisbon"]
    words.fork(c, 1, name="back", switch=True)
    assert seen(words, c) == seen(words) == ["Lives in Porto"]
    words.fork(c, 0, name="before", switch=True)
    assert seen(words, c) == seen(words) == []
    assert words.memories(state=None) == []
    say(words, c, "I live in Berlin.")
    assert seen(words) == ["Lives in Berlin"]
    assert seen(words, c, "main") == ["Lives in Lisbon"]
    assert words.context("Who lives in Berlin?", conversation=c).text.count("Lives in Berlin") == 1
    assert words.verify().ok


def test_as_of_an_event(words: recollect.Store) -> None:
    c = words.create("c")
    for text in ("I live in Porto.", "I moved to Lisbon.", "Hello.", "I moved to Berlin."):
        say(words, c, text)
    assert [seen(words, c, as_of=n) for n in range(5)] == [
        [], ["Lives in Porto"], ["Lives in Lisbon"], ["Lives in Lisbon"], ["Lives in Berlin"]
    ]  # fmt: skip
    assert seen(words, c, as_of=2, state="replaced") == ["Lives in Porto"]


def test_as_of_an_event_knows_what_was_done_by_hand_by_then(words: recollect.Store) -> None:
    c = words.create("c")
    words.append(c, role="user", text="one")
    words.remember("Likes tea")
    words.append(c, role="user", text="two")
    words.forget(words.memories()[0])
    words.append(c, role="user", text="three")
    assert [seen(words, c, as_of=n) for n in range(4)] == [[], ["Likes tea"], [], []]


def test_a_forked_conversation_is_considered_once(words: recollect.Store) -> None:
    c = words.create("c")
    words.append(c, role="user", text="I live in Porto.")
    words.fork(c, name="b")
    words.append(c, role="user", text="I moved to Lisbon.", branch="b")
    words.append(c, role="user", text="I like green tea.")
    assert words.consolidate(c, branch="b").turns == 2
    assert words.consolidate(c).turns == 1
    assert words.consolidate(c, branch="b").turns == 0
    assert "Lives in Porto" in seen(words, c)
    assert "Lives in Lisbon" not in seen(words, c)
    assert seen(words, c, "b") == ["Lives in Lisbon"]


def test_what_is_remembered_in_a_conversation_is_rewound_with_it(words: recollect.Store) -> None:
    c = words.create("c")
    words.append(c, role="user", text="one")
    words.remember("Likes tea", conversation=c)
    words.append(c, role="user", text="two")
    words.fork(c, 0, name="before")
    words.fork(c, 1, name="after")
    assert seen(words, c) == ["Likes tea"]
    assert seen(words, c, "before") == []
    assert seen(words, c, "after") == ["Likes tea"]


def test_promoted_is_seen_from_every_branch(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    words.fork(c, name="b")
    say(words, c, "I live in Porto.", "b")
    (m,) = words.memories(conversation=c, branch="b")
    assert seen(words) == seen(words, c) == seen(words, d) == []
    words.revise(m, promote=True)
    assert seen(words) == seen(words, c) == seen(words, d) == seen(words, c, "b") == ["Lives in Porto"]
    words.undo(m)
    assert seen(words, d) == []
    assert seen(words, c, "b") == ["Lives in Porto"]


def test_to_pin_or_to_weigh_is_not_to_promote(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    words.fork(c, name="b")
    say(words, c, "I live in Porto.", "b")
    (m,) = words.memories(conversation=c, branch="b")
    words.pin(m)
    words.revise(m, importance=0.9)
    assert seen(words) == seen(words, c) == seen(words, d) == []
    (there,) = words.memories(conversation=c, branch="b")
    assert (there.pinned, there.importance, there.by_hand) == (True, 0.9, True)
    new = words.revise(m, content="Lives in Lisbon")
    assert seen(words) == seen(words, c) == []
    assert seen(words, c, "b") == ["Lives in Lisbon"]
    words.forget(new)
    assert seen(words, c, "b") == []


def test_the_same_said_elsewhere_stands_by_itself(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    say(words, c, "I live in Porto.")
    say(words, d, "I live in Porto.")
    words.fork(c, 0, switch=True)
    assert seen(words) == seen(words, d) == ["Lives in Porto"]
    assert len(words.memories(state=None)) == 1
    words.erase(conversation=c)
    assert seen(words) == ["Lives in Porto"]
    words.erase(conversation=d)
    assert words.memories(state=None) == []
    assert words.verify().ok


def test_erasing_the_conversation_that_changed_it(words: recollect.Store) -> None:
    c, d = words.create("c"), words.create("d")
    say(words, c, "I live in Porto.")
    say(words, d, "I moved to Lisbon.")
    assert seen(words) == ["Lives in Lisbon"]
    words.erase(conversation=d)
    assert seen(words) == ["Lives in Porto"]
    assert words.verify().ok


def test_a_branch_that_is_not_there(words: recollect.Store) -> None:
    c = words.create("c")
    with pytest.raises(NotFound):
        words.memories(conversation=c, branch="nope")
    with pytest.raises(NotFound):
        words.recall("x", conversation=c, branch="nope")
    with pytest.raises(NotFound):
        words.consolidate(c, branch="nope")


# -- against a model


CITIES = ("Porto", "Lisbon", "Berlin", "Madrid")


class Model:
    """What should be seen, in the plainest way: a list of what happened, and a walk over it for every question."""

    def __init__(self) -> None:
        self.parents: dict[str, tuple[str, int] | None] = {"main": None}
        self.active = "main"
        self.happened: list[dict[str, object]] = []
        """city, state, at (branch, number) or None for everywhere, group, action, prior, undone."""
        self.group = 0

    def lineage(self, branch: str) -> dict[str, float]:
        found: dict[str, float] = {}
        upto, at = float("inf"), branch
        while True:
            found[at] = upto
            parent = self.parents[at]
            if parent is None:
                return found
            at, upto = parent[0], min(upto, parent[1])

    def standing(self, branch: str, city: str) -> dict[str, object] | None:
        own = self.lineage(branch)
        last = None
        for h in self.happened:
            place = h["at"]
            if h["city"] == city and not h["undone"] and (place is None or place[1] <= own.get(place[0], -1)):  # type: ignore[index]
                last = h
        return last

    def held(self, branch: str) -> set[str]:
        return {c for c in CITIES if (s := self.standing(branch, c)) is not None and s["state"] == "active"}

    def note(self, city: str, action: str, state: str, at: tuple[str, int] | None, branch: str) -> None:
        prior = self.standing(branch, city)
        self.happened.append(
            {
                "city": city,
                "state": state,
                "at": at,
                "group": self.group,
                "action": action,
                "prior": prior,
                "undone": False,
            }
        )

    def say(self, branch: str, seq: int, city: str) -> None:
        self.group += 1
        held = self.held(branch)
        for other in sorted(held - {city}):
            self.note(other, "replaced", "replaced", (branch, seq), branch)
        self.note(city, "confirmed" if city in held else "added", "active", (branch, seq), branch)

    def forget(self, city: str) -> None:
        self.group += 1
        self.note(city, "forgotten", "forgotten", None, self.active)

    def undo(self, city: str) -> None:
        h = self.standing(self.active, city)
        while h is not None and h["action"] == "confirmed":
            h = h["prior"]  # type: ignore[assignment]
        assert h is not None
        gone = [x for x in self.happened if x["group"] == h["group"]]
        for x in self.happened:
            if x["action"] == "confirmed" and x not in gone and any(x["prior"] is g for g in gone):
                gone.append(x)
        for x in gone:
            x["undone"] = True


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_it_is_what_a_plain_model_says(words: recollect.Store, seed: int) -> None:
    rng = random.Random(seed)
    c, model = words.create("c"), Model()
    ids: dict[str, str] = {}
    for _ in range(22):
        verb = rng.choice(["say", "say", "say", "fork", "switch", "forget", "undo"])
        branch = rng.choice(list(model.parents))
        if verb == "say":
            city = rng.choice(CITIES)
            e = words.append(c, role="user", text=f"I live in {city}.", branch=branch)
            assert words.consolidate(c, branch=branch).turns == 1
            model.say(branch, e.seq, city)
        elif verb == "fork":
            last = words.get(c).last_seq
            made = words.fork(c, rng.randint(0, last), switch=rng.random() < 0.5)
            assert made.parent is not None
            model.parents[made.name] = (made.parent, made.fork_seq)
            model.active = made.name if made.active else model.active
        elif verb == "switch":
            words.switch(c, branch)
            model.active = branch
        else:
            held = sorted(model.held(model.active))
            if not held:
                continue
            city = rng.choice(held)
            ids |= {m.content.split()[-1]: m.id for m in words.memories(state=None)}
            if verb == "forget":
                words.forget(ids[city])
                model.forget(city)
            else:
                try:
                    words.undo(ids[city])
                except InvalidInput as e:
                    assert "changed since" in str(e)
                    continue
                model.undo(city)
        for b in model.parents:
            expected = sorted(f"Lives in {city}" for city in model.held(b))
            assert sorted(m.content for m in words.memories(conversation=c, branch=b)) == expected, (seed, verb, b)
        outside = sorted(f"Lives in {city}" for city in model.held(model.active))
        assert seen(words) == outside
    assert words.verify().ok
