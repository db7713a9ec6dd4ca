"""From a candidate to truth: what a new statement does to those that are held. Pure, and it says why.

A statement that is held already is refreshed, one that takes another's place replaces it, a denial takes away, and what is
merely alike stays beside it (`relations` says which is which): to lose a true statement is worse than to hold two that
overlap. What a person wrote or pinned is never overwritten, only contradicted.
"""

from __future__ import annotations

from .extract import Candidate
from .extract.frames import Frame, content_words, stems
from .extract.framing import NOUNS, frames
from .extract.words import base_of
from .light import dataclass, pattern
from .relations import LASTING, Neighbour, aligned, are_of_one, is_about, is_negative, is_within, stands_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


ACTIONS = ("add", "update", "delete", "noop", "conflict")


@dataclass(frozen=True)
class Policy:
    """How to decide; `Policy()` is the default of the settings."""

    similarity: float = 0.85  # memory_similarity_threshold: from here on two unread statements may be the same one


@dataclass(frozen=True)
class Decision:
    """What to do with a candidate.

    "add": store it, beside what is there. "update": store it, and keep `id` (and `others`) as replaced by it. "delete":
    retire `id` (and `others`), store nothing. "noop": store nothing; refresh `id` when there is one (the same was said
    again). "conflict": store it flagged as contradicting `id`, which stays as it is because a person pinned or wrote it;
    when `store` is False there is nothing to store: the candidate would have deleted `id`, so only flag that."""

    action: str  # one of ACTIONS
    id: str | None = None  # the memory it acts on
    why: str = ""  # for a person to read
    others: tuple[str, ...] = ()  # further memories that the same decision retires
    store: bool = True  # whether the candidate's content is to be stored (add, update, conflict)
    content: str | None = (
        None  # what is stored in its place: what is left of `id`, of which one thing of several is over
    )


def decide(candidate: Candidate, neighbours: Sequence[Neighbour], policy: Policy | None = None) -> Decision:
    """What the candidate does to its neighbours. Pure: the same input gives the same answer."""
    policy = policy or Policy()
    active = [n for n in neighbours if n.state == "active"]
    if candidate.quarantine is not None:
        # Quarantined text touches nothing; the same text twice is one entry for the reviewer.
        for n in neighbours:
            if n.state == "quarantined" and n.content.casefold() == candidate.content.casefold():
                return Decision("noop", n.id, "waits for review already", store=False)
        return Decision("add", None, f"waits for review: {candidate.quarantine}")
    if candidate.operation == "retract":
        return _retract(candidate, active)
    if candidate.operation == "done":
        return _done(candidate, active)
    return _assert(candidate, active, policy)


def _guarded(decision: Decision, neighbours: Sequence[Neighbour]) -> Decision:
    """A decision that would retire what a person pinned or wrote becomes a conflict."""
    hit = {decision.id, *decision.others}
    held = [n for n in neighbours if n.id in hit and (n.pinned or n.by_hand)]
    if not held:
        return decision
    how = "pinned" if held[0].pinned else "written by hand"
    if decision.action == "delete":
        free = [n.id for n in neighbours if n.id in hit and not (n.pinned or n.by_hand)]
        if free:
            return Decision("delete", free[0], decision.why, tuple(free[1:]), store=False)
    store = decision.action != "delete" and decision.content is None
    return Decision("conflict", held[0].id, f"{decision.why}, but that is {how}", store=store)


def _assert(candidate: Candidate, active: Sequence[Neighbour], policy: Policy) -> Decision:

    content = candidate.content
    mine = frames(content) if candidate.kind != "todo" else ()
    key = content_words(content)
    same: Neighbour | None = None
    replaced: list[tuple[Neighbour, str]] = []
    slot = candidate.slot.casefold() if candidate.slot is not None else None
    for n in active:
        if n.content.casefold().rstrip(".") == content.casefold().rstrip("."):
            same = n
            if slot is None:
                break
            continue
        if slot is not None and n.kind == candidate.kind and n.content.casefold().startswith(slot):
            replaced.append((n, f"the newer state replaces “{n.content}”"))
            continue
        if (n.kind == "todo") != (candidate.kind == "todo"):
            continue
        theirs = frames(n.content) if n.kind != "todo" else ()
        relation, why = stands_to(candidate, mine, key, n, theirs, content_words(n.content))
        if not relation and not mine and not theirs and _are_one(candidate, key, n, policy):
            relation = "same"
        if relation == "same":
            same = same or n
        elif relation == "replaces":
            replaced.append((n, why))
    if candidate.about is not None:
        for n in active:
            if not any(n is r for r, _ in replaced) and n is not same and is_about(candidate.about, n, content):
                replaced.append((n, f"takes the place of “{n.content}”"))
    replaced = [(n, why) for n, why in replaced if n is not same]
    if same is not None and not replaced:
        return Decision("noop", same.id, "said again", store=False)
    if replaced:
        first, why = replaced[0]
        if same is not None:
            # The new value is held already, beside one that it contradicts: only that one goes.
            return _guarded(
                Decision("delete", first.id, why, tuple(n.id for n, _ in replaced[1:]), store=False), active
            )
        return _guarded(Decision("update", first.id, why, tuple(n.id for n, _ in replaced[1:])), active)
    return Decision("add", None, "nothing held says the same or the opposite")


