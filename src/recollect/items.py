"""Items: any JSON object under a namespace and a key, as a graph's store keeps them. Nothing here knows of LangGraph.

A namespace is a row of labels. It is stored as one text in which every label is followed by a full stop; no label holds
one, so the namespaces below `("a", "b")` are exactly the range of texts from `a.b.` to `a.b/`, and `("a", "bc")` is not
among them. Nothing is ever looked for by a pattern.

What an item can be found by are its **texts**: the fields that are indexed, each with its words and, where there is a
model, its vector. They are rows of their own with ids that are never used again, so that whoever keeps vectors in memory
needs to look only at what is new.

A filter is judged in Python, on the value itself: see `filters.py`.
"""

from __future__ import annotations

from zlib import crc32

from . import checks, ids
from .errors import Damaged, InvalidInput
from .search import index
from .search.tokens import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from .db import Row, Tx
    from .filters import Judge

    Labels = tuple[str, ...]

COLUMNS = (
    "i.id, i.namespace, i.key, i.value, i.created_at, i.updated_at, i.ttl_ms, i.source, i.memory, i.tick, i.expires_at"
)
PAGE = 500
FOREVER = 1 << 62
GRACE_MS = 60_000  # so long after its time an item is swept by a job; it is not seen any more in between


# -- names


def path(labels: Sequence[str]) -> str:
    """A namespace as it is stored."""
    return "".join(f"{label}." for label in labels)


def labels(path: str) -> Labels:
    return tuple(path.split(".")[:-1])


class Scope:
    """Which namespaces are meant: one and all below it, or (`exact`) that one alone."""

    __slots__ = ("exact", "high", "low")

    def __init__(self, prefix: Sequence[str], exact: bool = False) -> None:
        self.low = path(prefix)
        self.exact = exact
        # "/" is the character behind "."; without labels everything is meant, and no text is as high as this one.
        self.high = self.low[:-1] + "/" if self.low else "\U0010ffff" * 8

    @property
    def where(self) -> str:
        return self.on("i")

    def on(self, table: str) -> str:
        return (
            f" and {table}.namespace = :low"
            if self.exact
            else f" and {table}.namespace >= :low and {table}.namespace < :high"
        )

    @property
    def params(self) -> dict[str, str]:
        return {"low": self.low} if self.exact else {"low": self.low, "high": self.high}

    def holds(self, namespace: str) -> bool:
        """The same of a namespace as it is stored: texts are in order of their characters here and there."""
        return namespace == self.low if self.exact else self.low <= namespace < self.high

    @property
    def tokens(self) -> list[str]:
        """What narrows a search by words; the rows are compared again."""
        return [token(self.low)] if self.low else []


def token(prefix: str) -> str:
    return f"n{crc32(prefix.encode()):08x}"


def _tokens(namespace: str) -> str:
    """A token for each prefix of a namespace."""
    ends = [i + 1 for i, character in enumerate(namespace) if character == "."]
    return " ".join(["i", *dict.fromkeys(token(namespace[:end]) for end in ends)])


# -- values


def dump(value: Mapping[str, Any]) -> str:
    """A value as it is stored: it reads back equal. What JSON cannot say is refused by name."""
    import json

    _check(value, "value", 0)
    try:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
        try:
            text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair can be written, if not as itself
            text = json.dumps(value, default=_plain)
    except (ValueError, TypeError, RecursionError) as e:
        raise InvalidInput(f"value cannot be stored as JSON: {e}") from None
    return text


def _plain(value: Any) -> Any:
    return dict(value)  # a mapping of another kind: _check has let nothing else through


