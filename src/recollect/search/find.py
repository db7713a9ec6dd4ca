"""From a question to hits: candidates by words and by meaning, their neighbours, one ranking.

The order matters. Words come first, because who speaks in what they find tells which words of the question are names;
names are then left out of what is embedded. Every row is looked up under the user and checked again against the scope
that was asked for: the index only proposes.
"""

from __future__ import annotations

from .. import branches, log, memories
from ..conversations import Found, find
from ..errors import InvalidInput
from ..model import Hit
from ..views import View
from . import fence, index, statistics, times
from .fusion import Doc, Ranker, Statistics, speakers, understand
from .tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from ..db import Database, Row, Tx
    from .fusion import Ranked
    from .vectors import Semantic

CANDIDATES = 80  # by words, and as many by meaning: 100 or 200 found no more of LoCoMo (the dev half)
MOST = (CANDIDATES, 2_000, 20_000)  # as many are looked at until filters leave a quarter of the first
BUDGET = 4_000  # rows that the terms of a question may have in all before common ones are left out
SNIPPET = 240


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
        shown: int = SNIPPET,
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
        self._rows: dict[str, tuple[str, Any]] = {}
        """Doc id -> ("event", row) or ("memory", Memory)."""
        self._numbers: dict[int, str] = {}
        """Row id -> doc id."""
        self._read: set[int] = set()
        """Row ids that are there, wanted or not."""
        self._hidden: set[str] = set()
        """Docs that are here as neighbours only."""
        self._is_common = False
        """Whether even the rarest word of the question is in too many rows to weigh them all: the newest are taken."""
        self._titled: set[int] = set()
        """Events that are here because of their conversation's title."""
        self._homes: dict[int, Row] = {}
        """Conversation number -> (number, id, title, active branch, workspace, has it branches); deleted ones are not
        there."""
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
        vector = self._vector
        if vector is None and self._semantic is not None:
            vector = self._semantic.question(question.meaning)
        if vector is not None and self._semantic is not None:
            docs += self._by_meaning(self._semantic, vector)
            self._semantic.set_cosines(self._tx, vector, docs, self._numbers)
        ranker = Ranker(question, self._statistics, now=r.now)
        ranker.add(docs)
        around = self._neighbours(ranker.wanted())
        if vector is not None and self._semantic is not None:
            self._semantic.set_cosines(self._tx, vector, around, self._numbers)
        ranker.add(around)
        hits: list[Hit] = []
        for ranked in ranker.best(r.limit + len(self._hidden)):
            if ranked.doc.id not in self._hidden:
                hits.append(self._hit(ranked, asked))
                if len(hits) == r.limit:
                    break
        return hits

    # -- candidates

    def _by_words(self, asked: list[str]) -> list[Doc]:
        """Candidates by words and by the days that are asked for. When filters leave too few of them, more are fetched."""
        r, tx = self._request, self._tx
        asked = self._affordable([*asked, *times.tokens(times.dates(r.text[:SNIPPET]))])
        weights = {term: 1 + round(1000 * self._statistics.rarity(term)) for term in asked}
        scope = [] if self._found is None else [index.conversation_token(self._found.no)]
        docs: list[Doc] = []
        if r.types != "memories":
            narrow = [*scope, "e"]
            if r.workspace is not None and not r.workspaces:
                narrow.append(index.workspace_token(r.workspace))
            if r.kinds and len(r.kinds) == 1:
                narrow.append(index.kind_token(r.kinds[0]))
            if r.tool is not None:
                narrow.append(index.tool_token(r.tool))
            if self._found is None:  # within one, a title tells nothing apart
                titled = tx.find_words("title_words", weights, [index.user_token(tx.user)], 20)
                self._titled.update(self._first_messages(titled))
            docs += self._enough(weights, narrow)
            docs += self._docs([id for id in sorted(self._titled) if id not in self._numbers])
        if r.types != "events":
            docs += self._enough(weights, ["m"])
        return docs

    def _by_meaning(self, semantic: Semantic, vector: Any) -> list[Doc]:
        docs: list[Doc] = []
        within = self._within()
        most = CANDIDATES // 2 if self._found is not None else CANDIDATES
        while True:
            near = semantic.nearest(self._tx, vector, most, within)
            new = [id for id in near if id not in self._read]
            docs += self._docs(new)
            missing = [id for id in new if id not in self._read]
            if not missing or not semantic.drop_deleted(self._tx, missing):
                return docs

    def _enough(self, weights: dict[str, int], narrow: list[str]) -> list[Doc]:
        docs: list[Doc] = []
        seen: set[int] = set()
        if self._found is not None or "m" in narrow:  # mostly few: then they are all there is, and need not be weighed
            found = self._tx.find_words("words", weights, narrow, CANDIDATES, newest=True)
            if len(found) < CANDIDATES:
                return self._docs(found)
        for most in MOST:
            found = self._tx.find_words("words", weights, narrow, most, newest=self._is_common)
            docs += self._docs([id for id in found if id not in seen])
            if len(found) < most or len(docs) >= CANDIDATES // 4:
                break
            seen.update(found)
        return docs

    def _affordable(self, asked: list[str]) -> list[str]:
        """The rarest terms whose rows fit the budget: common ones find everything and decide nothing. In a small log, or
        one conversation, all of them."""
        counts = self._statistics.frequencies
        if self._statistics.count <= BUDGET or self._found is not None:
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

    def _first_messages(self, conversations: Iterable[int]) -> list[int]:
        found: list[int] = []
        for no in conversations:
            row = self._tx.one(
                "select id from events where user_no = :user and conversation_no = :c and branch_no = 0"
                " and kind = 'message' order by seq limit 1",
                c=no,
            )
            if row is not None:
                found.append(row[0])
        return found

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

    def _docs(self, ids: Sequence[int]) -> list[Doc]:
        docs: list[Doc] = []
        for start in range(0, len(ids), 400):
            part = ids[start : start + 400]
            if self._request.types != "memories":
                rows = self._tx.all(
                    f"select {_EVENT} from events{self._tx.by_id} where user_no = :user and id{self._tx.among}"
                    " and created_at between :since and :until",
                    ids=self._tx.some(part),
                    since=self._request.since or 0,
                    until=branches.NO_LIMIT if self._request.until is None else self._request.until - 1,
                )
                self._read.update([row[0] for row in rows])
                self._know_homes({row[_C] for row in rows})
                rows = [row for row in rows if self._is_wanted(row)]
                docs += [self._event(row) for row in rows if self._is_in_lineage(row)]
                taken = {row[0] for row in rows}
                part = [id for id in part if id not in taken]
            if self._request.types != "events" and part:
                rows = memories.rows(self._tx, part, self._seen_from())
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

    def _event(self, row: Row) -> Doc:
        number, seq, kind, role, text, name, tool, path, agent, tags, _, created_at, no = row
        _, conversation, title, _, workspace, _ = self._homes[no]
        id = f"{conversation}:{seq}"
        self._rows[id] = ("event", row)
        self._numbers[number] = id
        self._places[conversation] = no
        also = ""
        if name or tool or path or tags or number in self._titled:
            told = (name, tool, path, tags, title if number in self._titled else None)
            also = " ".join([part[: index.SMALL] for part in told if part])
        home = self._request.workspace
        return Doc(
            id, fence.without(text) or tool or path or "", conversation, seq, created_at,
            agent or (name if kind == "message" and name else role) or "", also=also,
            affinity=1.0 if self._request.workspaces and home is not None and workspace == home else 0.0,
        )  # fmt: skip

    def _memory(self, row: Row) -> Doc:
        id = f"memory:{row[0]}"
        self._rows[id] = ("memory", row)
        self._numbers[row[11]] = id
        return Doc(
            id=id, text=row[2], created_at=row[10], speaker="user", pinned=row[8] is not None,
            also=" ".join(memories.tags(row))[: index.SMALL] if row[4] is not None else "",
        )  # fmt: skip

    def _is_wanted(self, row: Row) -> bool:
        r = self._request
        _, _, kind, _, _, _, tool, path, _, _, _, created_at, no = row
        home = self._homes.get(no)
        if home is None or (self._found is not None and no != self._found.no):
            return False
        workspace = home[4]
        if r.workspaces:
            if workspace is None or (workspace not in r.workspaces and workspace != r.workspace):
                return False
        elif r.workspace is not None and workspace != r.workspace:
            return False
        if path and not r.outside and index.is_outside(path, workspace):
            return False
        return (
            (not r.kinds or kind in r.kinds)
            and (r.tool is None or tool == r.tool)
            and (r.since is None or created_at >= r.since)
            and (r.until is None or created_at < r.until)
            and kind not in index.UNINDEXED
        )

    def _is_memory_wanted(self, row: Row) -> bool:
        r = self._request
        if memories.state(row, r.now) != memories.ACTIVE:
            return False
        if row[12] is not None and (row[5] is None or row[5] != r.near):
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
                " and b.conversation_no = c.no and b.no > 0) from conversations c where user_no = :user"
                f" and no{self._tx.among} and deleted_at is null",
                ids=self._tx.some(sorted(new)),
            )
            self._homes.update((row[0], row) for row in rows)
            if self._request.branch != branches.EVERY:
                self._lineages.update((row[0], None) for row in rows if not row[5])

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
                self._lineages[no] = dict(
                    branches.climb(tree, self._homes[no][3] if self._branch is None else self._branch)
                )
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
        for place, first, last in stretches:
            no = self._places[place]
            for branch in self._lineages.get(no) or {0: 0}:
                rows = self._tx.all(
                    f"select {_EVENT} from events where user_no = :user and conversation_no = :c and branch_no = :b"
                    " and seq between :first and :last",
                    c=no, b=branch, first=first, last=last,
                )  # fmt: skip
                for row in rows:
                    if row[2] in index.UNINDEXED or row[0] in self._numbers or not self._is_in_lineage(row):
                        continue
                    doc = self._event(row)
                    if not self._is_wanted(row):
                        self._hidden.add(doc.id)
                    docs.append(doc)
        return docs

    # -- hits

    def _hit(self, ranked: Ranked, asked: Sequence[str]) -> Hit:
        type, row = self._rows[ranked.doc.id]
        if type == "memory":
            row = memories.load(row, self._request.now)  # only now: a search looks at a hundred and shows ten
            return Hit(
                "memory", row.kind, row.id, row.conversation_id, None, row.content, self._shown(row.content, asked),
                ranked.score, ranked.parts, row.created_at, None, None, log.SENSITIVE in row.tags,
            )  # fmt: skip
        text = row[4] or ranked.doc.text
        return Hit(
            "event", row[2], ranked.doc.id, ranked.doc.conversation, row[1], text, self._shown(text, asked), ranked.score,
            ranked.parts, row[11], ranked.doc.speaker or None, self._branch_name(row), f'"{log.SENSITIVE}"' in (row[9] or ""),
        )  # fmt: skip

    def _shown(self, text: str, asked: Sequence[str]) -> str:
        return text if len(text) <= self._request.shown else snippet(text, asked)

    def _branch_name(self, row: Row) -> str:
        return "main" if row[_B] == 0 else branches.tree(self._tx, row[_C])[row[_B]][0]


# What a search reads of an event; a payload may be long.
_EVENT = "id, seq, kind, role, text, name, tool, path, agent, tags, branch_no, created_at, conversation_no"
_B, _C = 10, 12  # where its branch and its conversation stand


def snippet(text: str, asked: Sequence[str]) -> str:
    """The part of a text where most of the terms stand, cut at words."""
    if len(text) <= SNIPPET:
        return text
    wanted = set(asked)
    best, start = -1, 0
    for at in range(0, len(text), SNIPPET // 2):
        window = text[at : at + SNIPPET]
        here = len(wanted.intersection(terms(window)))
        if here > best:
            best, start = here, at
        if at > 20_000:
            break
    end = min(len(text), start + SNIPPET)
    cut = text[start:end]
    if start:
        cut = "…" + cut.split(" ", 1)[-1]
    if end < len(text):
        cut = cut.rsplit(" ", 1)[0] + "…"
    return cut