def _are_one(c: Candidate, key: frozenset[str], n: Neighbour, policy: Policy) -> bool:
    """Two statements that nothing is known of, told apart by meaning: alike enough, and with the same names and figures."""

    if n.score is None or n.score < policy.similarity or is_negative(c.content) != is_negative(n.content):
        return False
    marks = [
        frozenset(w.strip(".,") for w in t.split()[1:] if w[:1].isupper() or any(ch.isdigit() for ch in w))
        for t in (c.content, n.content)
    ]
    words = content_words(n.content)
    return marks[0] == marks[1] and len(key & words) >= 0.6 * len(key | words) > 0


def _retract(candidate: Candidate, active: Sequence[Neighbour]) -> Decision:

    about = candidate.about or candidate.content
    wanted = content_words(about)
    mine = frames(about)
    meant = NOUNS.get(about.lower(), ())
    by_noun: list[tuple[int, Neighbour]] = []
    exact: list[Neighbour] = []
    named: list[Neighbour] = []
    partly: list[tuple[float, Neighbour]] = []
    lists: list[tuple[Neighbour, str]] = []
    for n in active:
        if n.content.casefold().rstrip(".") == about.casefold().rstrip("."):
            exact.append(n)
            continue
        words = content_words(n.content)
        theirs = frames(n.content)
        hit = [meant.index(f.attribute) for f in theirs if f.subject == "user" and f.attribute in meant and not f.past]
        if hit:
            by_noun.append((min(hit) if meant[0] == "home address" else 0, n))
            continue
        if mine and theirs and _names_what_was_had(mine[0], theirs[0]):
            exact.append(n)
            continue
        if mine and theirs:
            # "Works at Siemens as a welder" is of a job first: what is meant is the frame of the same attribute.
            a, b = aligned(mine[0], next((f for f in theirs if f.key == mine[0].key), theirs[0]))
            if are_of_one(a, b) and a.attribute == b.attribute and not b.past and a.negated == b.negated:
                left = _left(a, b, n)
                if left is not None and is_within(dict(a.qualifiers), dict(b.qualifiers)):
                    lists.append((n, left))
                    continue
                if a.value <= b.value and (a.value or candidate.family == "explicit" or a.attribute in _WHOLLY):
                    if is_within(dict(a.qualifiers), dict(b.qualifiers)) or not b.qualifiers:
                        exact.append(n)
                        continue
                if a.value and b.value and b.value <= a.value and b.cardinality == "one":
                    exact.append(n)
                    continue
            if _names_another(a, words, b):
                continue
            if (
                a.subject == b.subject
                and wanted
                and wanted <= words
                and a.negated == b.negated
                and not b.past
                and candidate.family == "explicit"
            ):
                named.append(n)
            elif (
                candidate.family == "explicit"
                and wanted
                and len(wanted & words) / len(wanted) >= 0.5
                and (a.attribute == b.attribute or not a.value)
            ):
                partly.append((len(wanted & words) / len(wanted) + (n.score or 0.0) / 10, n))
            continue
        if not wanted or (mine and _names_another(mine[0], words)):
            continue
        if (wanted <= words and (candidate.family == "explicit" or _ends(wanted, theirs, words))) or (
            theirs and _ends_by_its_kind(wanted, theirs[0])
        ):
            named.append(n)
        elif candidate.family == "explicit" and len(wanted & words) / len(wanted) >= 0.5:
            partly.append((len(wanted & words) / len(wanted) + (n.score or 0.0) / 10, n))
    if by_noun:
        # "address": the street if that is held, else the town.
        nearest = min(rank for rank, _ in by_noun)
        exact += [n for rank, n in by_noun if rank == nearest]
    found = exact or named
    if not found and lists:
        n, left = lists[0]
        return _guarded(Decision("update", n.id, f"no longer holds: {about}", content=left), active)
    if not found and partly:
        partly.sort(key=lambda p: -p[0])
        if len(partly) == 1 or partly[0][0] > partly[1][0]:
            found = [partly[0][1]]
    if not found:
        return Decision("noop", None, "nothing of the kind is held", store=False)
    why = f"no longer holds: {about}" if candidate.family != "explicit" else f"asked to forget: {about}"
    return _guarded(Decision("delete", found[0].id, why, tuple(n.id for n in found[1:]), store=False), active)


def _names_another(a: Frame, words: frozenset[str], b: Frame | None = None) -> bool:
    """Whether a statement names another value than the held one of these words, which reads as `b`: who asks to forget that
    they work at Google does not mean Amazon."""
    if (
        b is not None
        and are_of_one(a, b)
        and a.attribute == b.attribute
        and a.value
        and b.value
        and not a.value & b.value
    ):
        return True
    named = a.value.union(*(v for _, v in a.qualifiers))
    held = words if b is None else b.value.union(*(v for _, v in b.qualifiers))
    return not named <= words and not held <= named


