"""From a question to hits: candidates by words and by meaning, their neighbours, one ranking.

The order matters. Words come first, because who speaks in what they find tells which words of the question are names;
names are then left out of what is embedded. Every row is looked up under the user and checked again against the scope
that was asked for: the index only proposes.
"""

from __future__ import annotations

from functools import lru_cache
from unicodedata import normalize

from .. import branches, memories
from ..conversations import Found, find
from ..errors import InvalidInput
from ..light import loads, pattern
from ..model import SENSITIVE, Hit
from ..views import View
from . import fence, index, statistics, times
from .fusion import Doc, Ranker, Statistics, speakers, understand
from .tokens import sought, terms, twins, which

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from ..db import Database, Row, Tx
    from .fusion import Ranked
    from .tokens import Sought
    from .vectors import Semantic

    _Part = tuple[int, int, int]
    """(id, start, length) of a passage."""

# Candidates by words, and as many by meaning: a quarter more than hits are asked for, FEWEST at least. Evidence is chosen from
# USUAL at most: 100 or 200 found no more of LoCoMo (the dev half).
FEWEST, USUAL = 50, 80
MORE = (2_000, 20_000)  # where filters leave less than are asked for; of evidence, less than a quarter
BUDGET = 4_000  # rows that the terms of a question may have in all before common ones are left out
TITLES = 20  # conversations that are looked into because of their titles
SNIPPET = 240
OURS = ("context.", "chat.")  # how the names of our own remarks begin
READ = 20_000  # characters of a text that are read for the best part of it


class Request:
    """What is looked for, and where."""

    def __init__(
        self,
        text: str,
        *,
        limit: int,
        now: int,
        conversation: str | None = None,
        branch: Any = None,
        workspace: str | None = None,
        workspaces: Sequence[str] | None = None,
        kinds: Sequence[str] | None = None,
        types: str | None = None,
        tool: str | None = None,
        tags: Sequence[str] | None = None,
        min_importance: float | None = None,
        since: int | None = None,
        until: int | None = None,
        near: str | None = None,
        near_branch: Any = None,
        outside: bool = False,
        evidence: bool = False,
        shown: int = SNIPPET,
        is_only: bool = False,
    ) -> None:
        self.text, self.limit, self.now = text, limit, now
        self.shown = shown
        """Up to how many characters a text is its own snippet: to cut a hundred of them takes as long as to find them."""
        self.conversation, self.branch, self.workspace, self.workspaces = conversation, branch, workspace, workspaces
        self.kinds, self.types, self.tool, self.tags = kinds, types, tool, tags
        self.min_importance, self.since, self.until = min_importance, since, until
        self.near = conversation if near is None else near
        """The conversation that asks: what is remembered for it alone is seen, without the search being limited to it."""
        self.near_branch = near_branch
        """On which of its branches; the active one unless said."""
        self.outside = outside
        """Whether events that name a path outside their workspace are shown."""
        self.is_only = is_only
        """Whether a conversation limits memories too: to what was learned in it."""
        self.evidence = evidence
        """Whether hits are to be quoted for the question: then neither answers that only quote are hits, nor the same
        question where it was asked before, which has all of its words and says nothing."""


def search(db: Database, user: str, request: Request, semantic: Semantic | None) -> list[Hit]:
    if request.conversation is None and request.branch not in (None, branches.EVERY):
        raise InvalidInput("branch= needs conversation=: branches are a conversation's own.")
    if request.limit == 0 or any(only == () for only in (request.kinds, request.workspaces)):
        return []
    count, frequencies = statistics.load(db, user)
    vector = None
    if semantic is not None and not semantic.embedder.is_quick:  # no network call inside a transaction
        vector = semantic.question(understand(request.text).meaning)
        semantic = semantic if vector is not None else None
    return db.read(user, lambda tx: _Search(tx, request, Statistics(count, frequencies), semantic, vector).hits())