def _check(value: Any, where: str, depth: int) -> None:
    from collections.abc import Mapping

    if depth > 100:
        raise InvalidInput(f"{where[:200]} is nested more than 100 deep.")
    if value is None or isinstance(value, (bool, int, float, str)):
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInput(f"{where} has the key {key!r}: JSON keys are texts.")
            _check(item, f"{where}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            _check(item, f"{where}[{i}]", depth + 1)
    else:
        raise InvalidInput(
            f"{where} is a {type(value).__name__}: only JSON values can be stored. Turn it into a text or a mapping first."
        )


def load(row: Row) -> dict[str, Any]:
    """The value of a row as `COLUMNS` selects it."""
    import json

    try:
        value: dict[str, Any] = json.loads(row[3])
    except ValueError as e:
        raise Damaged(
            f"The item {row[2]!r} in {labels(row[1])!r} does not read back as it was written ({e}). Run `recollect doctor`."
        ) from None
    return value


def checksum(namespace: str, key: str, value: str) -> int:
    return crc32(f"{namespace}\0{key}\0{value}".encode())


# -- writing


class Text:
    """What an item is found by: its words, and its vector where there is a model."""

    __slots__ = ("model", "signature", "terms", "text", "vector")

    def __init__(self, text: str) -> None:
        # NUL and halves of surrogate pairs are kept in the value, where JSON can say them; no index needs them.
        self.text = text[: index.WHOLE].replace("\0", " ").encode(errors="replace").decode()
        self.terms = " ".join(terms(self.text))
        self.model: str | None = None
        self.signature: Any = None
        self.vector: bytes | None = None


def by_passage(text: str) -> list[Text]:
    """A text that an item is found by; a long one by passage, each with a vector of its own."""
    if len(text) <= index.LONG:
        return [Text(text)]
    return [Text(text[start : start + length]) for start, length in index.passages(text)]


class Draft:
    """An item on its way to the table: checked and redacted."""

    __slots__ = ("checksum", "key", "namespace", "source", "texts", "ttl_ms", "value")

    def __init__(
        self, namespace: Labels, key: str, value: str, texts: Sequence[Text], ttl_ms: int | None, source: str | None
    ) -> None:
        self.namespace, self.key, self.value = path(namespace), key, value
        self.texts, self.ttl_ms, self.source = texts, ttl_ms, source
        self.checksum = checksum(self.namespace, key, value)


def ttl(minutes: Any) -> int | None:
    """Minutes as milliseconds."""
    if minutes is None:
        return None
    if isinstance(minutes, bool) or not isinstance(minutes, (int, float)) or not 0 <= minutes < 1e9:
        raise InvalidInput(f"ttl must be a number of minutes from 0 on, not {minutes!r}.")
    return round(minutes * 60_000)


def put(tx: Tx, draft: Draft) -> tuple[int, str | None]:
    """Write an item, in the place of one of the same key. Returns its id, and the memory that it was until now."""
    now = ids.now()
    ticks = tx.ticks(1 + len(draft.texts))
    row = tx.one(
        "insert into items (id, user_no, namespace, key, value, tick, ttl_ms, expires_at, source, created_at, updated_at,"
        " checksum) values (:tick, :user, :namespace, :key, :value, :tick, :ttl, :expires, :source, :now, :now, :crc)"
        " on conflict (user_no, namespace, key) do update set value = excluded.value, tick = excluded.tick,"
        " ttl_ms = excluded.ttl_ms, expires_at = excluded.expires_at, source = excluded.source,"
        " updated_at = excluded.updated_at, checksum = excluded.checksum returning id, memory",
        tick=ticks[0], namespace=draft.namespace, key=draft.key, value=draft.value, ttl=draft.ttl_ms,
        expires=None if draft.ttl_ms is None else now + draft.ttl_ms, source=draft.source, now=now, crc=draft.checksum,
    )  # fmt: skip
    assert row is not None
    id = int(row[0])
    if id != ticks[0]:
        _drop_texts(tx, id, draft.namespace)
    add_texts(tx, id, draft.namespace, draft.texts, ticks[1:])
    return id, row[1]


def add_texts(tx: Tx, item: int, namespace: str, texts: Sequence[Text], ticks: Sequence[int]) -> None:
    if not texts:
        return
    tx.many(
        "insert into item_texts (id, user_no, item, namespace, text, model, signature, vector) values (:id, :user_no, :item,"
        " :namespace, :text, :model, " + ("cast(:signature as bit varying)" if tx.for_update else ":signature") + ", :vector)",
        [
            (tick, tx.user, item, namespace, t.text, t.model, t.signature, t.vector)
            for tick, t in zip(ticks, texts, strict=True)
        ],
    )  # fmt: skip
    scope = _tokens(namespace)
    tx.index_words("item_words", [(tick, t.terms, scope) for tick, t in zip(ticks, texts, strict=True)])


def _drop_texts(tx: Tx, item: int, namespace: str) -> None:
    rows = tx.all("select id, text from item_texts where user_no = :user and item = :item", item=item)
    tx.unindex_words("item_words", [entry(namespace, row) for row in rows])
    if rows:
        tx.run("delete from item_texts where user_no = :user and item = :item", item=item)


def entry(namespace: str, row: Row) -> Row:
    """What a stored text is indexed under; `row` begins with its id and the text."""
    return row[0], " ".join(terms(row[1])), _tokens(namespace)


def set_memory(tx: Tx, id: int, memory: str | None) -> None:
    tx.run("update items set memory = :memory where user_no = :user and id = :id", id=id, memory=memory)


def delete(tx: Tx, namespace: str, key: str) -> str | None:
    """Remove an item if it is there. Returns the memory that it also was."""
    row = tx.one(
        "select id, memory from items where user_no = :user and namespace = :namespace and key = :key" + tx.for_update,
        namespace=namespace, key=key,
    )  # fmt: skip
    if row is None:
        return None
    _remove(tx, row[0], namespace)
    return None if row[1] is None else str(row[1])


def _remove(tx: Tx, id: int, namespace: str) -> None:
    _drop_texts(tx, id, namespace)
    tx.run("delete from items where user_no = :user and id = :id", id=id)


def touch(tx: Tx, items: Sequence[int]) -> None:
    """They were read: their time begins anew."""
    now = ids.now()
    for id in sorted(items):
        tx.run(
            "update items set expires_at = :now + ttl_ms where user_no = :user and id = :id and ttl_ms is not null"
            " and expires_at > :seen",
            id=id, now=now, seen=now,
        )  # fmt: skip


def expired(tx: Tx, before: int, most: int, lock: bool = False) -> list[Row]:
    """(id, namespace, key, memory) of items whose time ran out before this."""
    return tx.all(
        "select id, namespace, key, memory from items where user_no = :user and expires_at <= :before"
        " order by expires_at limit :most" + (tx.for_update if lock else ""),
        before=before, most=most,
    )  # fmt: skip


def remove(tx: Tx, rows: Sequence[Row]) -> None:
    """Remove items that `expired` or `of_thread` gave."""
    for row in rows:
        _remove(tx, row[0], row[1])


def next_expiry(tx: Tx) -> int | None:
    row = tx.one("select min(expires_at) from items where user_no = :user and expires_at is not null")
    return None if row is None or row[0] is None else int(row[0])


def erase_thread(tx: Tx, conversation: str) -> int:
    """Everything kept for a conversation, `("memories", user, conversation)` and below, when that is erased."""
    if "." in conversation:
        return 0  # no label holds a full stop
    row = tx.one("select id from users where no = :user")
    if row is None or "." in row[0]:
        return 0
    scope = Scope(("memories", row[0], conversation))
    rows = tx.all(
        "select i.id, i.namespace, i.key, i.memory from items i where i.user_no = :user" + scope.where, **scope.params
    )
    remove(tx, rows)
    return len(rows)


# -- reading


def get(tx: Tx, namespace: str, key: str, now: int) -> Row | None:
    """One item that has not expired at `now`, as `COLUMNS` has it."""
    return tx.one(
        f"select {COLUMNS} from items i where i.user_no = :user and i.namespace = :namespace and i.key = :key"
        " and (i.expires_at is null or i.expires_at > :now)",
        namespace=namespace, key=key, now=now,
    )  # fmt: skip


def by_id(tx: Tx, id: int) -> Row | None:
    return tx.one(f"select {COLUMNS} from items i where i.user_no = :user and i.id = :id", id=id)


def _newest_first(scope: Scope, columns: str, where: str) -> str:
    """A statement for some items of a scope, the one that was put last first.

    The index that has them in this order has it for one namespace. So where a range holds but one, which its first and last
    tell, that is asked for, and as many rows are read as are wanted; else all of the range is, and put in order. One
    statement says both, and the half that does not apply is not run.
    """

    def half(where_: str) -> str:
        return (
            f"select {columns} from items i where i.user_no = :user and (i.expires_at is null or i.expires_at > :now)"
            f"{where_}{where} order by i.tick desc limit :most"
        )

    if scope.exact:
        return half(scope.where)
    return (
        "with ends as (select (select min(i.namespace) from items i where i.user_no = :user"
        + scope.where
        + ") as first,"
        " (select max(i.namespace) from items i where i.user_no = :user" + scope.where + ") as last)"
        f" select * from ({half(' and i.namespace = (select first from ends) and (select first = last from ends)')}) as one"
        f" union all select * from ({half(scope.where + ' and (select first <> last from ends)')}) as several"
    )


def newest(tx: Tx, scope: Scope, now: int, most: int, skip: int = 0) -> list[Row]:
    """Items of a scope, the one that was put last first."""
    if not skip:
        return tx.all(_newest_first(scope, COLUMNS, ""), now=now, most=most, **scope.params)
    found = tx.all(_newest_first(scope, "i.id", ""), now=now, most=most + skip, **scope.params)
    return some(tx, [row[0] for row in found[skip:]])


def some(tx: Tx, numbers: Sequence[int]) -> list[Row]:
    """Items by their ids, in that order."""
    rows: dict[int, Row] = {}
    for start in range(0, len(numbers), PAGE):
        found = tx.all(
            f"select {COLUMNS} from items i{tx.by_id} where i.user_no = :user and i.id{tx.among}",
            ids=tx.some(numbers[start : start + PAGE]),
        )
        rows.update((row[0], row) for row in found)
    return [rows[n] for n in numbers if n in rows]


def walk(tx: Tx, scope: Scope, now: int, judge: Judge, first: int = PAGE) -> Iterator[Row]:
    """Every item of a scope that may pass, the one that was put last first, a page at a time; the `first` may be small."""
    before, size = FOREVER, min(max(first, 1), PAGE)
    while True:
        rows = tx.all(
            _newest_first(scope, COLUMNS, judge.where(tx) + " and i.tick < :before"),
            now=now, before=before, most=size, **scope.params, **judge.params,
        )  # fmt: skip
        yield from rows
        if len(rows) < size:
            return
        before, size = rows[-1][9], min(4 * size, PAGE)


def namespaces(tx: Tx, scope: Scope, now: int) -> list[str]:
    """The namespaces of a scope that hold anything, in order of their texts."""
    rows = tx.all(
        "select distinct i.namespace from items i where i.user_no = :user"
        f" and (i.expires_at is null or i.expires_at > :now){scope.where} order by i.namespace",
        now=now, **scope.params,
    )  # fmt: skip
    return [row[0] for row in rows]


def places(tx: Tx, scope: Scope) -> list[str]:
    """The namespaces of a scope, those whose items have all expired included: answered by an index alone."""
    if scope.exact:
        return [scope.low]
    rows = tx.all(
        "select distinct i.namespace from items i where i.user_no = :user" + scope.where, **scope.params,
    )  # fmt: skip
    return [row[0] for row in rows]


def count(tx: Tx) -> int:
    return int(tx.all("select count(*) from items where user_no = :user")[0][0])


# -- for verify, reindex and scan


def page(tx: Tx, after: int, most: int) -> list[Row]:
    """Stored items by id, as `COLUMNS` has them, then the checksum."""
    return tx.all(
        f"select {COLUMNS}, i.checksum from items i{tx.by_id} where i.user_no = :user and i.id > :after and i.id <= :high"
        " order by i.id limit :most",
        after=max(after, tx.low_id()), high=tx.high_id(), most=most,
    )  # fmt: skip


def texts(tx: Tx, after: int, most: int) -> list[Row]:
    """Stored texts by id, locked: (id, text, namespace)."""
    return tx.all(
        f"select t.id, t.text, i.namespace from item_texts t{tx.by_id} join items i on i.user_no = t.user_no and i.id = t.item"
        " where t.user_no = :user and t.id > :after and t.id <= :high order by t.id limit :most"
        + (tx.for_update and " for update of t"),
        after=max(after, tx.low_id()), high=tx.high_id(), most=most,
    )  # fmt: skip


def text_ids(tx: Tx, after: int, most: int) -> list[tuple[int, bool]]:
    """(id, whether its item is there) of stored texts, by id."""
    rows = tx.all(
        f"select t.id, i.id from item_texts t{tx.by_id} left join items i on i.user_no = t.user_no and i.id = t.item"
        " where t.user_no = :user and t.id > :after and t.id <= :high order by t.id limit :most",
        after=max(after, tx.low_id()), high=tx.high_id(), most=most,
    )  # fmt: skip
    return [(row[0], row[1] is not None) for row in rows]


def texts_of(tx: Tx, id: int) -> list[str]:
    rows = tx.all("select text from item_texts where user_no = :user and item = :item order by id", item=id)
    return [row[0] for row in rows]


def replace(tx: Tx, row: Row, namespace: str, key: str, value: str, texts: Sequence[Text], source: str | None) -> bool:
    """Put other content in the place of a stored one, unless that changed meanwhile. False if the place is taken."""
    there = tx.one(
        "select tick from items where user_no = :user and id = :id" + tx.for_update, id=row[0],
    )  # fmt: skip
    if there is None or there[0] != row[9]:
        return True
    taken = tx.one(
        "select id from items where user_no = :user and namespace = :namespace and key = :key",
        namespace=namespace, key=key,
    )  # fmt: skip
    if taken is not None and taken[0] != row[0]:
        return False
    _drop_texts(tx, row[0], row[1])
    tx.run(
        "update items set namespace = :namespace, key = :key, value = :value, source = :source, checksum = :crc"
        " where user_no = :user and id = :id",
        id=row[0], namespace=namespace, key=key, value=value, source=source, crc=checksum(namespace, key, value),
    )  # fmt: skip
    add_texts(tx, row[0], namespace, texts, tx.ticks(len(texts)) if texts else ())
    return True


def check_key(key: object) -> str:
    return checks.text(key, "key")