def _names_what_was_had(a: Frame, b: Frame) -> bool:
    """Who has no dog any more has none that is called Rex."""
    is_had = a.subject == "user" and a.attribute == "have" and not a.negated and not a.qualifiers
    return is_had and b.attribute == "name" and not b.past and bool(a.value) and stems(b.subject.split()) == a.value


_COMMAS = pattern(r", and |, or |, | and | or ")


def _left(a: Frame, b: Frame, n: Neighbour) -> str | None:
    """`Likes jazz, blues and soul` without the soul; None where it is no list, or not one thing of several is over."""
    things = _COMMAS.split(b.text)
    kept = [thing for thing in things if not stems(thing.split()) <= a.value]
    if not a.value or not 0 < len(kept) < len(things) or b.text not in n.content:
        return None
    said = f"{', '.join(kept[:-1])} and {kept[-1]}" if len(kept) > 1 else kept[0]
    return n.content.replace(b.text, said)


_CONTRACTS = stems("subscription membership account contract plan".split())
_KEPT_BY = frozenset(("subscribe to", "have", "use", "watch"))
_TRIPS = stems("trip holiday vacation journey flight visit".split())
_TRAVELS = frozenset(("plan go", "plan travel", "plan fly", "visit", "plan visit"))


def _ends_by_its_kind(wanted: frozenset[str], f: Frame) -> bool:
    """To cancel a Netflix subscription ends "Subscribes to Netflix", and the trip to Rome ends "Is going to Rome in May"."""
    if f.past or f.negated:
        return False
    if f.attribute in _KEPT_BY and wanted & _CONTRACTS:
        return f.value == wanted - _CONTRACTS
    return f.attribute in _TRAVELS and bool(wanted & _TRIPS) and frozenset() != wanted - _TRIPS <= f.value


_WHOLLY = frozenset("smoke vape jog ski surf meditate".split())
"""Who stops smoking smokes no ten cigarettes a day either; who stops running may run a bakery."""
_COUPLES = frozenset("girlfriend boyfriend wife husband partner fiance fiancé fiancee fiancée spouse".split())


def _ends(wanted: frozenset[str], theirs: Sequence[Frame], words: frozenset[str]) -> bool:
    """Whether the end of a thing ("sold the car") ends what a statement says: to have it or use it, not to like it."""
    if not theirs:
        return wanted == words
    f = theirs[0]
    if f.past or f.negated:
        return False
    who = f.subject.split()
    if who[0] in _COUPLES and wanted and wanted <= stems(who[1:]):
        return True  # "Girlfriend Lena is a doctor"
    if (f.attribute == "name" and wanted <= f.value and f.subject in _COUPLES) or (
        f.attribute in ("date", "live with") and wanted <= f.value
    ):
        return True
    if f.attribute in ("value", "drive") and wanted == f.value:
        return True
    if wanted == frozenset(f.subject.split()) or (
        wanted <= frozenset(f.subject.split()) and f.attribute in ("name", "value", "when")
    ):
        return True
    around = f.value.union(*(v for _, v in f.qualifiers))
    return f.subject == "user" and wanted <= around and f.attribute not in LASTING


_FINISHING = frozenset("do finish complete handle mark cross tick".split())
_ALIKE = {
    verb: group[0]
    for group in map(
        str.split,
        ("buy get purchase order pick", "call phone ring", "email mail write message text", "send ship mail", "fix repair mend", "submit file hand turn", "talk speak chat"),
    )
    for verb in group
}  # fmt: skip
"""Verbs that people use for one another when they say that something is done."""


def _done(candidate: Candidate, active: Sequence[Neighbour]) -> Decision:

    about = candidate.about or ""
    tokens = about.split()
    wanted = stems(tokens)
    verb = base_of(tokens[0].lower()) if tokens else ""
    best: tuple[float, Neighbour] | None = None
    tie = False
    for n in active:
        if n.kind != "todo":
            continue
        if n.content.casefold() == about.casefold():
            best, tie = (9.0, n), False
            break
        words = content_words(n.content)
        own = n.content.split()
        first = base_of(own[0].lower()) if own else ""
        nouns = wanted - stems([verb]) - stems([tokens[0]])
        theirs = words - stems([first])
        if verb in _FINISHING or not nouns:
            nouns = wanted - stems(_FINISHING)
            theirs = words
        elif verb != first and not (stems([verb]) & words) and _ALIKE.get(verb, verb) != _ALIKE.get(first, first):
            continue
        both = nouns & theirs
        if not both:
            continue
        score = len(both) / len(nouns) + len(both) / max(len(theirs), 1)
        if len(both) / len(nouns) < 0.5 and len(both) / len(theirs) < 0.99:
            continue
        if best is None or score > best[0] + 1e-9:
            best, tie = (score, n), False
        elif abs(score - best[0]) <= 1e-9:
            tie = True
    if best is None or tie:
        return Decision("noop", None, "no open todo is meant", store=False)
    return _guarded(Decision("delete", best[1].id, "done", store=False), active)