class _Search:
    """One search, on one snapshot."""

    def __init__(
        self, tx: Tx, request: Request, statistics: Statistics, semantic: Semantic | None, vector: Any = None
    ) -> None:
        self._tx = tx
        self._request = request
        self._statistics = statistics
        self._semantic = semantic
        self._vector = vector
        self._rows: dict[str, Row] = {}
        """Doc id -> its row, of an event or, where it has no conversation, of a memory."""
        self._numbers: set[int] = set()
        """The row ids of all docs."""
        self._new: dict[int, Doc] = {}
        """Row id -> doc, of those that have no cosine yet."""
        self._read: set[int] = set()
        """Row ids that are there, wanted or not."""
        self._hidden: set[str] = set()
        """Docs that are here as neighbours only."""
        self._named: set[str] = set()
        """Events that have nothing but a name: they are a hit where that is asked for, not where they stand beside one."""
        self._is_common = False
        """Whether even the rarest word of the question is in too many rows to weigh them all: the newest are taken."""
        self._all_remembered: list[int] | None = None
        """The row ids of all memories that have a word of the question, once it is known that these are all."""
        self._titled: set[int] = set()
        """Events that are here because of their conversation's title."""
        self._homes: dict[int, Row | None] = {}
        """Conversation number -> (number, id, title, active branch, workspace, has it branches, has it pins); None if it was
        deleted or is not where one looks."""
        self._pins: set[tuple[int, int]] = set()
        """(conversation number, number) of pinned events."""
        most = min(request.limit, USUAL) if request.evidence else min(request.limit * 5 // 4, MORE[0])
        self._most = max(FEWEST, most)
        """Candidates by words, and by meaning."""
        self._asked = plain(request.text) if request.evidence else ""
        """The question in its bare words, where it is not to be its own evidence."""
        self._is_choosy = bool(request.kinds) or any(
            given is not None for given in (request.tool, request.since, request.until)
        )
        """Whether an event may be left out for what it is."""
        self._places: dict[str, int] = {}
        self._lineages: dict[int, dict[int, int] | None] = {}
        self._found: Found | None = None
        self._branch: int | None = None
        self._view: View | None = None
        if request.conversation is not None:
            self._found = find(tx, request.conversation)
            if request.branch not in (None, branches.EVERY):
                self._branch = branches.number(tx, self._found, request.branch)

    def hits(self) -> list[Hit]:
        r = self._request
        asked = list(dict.fromkeys(terms(r.text)))
        docs = self._by_words(asked) if asked else []
        question = understand(r.text, speakers(docs))
        vector, upto = self._vector, 0
        if vector is None and self._semantic is not None:
            vector = self._semantic.question(question.meaning)
        if vector is not None and self._semantic is not None:
            upto = self._semantic.upto(self._tx)
            docs += self._by_meaning(self._semantic, vector, upto)
            self._semantic.set_cosines(self._tx, vector, self._new, upto)
            self._new = {}
        ranker = Ranker(question, self._statistics, now=r.now)
        ranker.add(docs)
        around = self._neighbours(ranker.wanted(min(self._most, USUAL) // 4))
        if vector is not None and self._semantic is not None:
            self._semantic.set_cosines(self._tx, vector, self._new, upto)
        ranker.add(around)
        seen = sought(asked)
        hits: list[Hit] = []
        for ranked in ranker.best(r.limit + len(self._hidden) + len(self._named)):
            id = ranked.doc.id
            if id not in self._hidden and (id not in self._named or "words" in ranked.parts):
                hits.append(self._hit(ranked, seen))
                if len(hits) == r.limit:
                    break
        return hits

    # -- candidates

    def _by_words(self, asked: list[str]) -> list[Doc]:
        """Candidates by words and by the days that are asked for. When filters leave too few of them, more are fetched."""
        r, tx = self._request, self._tx
        asked = [
            *asked,
            *(twin for term in asked for twin in twins(term)),
            *times.tokens(times.dates(r.text[:SNIPPET])),
        ]
        weights = self._weights(self._affordable(asked))
        scope = [] if self._found is None else [index.conversation_token(self._found.no)]
        docs: list[Doc] = []
        remembered: list[Doc] = []
        if r.types != "events":
            remembered = self._enough(weights, ["m"])
        if self._found is not None and len(weights) < len(asked):  # in one conversation even a common word is rare
            weights, self._all_remembered = self._weights(asked[:64]), None
        if r.types != "memories":
            narrow = [*scope, "e"]
            if r.workspace is not None and not r.workspaces:
                narrow.append(index.workspace_token(r.workspace))
            if r.kinds and len(r.kinds) == 1:
                narrow.append(index.kind_token(r.kinds[0]))
            if r.tool is not None:
                narrow.append(index.tool_token(r.tool))
            if self._found is None:  # within one, a title tells nothing apart
                whose = [index.user_token(tx.user)]
                titled = tx.find_words("title_words", weights, whose, TITLES, newest=True)
                if len(titled) == TITLES:  # mostly fewer: then they are all there is, and need not be weighed
                    titled = tx.find_words("title_words", weights, whose, TITLES)
                self._titled.update(self._first_messages(titled))
            docs += self._enough(weights, narrow)
            docs += self._events([id for id in sorted(self._titled) if id not in self._numbers])
        return docs + remembered

    def _weights(self, asked: list[str]) -> dict[str, int]:
        return {term: 1 + round(1000 * self._statistics.rarity(term)) for term in asked}

    def _by_meaning(self, semantic: Semantic, vector: Any, upto: int) -> list[Doc]:
        docs: list[Doc] = []
        within = self._within()
        most = self._most // 2 if self._found is not None else self._most
        while True:
            near = semantic.nearest(self._tx, vector, most, within, upto)
            new = [(id, place) for id, place in near if id not in self._read]
            docs += self._events([id for id, place in new if place])
            docs += self._memories([id for id, place in new if not place])
            missing = [id for id, _ in new if id not in self._read]
            if missing and semantic.drop_deleted(self._tx, missing):
                continue
            distinct = {(doc.conversation, doc.seq) for doc in docs}
            if len(near) < most or most >= MORE[0] or len(distinct) == len(docs) or len(distinct) >= self._most // 4:
                return docs
            most = MORE[0]  # one long event has taken the places

    def _enough(self, weights: dict[str, int], narrow: list[str]) -> list[Doc]:
        docs: list[Doc] = []
        seen: set[int] = set()
        load = self._memories if "m" in narrow else self._events
        if self._found is not None or "m" in narrow:  # mostly few: then they are all there is, and need not be weighed
            found = self._tx.find_words(
                "words", weights, narrow, self._most, newest=True, memories=self._all_remembered
            )
            if len(found) < self._most:
                if "m" in narrow:
                    self._all_remembered = found
                return load(found)
        for most in (self._most, *MORE):
            newest = self._is_common and self._found is None
            found = self._tx.find_words("words", weights, narrow, most, newest=newest, memories=self._all_remembered)
            docs += load([id for id in found if id not in seen])
            distinct = len({(doc.conversation, doc.seq) for doc in docs}) if "e" in narrow else len(docs)
            # Where one long event takes many places, as many events are wanted as hits.
            enough = self._most // 4 if self._request.evidence and distinct == len(docs) else self._request.limit
            if len(found) < most or distinct - len(self._hidden) >= enough:
                break
            seen.update(found)
        return docs

    def _affordable(self, asked: list[str]) -> list[str]:
        """The rarest terms whose rows fit the budget: common ones find everything and decide nothing. In a small log all of
        them."""
        counts = self._statistics.frequencies
        if self._statistics.count <= BUDGET:
            return asked[:64]
        kept: list[str] = []
        rows = 0
        for term in sorted(asked, key=lambda t: counts.get(t, 0)):
            rows += counts.get(term, 0)
            if kept and rows > BUDGET:
                break
            kept.append(term)
        self._is_common = bool(kept) and counts.get(kept[0], 0) > 4 * BUDGET
        return kept[:64]

    def _first_messages(self, conversations: Sequence[int]) -> list[int]:
        if not conversations:
            return []
        rows = self._tx.all(
            "select (select id from events where user_no = :user and conversation_no = c.no and branch_no = 0"
            f" and kind = 'message' and text <> '' order by seq limit 1) from conversations c{self._tx.by_id} where user_no = :user"
            f" and no{self._tx.among}",
            ids=self._tx.some(conversations),
        )
        return [row[0] for row in rows if row[0] is not None]

    def _within(self) -> list[int] | None:
        """The numbers of the conversations that are asked for, 0 for memories; None where every one of them is."""
        r = self._request
        if r.types == "memories":
            return [0]
        some: list[int] | None = None
        if self._found is not None:
            some = [self._found.no]
        elif r.workspace is not None or r.workspaces:
            marks = {f"w{i}": w for i, w in enumerate({*(r.workspaces or ()), *([r.workspace] if r.workspace else [])})}
            rows = self._tx.all(
                "select no from conversations where user_no = :user and deleted_at is null"
                f" and workspace in ({', '.join(':' + m for m in marks)})",
                **marks,
            )
            some = [row[0] for row in rows]
        if some is None:
            return None
        return some if r.types == "events" else [0, *some]

    # -- rows

    def _events(self, ids: Sequence[int]) -> list[Doc]:
        docs: list[Doc] = []
        if self._request.types == "memories":
            return docs
        for start in range(0, len(ids), 400):
            some = ids[start : start + 400]
            rows = self._event_rows(some)
            self._read.update([row[0] for row in rows])
            parts: dict[int, list[_Part]] = {}
            # What is no event is a passage of one; a store of short texts is not asked for any.
            if len(rows) < len(some) or any(len(row[_T]) > index.LONG for row in rows):
                parts = self._passages(some)
                self._read.update([id for found in parts.values() for id, _, _ in found])
                rows += self._event_rows(sorted(parts.keys() - {row[0] for row in rows}))
            self._know_homes({row[_C] for row in rows})
            homes, lineages = self._homes, self._lineages
            for row in rows:
                no = row[_C]
                home = homes[no]
                if home is None or not self._is_searched(row, home) or not self._is_wanted(row):
                    continue
                if lineages.get(no, _UNKNOWN) is None or self._is_in_lineage(row):
                    for part in parts.get(row[0], _WHOLE) if parts else _WHOLE:
                        doc = self._event(row, home, part)
                        if doc is not None:
                            docs.append(doc)
        return docs

    def _event_rows(self, ids: Sequence[int]) -> list[Row]:
        if not ids:
            return []
        return self._tx.all(
            f"select {_EVENT} from events{self._tx.by_id} where user_no = :user and id{self._tx.among}"
            " and created_at between :since and :until",
            ids=self._tx.some(ids),
            since=self._request.since or 0,
            until=branches.NO_LIMIT if self._request.until is None else self._request.until - 1,
        )

    def _passages(self, ids: Sequence[int]) -> dict[int, list[_Part]]:
        """(id, start, length) of those of these that are passages, by the event they are of."""
        found: dict[int, list[_Part]] = {}
        for id, event, start, length in self._tx.all(
            f"select id, event_id, start, length from passages where user_no = :user and id{self._tx.among}",
            ids=self._tx.some(ids),
        ):
            found.setdefault(event, []).append((id, start, length))
        return found

    def _memories(self, ids: Sequence[int]) -> list[Doc]:
        docs: list[Doc] = []
        if self._request.types == "events":
            return docs
        for start in range(0, len(ids), 400):
            rows = memories.rows(self._tx, ids[start : start + 400], self._seen_from())
            self._read.update([row[11] for row in rows])
            docs += [self._memory(row) for row in rows if self._is_memory_wanted(row)]
        return docs

    def _seen_from(self) -> View:
        """Where memories are looked at from: the conversation that asks, on the branch it asks about."""
        if self._view is None:
            r = self._request
            near = self._found if r.near is None or r.near == r.conversation else find(self._tx, r.near)
            branch = self._branch
            if branch is None and near is not None and r.near_branch is not None:
                branch = branches.number(self._tx, near, r.near_branch)
            self._view = View(self._tx, near, branch)
        return self._view

    def _event(self, row: Row, home: Row, part: _Part | None = None) -> Doc | None:
        """An event, or a passage of it, as a candidate; None if there is nothing to show of it, as of our own remarks, which
        are a payload. They are left out here and not in the index: what is taken out of that goes by the terms that older
        files have in it."""
        number, seq, kind, role, text, name, tool, path, agent, tags, _, created_at, _, model = row
        conversation = home[1]
        id = f"{conversation}:{seq}" if part is None or part[1] == 0 else f"{conversation}:{seq}@{part[1]}"
        repeats = fence.is_answer(text, role, model)
        if self._request.evidence:
            if repeats:
                return None
            # What is much longer is another text, and need not be taken apart. What it is beside is found through it.
            if self._asked and len(text) <= 2 * len(self._request.text) + 16 and plain(text) == self._asked:
                self._hidden.add(id)
        if fence.is_own_tool(tool):
            return None
        if fence.is_ours(text):
            own, indexed = fence.unquoted(text), fence.without(text)
            if part is not None and indexed[part[1] : part[1] + part[2]] not in own:
                return None
            text = own if part is None else indexed
        if not text or text.isspace():
            # Nobody's words, so no evidence; what only happened is found by its name where its kind is asked for.
            text = path or ("" if self._request.evidence else tool or "")
            if not text:
                if self._request.evidence or kind != "event" or not name or name.startswith(OURS):
                    return None
                text = name
                self._named.add(id)
                if "event" not in (self._request.kinds or ()):
                    self._hidden.add(id)
        if part is not None:
            text = text[part[1] : part[1] + part[2]]
        self._rows[id] = row
        self._numbers.add(number)
        also = ""
        if name or tool or path or tags or number in self._titled:
            told = (name, tool, path, tags, home[2] if number in self._titled else None)
            also = " ".join([part[: index.SMALL] for part in told if part])
        doc = self._new[number if part is None else part[0]] = Doc(
            id, text, conversation, seq, created_at,
            speaker(role, agent or (name if kind == "message" else None)), None, (row[_C], seq) in self._pins, 0.0, also,
            repeats,
        )  # fmt: skip
        if self._request.workspaces and self._request.workspace is not None and home[4] == self._request.workspace:
            doc.affinity = 1.0
        return doc

    def _memory(self, row: Row) -> Doc:
        id = f"memory:{row[0]}"
        self._rows[id] = row
        self._numbers.add(row[11])
        doc = self._new[row[11]] = Doc(
            id=id, text=row[2], created_at=row[10], speaker="user", pinned=row[8] is not None,
            also=" ".join(memories.tags(row))[: index.SMALL] if row[4] is not None else "",
        )  # fmt: skip
        return doc

    def _is_searched(self, row: Row, home: Row) -> bool:
        """Whether it counts at all, as a hit or beside one: what names a path outside its workspace does not."""
        kind, path = row[2], row[7]
        if kind in index.UNINDEXED:
            return False
        return not path or self._request.outside or not index.is_outside(path, home[4])

    def _is_wanted(self, row: Row) -> bool:
        """Whether it is what is asked for; what is not may still stand beside it."""
        r = self._request
        return not self._is_choosy or (
            (not r.kinds or row[2] in r.kinds)
            and (r.tool is None or row[6] == r.tool)
            and (r.since is None or row[11] >= r.since)
            and (r.until is None or row[11] < r.until)
        )

    def _is_home(self, no: int, workspace: str | None) -> bool:
        """Whether one looks in this conversation."""
        r = self._request
        if self._found is not None and no != self._found.no:
            return False
        if r.workspaces:
            return workspace is not None and (workspace in r.workspaces or workspace == r.workspace)
        return r.workspace is None or workspace == r.workspace

    def _is_memory_wanted(self, row: Row) -> bool:
        r = self._request
        if memories.state(row, r.now) != memories.ACTIVE:
            return False
        if row[12] is not None and (row[5] is None or row[5] != r.near):
            return False
        if r.is_only and r.conversation not in (None, row[5], row[18]):
            return False
        if row[6] is not None and (r.workspace is not None or r.workspaces):
            if row[6] != r.workspace and row[6] not in (r.workspaces or ()):
                return False
        return (
            (not r.kinds or row[1] in r.kinds)
            and (r.min_importance is None or row[3] >= r.min_importance)
            and (r.since is None or row[10] >= r.since)
            and (r.until is None or row[10] < r.until)
            and (not r.tags or set(r.tags) <= set(memories.tags(row)))
        )

    def _know_homes(self, conversations: set[int]) -> None:
        """Where events are from; a deleted conversation is nowhere. Most have one branch only: then all of it is seen."""
        new = conversations.difference(self._homes)
        if new:
            rows = self._tx.all(
                "select no, id, title, active_branch, workspace, exists (select 1 from branches b where b.user_no = :user"
                " and b.conversation_no = c.no and b.no > 0), exists (select 1 from pins p where p.user_no = :user"
                f" and p.conversation_no = c.no) from conversations c{self._tx.by_id} where user_no = :user"
                f" and no{self._tx.among} and deleted_at is null",
                ids=self._tx.some(sorted(new)),
            )
            self._homes.update(dict.fromkeys(new))
            self._homes.update([(row[0], row) for row in rows if self._is_home(row[0], row[4])])
            self._places.update([(row[1], row[0]) for row in rows])
            if self._request.branch != branches.EVERY:
                self._lineages.update([(row[0], None) for row in rows if not row[5]])
            if pinned := [row[0] for row in rows if row[6]]:
                found = self._tx.all(
                    f"select conversation_no, seq from pins where user_no = :user and conversation_no{self._tx.among}",
                    ids=self._tx.some(sorted(pinned)),
                )
                self._pins.update([(row[0], row[1]) for row in found])

    def _is_in_lineage(self, row: Row) -> bool:
        """On the branch that is asked about, or else on the conversation's active one."""
        no, branch, seq = row[_C], row[_B], row[1]
        if no not in self._lineages:
            tree = branches.tree(self._tx, no)
            if self._request.branch == branches.EVERY:
                self._lineages[no] = dict.fromkeys(tree, branches.NO_LIMIT)
            elif len(tree) == 1:
                self._lineages[no] = None
            else:
                home = self._homes[no]
                assert home is not None
                self._lineages[no] = dict(branches.climb(tree, home[3] if self._branch is None else self._branch))
        lineage = self._lineages[no]
        return lineage is None or seq <= lineage.get(branch, -1)

    def _neighbours(self, wanted: Sequence[tuple[str, int]]) -> list[Doc]:
        """The events around the best, in one range for each stretch."""
        docs: list[Doc] = []
        stretches: list[list[Any]] = []
        for place, seq in sorted(wanted):
            if stretches and stretches[-1][0] == place and seq <= stretches[-1][2] + 4:
                stretches[-1][2] = seq
            else:
                stretches.append([place, seq, seq])
        ranges = [
            (self._places[place], branch, first, last)
            for place, first, last in stretches
            for branch in self._lineages.get(self._places[place]) or _MAIN
        ]
        for start in range(0, len(ranges), MOST_RANGES):
            rows = self._in_ranges(ranges[start : start + MOST_RANGES])
            long = [row[0] for row in rows if len(row[_T]) > index.LONG]
            parts = self._passages(long) if long else {}
            for row in rows:
                if row[0] in self._numbers or not self._is_in_lineage(row):
                    continue
                home = self._homes[row[_C]]
                assert home is not None
                if not self._is_searched(row, home):
                    continue
                [part] = parts.get(row[0], _WHOLE)  # the first, which has the event's own id
                doc = self._event(row, home, part)
                if doc is None:
                    continue
                if not self._is_wanted(row):
                    self._hidden.add(doc.id)
                docs.append(doc)
        return docs

    def _in_ranges(self, ranges: Sequence[tuple[int, int, int, int]]) -> list[Row]:
        """Some stretches (conversation, branch, first, last) in one statement: to start one takes as long as to read six
        events. As many as the next of a few sizes, so that few statements are kept ready."""
        params: dict[str, int] = {}
        for n in range(-(-len(ranges) // 4) * 4):
            params[f"c{n}"], params[f"b{n}"], params[f"f{n}"], params[f"l{n}"] = (
                ranges[n] if n < len(ranges) else (0, 0, 1, 0)
            )
        return self._tx.all(_RANGES[len(params) // 4], **params)

    # -- hits

    def _hit(self, ranked: Ranked, sought: Sequence[Sought]) -> Hit:
        row = self._rows[ranked.doc.id]
        if not ranked.doc.conversation:
            return Hit(
                "memory", row[1], row[0], row[5], None, row[2], self._shown(row[2], sought), ranked.score, ranked.parts,
                row[9], None, None, SENSITIVE in memories.tags(row), row[6], tags=memories.tags(row),
                provenance=memories.provenance(row),
            )  # fmt: skip
        text, said = row[_T] if row[_T].strip() else ranked.doc.text, ranked.doc.text
        shown = self._shown(text, sought) if len(text) <= index.LONG else _within(text, said, snippet(said, sought))
        home = self._homes[row[_C]]
        tags = () if row[9] is None else tuple(loads(row[9]))
        return Hit(
            "event", row[2], f"{ranked.doc.conversation}:{row[1]}", ranked.doc.conversation, row[1], text, shown, ranked.score,
            ranked.parts, row[11], ranked.doc.speaker or None, self._branch_name(row), SENSITIVE in tags,
            None if home is None else home[4], row[6], row[7], tags,
        )  # fmt: skip

    def _shown(self, text: str, sought: Sequence[Sought]) -> str:
        return text if len(text) <= self._request.shown else snippet(text, sought)

    def _branch_name(self, row: Row) -> str:
        return "main" if row[_B] == 0 else branches.tree(self._tx, row[_C])[row[_B]][0]


def speaker(role: str | None, name: str | None) -> str:
    """Who said something, as it is quoted: a name, or the role. The name comes from whoever wrote the event, so one that would
    pass for the user's is left out where the role is another."""
    if not name or (role != "user" and _is_like_a_user(name)):
        return role or ""
    return name


@lru_cache(maxsize=1024)
def _is_like_a_user(name: str) -> bool:
    words = _WORDS.findall(_UNSEEN.sub("", normalize("NFKC", name)).casefold())
    return not _USERS.isdisjoint(words)


_WORDS = pattern(r"[^\W\d_]+")
_UNSEEN = pattern(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_USERS = frozenset("user users human you me myself i".split())

# What a search reads of an event; a payload may be long.
_EVENT = "id, seq, kind, role, text, name, tool, path, agent, tags, branch_no, created_at, conversation_no, model"
_T, _B, _C = 4, 10, 12  # where its text, its branch and its conversation stand
_WHOLE = (None,)
_MAIN = (0,)
_WORD = pattern(r"\w+")
_UNKNOWN: dict[int, int] = {}
MOST_RANGES = 40
_RANGES = {
    count: " union all ".join(
        [
            f"select {_EVENT} from events where user_no = :user and conversation_no = :c{n} and branch_no = :b{n}"
            f" and seq between :f{n} and :l{n}"
            for n in range(count)
        ]
    )
    for count in range(4, MOST_RANGES + 1, 4)
}


def plain(text: str) -> str:
    """A text in its bare words: what is written differently and says the same is equal."""
    return " ".join(_WORD.findall(text.casefold()))


def _within(text: str, passage: str, shown: str) -> str:
    """A part of a passage as part of the whole text: marked as cut where the text goes on."""
    if not shown.startswith("…") and not text.startswith(shown[:SNIPPET]):
        shown = f"…{shown}"
    return shown if shown.endswith("…") or text.endswith(passage) else f"{shown}…"


def snippet(text: str, sought: Sequence[Sought]) -> str:
    """The part of a text where most of the terms stand, cut at words."""
    if len(text) <= SNIPPET:
        return text
    starts = range(0, min(len(text), READ), SNIPPET // 4)
    found = [bits.bit_count() for bits in which([text[at : at + SNIPPET] for at in starts], sought)]
    first = last = found.index(max(found))
    while last + 1 < len(found) and found[last + 1] == found[first] and last < first + 3:
        last += 1
    start = starts[(first + last) // 2]  # of those that have them, the one in whose middle they stand
    end = min(len(text), start + SNIPPET)
    cut = text[start:end]
    if start:
        cut = "…" + cut.split(" ", 1)[-1]
    if end < len(text):
        cut = cut.rsplit(" ", 1)[0] + "…"
    return cut
