"""Checkpoints: the state of a graph, kept beside the log of its conversation.

A graph hands over its whole state at every step, and most of it is what it was before. So a value is stored once for each
conversation, under a keyed hash of its content, and a checkpoint only says which values it has. A list is stored element
by element: where an element's hash happens to end in zeros, those since the last such place become a **chunk**, chunks
become groups the same way, and what remains is the list's own short row. One more message is then one more element and one
short row, however long the list is, and a list that is trimmed at its front still shares everything behind the cut. A
500-turn chat takes 5 MB that way; written out at every step, 450.

Nothing here knows LangGraph: values come as (type, bytes) and go as such. Nothing is counted either: what no checkpoint
refers to any more is swept by a job (`sweep`), and deleting a conversation deletes by its number.

The log comes along: the messages that a state brings for the first time are appended in the transaction of its checkpoint,
and the checkpoint is stamped with the number of the newest event. A second child of one parent is a branch of the log.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from functools import partial
from hashlib import blake2b
from zlib import compress, crc32, decompress
from zlib import error as ZlibError

from . import branches, conversations, erased, ids, jobs, log
from .branches import NO_LIMIT
from .errors import AlreadyExists, Damaged
from .model import MAIN, Checkpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from .branches import Lineage
    from .conversations import Found
    from .db import Row, Tx
    from .model import Branch

    Stored = tuple[str, bytes]
    """How it is to be read, and the bytes."""
    Have = dict[bytes, Stored]

KEY = 12
"""Bytes of a key: 96 bits of a hash whose secret nobody outside knows."""
FAN = 15
"""A group ends at a key with these bits clear: sixteen long on average."""
LONGEST = 128
FEW = 24
LIST, GROUP, CHUNK = "=list", "=group", "=chunk"
INLINE = 100
"""A value of at most so many bytes stands in the checkpoint's own row."""
AT_ONCE = (8, 64, 500)
SMALL_STATE = 2_000  # bytes of JSON that are stored as they are
PAGE = 20
SWEEP_DELAY_MS = 2_000
PRUNE_DELAY_MS = 60_000
_DAMAGED = "Run `recollect doctor`; a backup from before has it whole."


# -- values and their keys


def digest(secret: bytes, type: str, data: bytes) -> bytes:
    """What a piece is known by."""
    return blake2b(type.encode() + b"\0" + data, digest_size=KEY, key=secret).digest()


class Value:
    """A channel's value on its way to the tables: inside the checkpoint's row, or the key of a piece. `pieces` are those it
    needs, itself included; those that are mostly there already are only made when they are not."""

    __slots__ = ("inline", "inside", "key", "parts", "pieces", "tops")

    def __init__(
        self, key: bytes | None, inline: Stored | None, pieces: dict[bytes, Stored | Callable[[], Stored]]
    ) -> None:
        self.key = key
        self.inline = inline
        self.pieces = pieces
        self.parts: list[bytes] = []
        """The keys of a list's elements, in order."""
        self.inside: dict[bytes, list[bytes]] = {}
        """Of each chunk and group, and of the list itself: the keys of what is in it."""
        self.tops: frozenset[bytes] = frozenset()
        """The keys in a list's own row. Whatever list has them too shares what they stand for."""

    def lend(self, have: Have) -> None:
        """Add what was stored to the pieces at hand, where whatever is in there has all that is below it in there too. A chunk
        that is new has not been made here: then a reader asks for it."""
        if self.key is None:
            return
        new: Have = {}
        for key in (*self.inside.get(self.key, ()), self.key):
            if key not in have:
                stored = self.pieces.get(key)
                if stored is None or (key in self.inside and key != self.key):
                    return
                new[key] = stored if isinstance(stored, tuple) else stored()
        have.update(new)

    def plain(self) -> Any:
        if self.inline is not None:
            return [self.inline[0], b64encode(self.inline[1]).decode()]
        assert self.key is not None
        return self.key.hex()


def one(secret: bytes, type: str, plain: bytes, stored: Stored) -> Value:
    """A value that is stored whole. `plain` is what it is known by; `stored` may be encrypted."""
    if len(stored[1]) <= INLINE:
        return Value(None, stored, {})
    key = digest(secret, type, plain)
    return Value(key, None, {key: stored})


def many(
    secret: bytes, keys: list[bytes], plain: Sequence[Stored], seal: Callable[[Stored], Stored], *, chunks: bool
) -> Value:
    """A list, from the keys and contents of its elements. With `chunks`, contents may be joined: they are all of the kind
    that can be read one after the other."""
    value = Value(None, None, {})
    pieces, inside = value.pieces, value.inside
    tails: list[list[bytes]] = []
    level = lead = ended = 0
    current = keys
    while len(current) > FEW:
        groups: list[bytes] = []
        start = first = 0
        kind = CHUNK if chunks and not level else GROUP
        for i, key in enumerate(current):
            if i > start and (not key[level % KEY] & FAN or i - start >= LONGEST):
                members = current[start : i + 1]
                start, begun = i + 1, start
                if kind == CHUNK and not begun:
                    first = (
                        start  # what comes before the first cut may have been cut off itself: its elements are there
                    )
                    continue
                data = b"".join(members)
                group = digest(secret, kind, data)
                inside[group] = members
                pieces[group] = partial(_chunk, group, plain[begun:start], seal) if kind == CHUNK else (GROUP, data)
                groups.append(group)
        if not groups:
            break
        if kind == CHUNK:
            lead, ended = first, start
        tails.append(current[start:])
        current = groups
        level += 1
    tails.append(current)
    for i in (*range(lead), *range(ended, len(keys))):
        if keys[i] not in pieces:
            pieces[keys[i]] = partial(seal, plain[i])
    own = [*keys[:lead], *(key for tail in reversed(tails) for key in tail)]
    data = b"".join(own)
    value.key = digest(secret, LIST, data)
    pieces[value.key] = (LIST, data)
    inside[value.key] = own
    value.parts = keys
    value.tops = frozenset(own)
    return value


def _chunk(key: bytes, plain: Sequence[Stored], seal: Callable[[Stored], Stored]) -> Stored:
    joined = b"".join(data for _, data in plain)
    return seal((CHUNK, crc32(joined, crc32(key)).to_bytes(4) + len(plain).to_bytes(4) + joined))


def unchunked(key: bytes, data: bytes) -> tuple[int, bytes]:
    """How many elements are in a chunk, and their contents one after the other."""
    if len(data) < 8 or crc32(data[8:], crc32(key)) != int.from_bytes(data[:4]):
        raise Damaged(f"A value of the state is not what was written. {_DAMAGED}")
    return int.from_bytes(data[4:8]), data[8:]


def keys_in(data: bytes) -> list[bytes]:
    """The keys in the data of a list or group."""
    if len(data) % KEY:
        raise Damaged(f"A list of a graph's state is not what was written. {_DAMAGED}")
    return [data[i : i + KEY] for i in range(0, len(data), KEY)]


def news(value: Value, tops: frozenset[bytes]) -> list[int]:
    """Where in a list its elements stand that another list, known by its `tops`, does not share with it for certain."""
    if not tops:
        return list(range(len(value.parts)))
    assert value.key is not None
    found: list[int] = []
    i = 0
    sizes: dict[bytes, int] = {}

    def size(key: bytes) -> int:
        inner = value.inside.get(key)
        if inner is None:
            return 1
        if key not in sizes:
            sizes[key] = sum(map(size, inner))
        return sizes[key]

    stack = list(reversed(value.inside[value.key]))
    while stack:
        key = stack.pop()
        if key in tops:
            i += size(key)
        elif key in value.inside:
            stack += reversed(value.inside[key])
        else:
            found.append(i)
            i += 1
    return found


def flat(have: Have, key: bytes) -> list[bytes]:
    """The keys of a list's chunks and elements, in order."""
    found: list[bytes] = []
    stack = [key]
    while stack:
        key = stack.pop()
        if have[key][0] in (LIST, GROUP):
            stack += reversed(keys_in(have[key][1]))
        else:
            found.append(key)
    return found


# -- a checkpoint on its way to the tables


class Item:
    """Something a state says: at most one event of the log. `id` is the message's own, or a hash; `also` is another id under
    which it may be there."""

    __slots__ = ("also", "digest", "draft", "id")

    def __init__(self, id: str, digest: bytes, draft: log.Draft, also: str | None = None) -> None:
        self.id = id
        self.digest = digest
        self.draft = draft
        self.also = also


class Draft:
    """A checkpoint, prepared in the caller's thread."""

    def __init__(self, conversation: str, namespace: str, id: str, parent: str | None) -> None:
        self.conversation = conversation
        self.namespace = namespace
        self.id = id
        self.parent = parent
        self.branch: str | None = None
        """The branch that the caller named."""
        self.source: str | None = None
        self.step: int | None = None
        self.run_id: str | None = None
        self.head: dict[str, Any] = {}
        """The checkpoint itself without its values."""
        self.metadata: Any = {}
        self.values: dict[str, Value] = {}
        self.inherits: dict[str, Any] = {}
        """Channel -> version, of those that may be taken over from the parent."""
        self.items: list[Item] = []
        self.shared: frozenset[bytes] = frozenset()
        """Keys in the rows of the parent's lists: what they stand for is there."""
        self.needs_parent = False
        """Whether the draft was made with what the parent is known to hold."""
        self.secret: Stored = ("", b"")
        self.created_at: int | None = None
        """When it was made, if not now."""
        self.made_at: int | None = None
        """When the graph says that it was made."""
        self.limited = False
        """Whether old checkpoints are to go."""
        self.known_as = 0
        """The number of the conversation whose secret the keys were made with; 0: not known to have one."""
        self.forked_from: str | None = None
        """Said by `put`: the checkpoint at which this one starts a branch."""


class Unexpected(Exception):
    """What the draft was made with is not what is stored: make it anew."""

    def __init__(self, no: int, secret: Stored | None) -> None:
        super().__init__()
        self.no = no
        self.secret = secret


class Placed:
    __slots__ = ("branch", "found", "seq")

    def __init__(self, found: Found, branch: int, seq: int) -> None:
        self.found = found
        self.branch = branch
        self.seq = seq


COLUMNS = "namespace, checkpoint_id, parent_id, branch_no, seq, source, step, node, run_id, created_at, state, checksum"
_CHECKPOINT = (
    "insert into checkpoints (user_no, conversation_no, namespace, checkpoint_id, parent_id, branch_no, seq, source, step,"
    " node, run_id, created_at, state, checksum) values (:user, :c, :ns, :id, :parent, :b, :seq, :source, :step, :node,"
    " :run, :now, :state, :crc) on conflict (user_no, conversation_no, namespace, checkpoint_id) do update set"
    " parent_id = excluded.parent_id, source = excluded.source, step = excluded.step, node = excluded.node,"
    " run_id = excluded.run_id, seq = excluded.seq, branch_no = excluded.branch_no, state = excluded.state,"
    " created_at = excluded.created_at, checksum = excluded.checksum"
)
_PIECE = (
    "insert into checkpoint_pieces (user_no, conversation_no, key, type, data) values (:user_no, :c, :key, :type, :data)"
    " on conflict (user_no, conversation_no, key) do nothing"
)
_WRITE = (
    "insert into checkpoint_writes (user_no, conversation_no, namespace, checkpoint_id, task_id, idx, task_path, channel,"
    " type, data, checksum) values (:user_no, :c, :ns, :id, :task, :idx, :path, :channel, :type, :data, :crc)"
    " on conflict (user_no, conversation_no, namespace, checkpoint_id, task_id, idx) do "
)
_AGAIN = (
    "update set task_path = excluded.task_path, channel = excluded.channel, type = excluded.type, data = excluded.data,"
    " checksum = excluded.checksum"
)


def there(tx: Tx, conversation: str, *, lock: bool = False) -> Found | None:
    """The conversation behind an id; None if there is none, or if it is in the bin."""
    row = conversations.look(tx, conversation, lock=lock)
    return None if row is None or row[6] is not None else conversations.Found(*row[:6])


def _enter(
    tx: Tx, conversation: str, looked: Callable[[], Row | None], *, begun_at: int | None = None
) -> Found:  # fmt: skip
    """The conversation a state is written for, made where there is none. `begun_at`: when a run began that holds nothing but
    its input; a thread that was erased before that begins anew."""
    row = looked()
    if row is not None and row[6] is None:
        return conversations.Found(*row[:6])
    if row is None:
        again = begun_at is not None and begun_at > (erased.at(tx, erased.CONVERSATION, conversation) or 0)
        conversations.create(
            tx,
            conversation,
            title=None,
            workspace=None,
            workflow_id=None,
            metadata=None,
            origin="langgraph",
            again=again,
        )
    found = conversations.find(tx, conversation, lock=True)
    found.is_new = row is None
    return found


def secret(tx: Tx, no: int) -> Stored | None:
    row = tx.one(
        "select type, data from checkpoint_pieces where user_no = :user and conversation_no = :c and key = :key",
        c=no, key=b"",
    )  # fmt: skip
    return None if row is None else (row[0], row[1])


def _same_secret(tx: Tx, no: int, mine: Stored, known_as: int) -> None:
    if known_as == no:
        return
    stored = secret(tx, no)
    if stored is None and not known_as:
        tx.many(_PIECE, [(tx.user, no, b"", *mine)])
    elif stored != mine:
        raise Unexpected(no, stored)


def put(tx: Tx, d: Draft, append: Callable[[Tx, Found, list[log.Draft], str], list[int]]) -> Placed:
    """Write a checkpoint, the pieces that are not there yet, and the events that its state says for the first time.
    `append` writes events to a branch and returns their numbers."""
    begins = d.parent is None and d.source == "input" and not d.namespace
    looked = conversations.looking(tx, d.conversation, tx.for_change)
    about = _Asked(tx, d.known_as, d) if d.known_as else None  # its number is mostly known, and all is asked at once
    found = _enter(tx, d.conversation, looked, begun_at=d.made_at if begins else None)
    if about is None or found.no != d.known_as:
        about = _Asked(tx, found.no, d)
    erased.refuse_checkpoint(tx, d.conversation, d.parent, d.id, any=about.erased)
    _same_secret(tx, found.no, d.secret, d.known_as)
    again, parent, has_child = _self_and_parent(about.rows(), d)
    if d.needs_parent and parent is None:
        raise Unexpected(found.no, d.secret)
    branch = _branch(tx, found, d, again, parent, has_child)
    was = _was(parent) if parent is not None else {}
    values = {}
    for channel, version in d.inherits.items():
        if channel not in was.get("values", ()) or was["head"]["channel_versions"].get(channel) != version:
            raise Unexpected(found.no, d.secret)
        values[channel] = was["values"][channel]
    values |= {channel: value.plain() for channel, value in d.values.items()}
    _add(tx, found.no, d.values.values(), d.shared)
    said = _say(tx, found, branch, d.items, about, append) if d.items else None
    if said:
        seq = said
    elif said is None and parent is not None and parent[3] == branch and parent[4] == found.last_seq:
        seq = found.last_seq  # nothing was said by anyone meanwhile
    else:
        seq = _head(tx, found.no, branch)
    state = _pack({"head": d.head, "values": values, "metadata": d.metadata})
    row = (
        d.namespace, d.id, d.parent, branch, seq, d.source, d.step, _nodes(was, d.head), d.run_id, d.created_at or ids.now(), state,
    )  # fmt: skip
    tx.send(
        _CHECKPOINT,
        c=found.no, ns=row[0], id=row[1], parent=row[2], b=row[3], seq=row[4], source=row[5], step=row[6], node=row[7],
        run=row[8], now=row[9], state=row[10], crc=_crc(row),
    )  # fmt: skip
    if d.limited:
        jobs.enqueue(tx, "prune", f"{found.no}:0", delay_ms=PRUNE_DELAY_MS)
    _remember(state, d.head, values)
    return Placed(found, branch, seq)


_written: dict[bytes, dict[str, Any]] = {}
"""What is in rows that were written a moment ago, for the next one: it is their child."""


def _remember(state: bytes, head: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    if len(_written) >= 64:
        _written.clear()
    # Copied: a graph goes on with its own.
    versions = dict(head.get("channel_versions", {}))
    seen = {name: dict(known or {}) for name, known in head.get("versions_seen", {}).items()}
    _written[state] = {"head": {"channel_versions": versions, "versions_seen": seen}, "values": values}


def _was(row: Row) -> dict[str, Any]:
    """The versions and values of a row, only to be looked at."""
    return (_written.get(row[10]) if _crc(row[:11]) == row[11] else None) or _state(row)


def _add(tx: Tx, no: int, values: Iterable[Value], known: frozenset[bytes]) -> None:
    """Store what is not there. What is `known` is, and so is everything below it; the rest is asked for."""
    left: dict[bytes, Stored | Callable[[], Stored]] = {}
    for value in values:
        if value.key is None:
            continue
        stack = [value.key]
        while stack:
            key = stack.pop()
            if key in known:
                continue
            if key in value.pieces:
                left[key] = value.pieces[key]
            stack += [inner for inner in value.inside.get(key, ()) if inner in value.pieces]
    if len(left) > 3:
        for key in there_are(tx, no, list(left)):
            left.pop(key, None)
    if left:
        # In the order of their keys: two who add the same at once wait for each other in one direction only.
        rows = [
            (key, stored if isinstance(stored, tuple) else stored()) for key, stored in sorted(left.items(), key=_first)
        ]
        tx.many(_PIECE, [(tx.user, no, key, type, data) for key, (type, data) in rows])


def _first(pair: tuple[bytes, Any]) -> bytes:
    return pair[0]


def there_are(tx: Tx, no: int, keys: Sequence[bytes]) -> Iterator[bytes]:
    """Which of these keys are there."""
    start = 0
    while start < len(keys):
        size = next((n for n in AT_ONCE if n >= len(keys) - start), AT_ONCE[-1])
        some = keys[start : start + size]
        start += size
        marks = {f"k{i}": some[min(i, len(some) - 1)] for i in range(size)}
        for (key,) in tx.all(
            "select key from checkpoint_pieces where user_no = :user and conversation_no = :c"
            f" and key in ({', '.join(':' + m for m in marks)})",
            c=no, **marks,
        ):  # fmt: skip
            yield bytes(key)


def by_keys(tx: Tx, no: int, keys: Sequence[bytes]) -> Iterator[Row]:
    """The pieces with these keys, as far as they are there."""
    start = 0
    while start < len(keys):
        size = next((n for n in AT_ONCE if n >= len(keys) - start), AT_ONCE[-1])
        some = keys[start : start + size]
        start += size
        marks = {f"k{i}": some[min(i, len(some) - 1)] for i in range(size)}
        for key, type, data in tx.all(
            "select key, type, data from checkpoint_pieces where user_no = :user and conversation_no = :c"
            f" and key in ({', '.join(':' + m for m in marks)})",
            c=no, **marks,
        ):  # fmt: skip
            yield bytes(key), type, data


def collect(tx: Tx, no: int, wanted: Iterable[bytes], have: Have) -> None:
    """Read pieces, and what they refer to, into `have`."""
    asked = [key for key in dict.fromkeys(wanted) if key not in have]
    while asked:
        for key, type, data in by_keys(tx, no, asked):
            have[key] = (type, data)
        following: dict[bytes, None] = {}
        for key in asked:
            if key not in have:
                raise Damaged(f"A value of a graph's state is missing. {_DAMAGED}")
            type, data = have[key]
            if type in (LIST, GROUP):
                following |= dict.fromkeys(inner for inner in keys_in(data) if inner not in have)
        asked = list(following)


def _pack(state: Mapping[str, Any]) -> bytes:
    """Compressed where that is worth its time: a turn of a chat would spend a twentieth of its own on half a kilobyte."""
    packed = json.dumps(state, ensure_ascii=False, separators=(",", ":")).encode()
    return packed if len(packed) < SMALL_STATE else compress(packed, 1)


def _crc(row: Sequence[Any]) -> int:
    """Of a row as `COLUMNS` has it, or of a write, without the checksum at its end."""
    return crc32(row[-1], crc32("\0".join(map(str, row[:-1])).encode("utf-8", "surrogatepass")))


def _state(row: Row) -> dict[str, Any]:
    """What is in a checkpoint's row, as `COLUMNS` selects it."""
    try:
        if _crc(row[:11]) != row[11]:
            raise ValueError("its checksum does not fit")
        packed = bytes(row[10])
        loaded: dict[str, Any] = json.loads(packed if packed[:1] == b"{" else decompress(packed))
        return loaded
    except (ValueError, ZlibError, TypeError) as e:
        raise Damaged(f"Checkpoint {row[1]!r} is not what was written ({e}). {_DAMAGED}") from None


class _Asked:
    """What a checkpoint has to know of what is there. Before anything is written, so that it is one round trip."""

    def __init__(self, tx: Tx, no: int, d: Draft) -> None:
        self.erased, self.erased_messages = erased.asking_both(tx, erased.CHECKPOINT, erased.MESSAGE)
        self.rows = tx.later(
            f"select {COLUMNS}, (select 1 from checkpoints k where k.user_no = :user and k.conversation_no = :c"
            " and k.namespace = :ns and k.parent_id = :parent limit 1) from checkpoints"
            " where user_no = :user and conversation_no = :c and namespace = :ns and checkpoint_id in (:id, :parent)",
            c=no, ns=d.namespace, id=d.id, parent=d.parent or d.id,
        )  # fmt: skip
        names = sorted({i.id for i in d.items} | {i.also for i in d.items if i.also})
        self.messages: list[Callable[[], list[Row]]] = []
        for start in range(0, len(names), AT_ONCE[-1]):
            marks = _marks("m", names[start : start + AT_ONCE[-1]])
            self.messages.append(
                tx.later(
                    "select message_id, branch_no, seq, first_seq, digest from checkpoint_messages where user_no = :user"
                    f" and conversation_no = :c and message_id in ({', '.join(':' + m for m in marks)})",
                    c=no, **marks,
                )
            )  # fmt: skip


def _self_and_parent(rows: Sequence[Row], d: Draft) -> tuple[Row | None, Row | None, bool]:
    """What is stored under a draft's own id and under its parent's, and whether that parent has a child already."""
    found = {row[1]: row[:12] for row in rows}
    has_child = bool(rows and rows[0][12])
    return found.get(d.id), None if d.parent is None else found.get(d.parent), has_child


def _row(tx: Tx, no: int, namespace: str, id: str) -> Row | None:
    return tx.one(
        f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = :ns"
        " and checkpoint_id = :id",
        c=no, ns=namespace, id=id,
    )  # fmt: skip


def _nodes(was: Mapping[str, Any], head: Mapping[str, Any]) -> str | None:
    """Which nodes ran between a checkpoint and its parent: those that have seen something new."""
    before = was.get("head", {}).get("versions_seen", {})
    ran = [name for name, seen in head.get("versions_seen", {}).items() if seen != before.get(name, {})]
    return ", ".join(name for name in ran if name not in ("__interrupt__", "__input__")) or None


# -- branches


def _branch(tx: Tx, found: Found, d: Draft, again: Row | None, parent: Row | None, has_child: bool) -> int:
    """The branch a checkpoint belongs to. A second child of one parent starts one."""
    d.forked_from = None
    if d.namespace:
        root = d.metadata.get("parents", {}).get("") if isinstance(d.metadata, dict) else None
        row = _row(tx, found.no, "", root) if isinstance(root, str) else None
        return int(row[3]) if row is not None else found.active_branch
    meant = branches.number(tx, found, d.branch)
    if again is not None and again[2] == d.parent:
        return int(again[3])  # stored once more
    model = _original(tx, found.no, d) if d.source == "fork" else None
    if model is not None:
        branch = _fork(tx, found, model)
    elif parent is None:
        return meant
    elif meant != parent[3] and _latest(tx, found.no, "", branches.lineage(tx, found.no, meant)) == parent[1]:
        branch = meant  # forked in the log: this is where it goes on
    elif has_child:
        branch = _fork(tx, found, parent)
    else:
        branch = int(parent[3])
    at = model or parent
    if at is not None and branch != at[3]:
        d.forked_from = str(at[1])
    if d.branch is None and branch != found.active_branch:
        tx.run("update conversations set active_branch = :b where user_no = :user and no = :c", c=found.no, b=branch)
        found.active_branch = branch
    return branch


def _fork(tx: Tx, found: Found, at: Row) -> int:
    """A new branch at the stamp of a checkpoint."""
    name = branches.tree(tx, found.no)[at[3]][0] if at[3] else MAIN
    return branches.number(tx, found, branches.fork(tx, found.id, int(at[4]), name, None, False))


def _children(tx: Tx, no: int, parent: str | None) -> list[Row]:
    if parent is None:
        return tx.all(
            f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = ''"
            " and parent_id is null",
            c=no,
        )
    return tx.all(
        f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = ''"
        " and parent_id = :id",
        c=no, id=parent,
    )  # fmt: skip


def _original(tx: Tx, no: int, d: Draft) -> Row | None:
    """The checkpoint of which this one is a clone: LangGraph gives a clone the parent of what it was cloned from."""
    versions = d.head.get("channel_versions")
    twins = [row for row in _children(tx, no, d.parent) if _state(row)["head"].get("channel_versions") == versions]
    return max(twins, key=lambda row: str(row[1])) if twins else None


def _newest(tx: Tx, no: int, namespace: str, own: Lineage) -> Row | None:
    """The newest checkpoint of a lineage. Where it is cut off by a fork, an input is not meant: what was put in there comes
    into the log one step later."""
    for branch, high in own:
        row = tx.one(
            f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = :ns"
            " and branch_no = :b and seq <= :high and (:high = :all or source is null or source <> 'input')"
            " order by checkpoint_id desc limit 1",
            c=no, ns=namespace, b=branch, high=high, all=NO_LIMIT,
        )  # fmt: skip
        if row is not None:
            return row
    return None


def _latest(tx: Tx, no: int, namespace: str, own: Lineage) -> str | None:
    row = _newest(tx, no, namespace, own)
    return None if row is None else str(row[1])


def latest(tx: Tx, found: Found, namespace: str, branch: str | Branch | None) -> str | None:
    """The checkpoint that is meant when none is named: the newest of the branch, which is the active one unless said."""
    return _latest(tx, found.no, namespace, branches.lineage(tx, found.no, branches.number(tx, found, branch)))


def _head(tx: Tx, no: int, branch: int) -> int:
    """The number of the newest event to be seen on a branch."""
    row = tx.one(
        "select max(seq) from events where user_no = :user and conversation_no = :c and branch_no = :b", c=no, b=branch
    )
    if row is not None and row[0] is not None:
        return int(row[0])
    return branches.tree(tx, no)[branch][2] if branch else 0


# -- the log


def _say(
    tx: Tx,
    found: Found,
    branch: int,
    items: Sequence[Item],
    about: _Asked,
    append: Callable[[Tx, Found, list[log.Draft], str], list[int]],
) -> int | None:
    """Append what is not in the log of this lineage yet. Returns the number of the newest event then: None if there was
    nothing to append, 0 if nothing of it is kept. A message that was changed is appended as its own replacement."""
    known = _known(about, branches.lineage(tx, found.no, branch))
    new: list[tuple[Item, log.Draft, int]] = []
    for item in items:
        first, said = known.get(item.id, (0, None))
        if said == item.digest or (item.also and item.also in known):
            continue
        known[item.id] = (first, item.digest)
        draft = item.draft
        if first and draft[0].kind in ("message", "event"):
            draft = log.replacing(draft, first)
        new.append((item, draft, first))
    if not new:
        return None
    erased.refuse_messages(tx, found.id, [item.id for item, _, _ in new], any=about.erased_messages)
    name = branches.tree(tx, found.no)[branch][0] if branch else MAIN
    seqs = append(tx, found, [draft for _, draft, _ in new], name)
    tx.many(
        "insert into checkpoint_messages (user_no, conversation_no, message_id, branch_no, seq, first_seq, digest)"
        " values (:user_no, :c, :id, :b, :seq, :first, :digest)",
        [
            (tx.user, found.no, item.id, branch, seq, first or seq, item.digest)
            for (item, _, first), seq in zip(new, seqs, strict=True)
            if seq
        ],
    )
    # What was thought stands behind what was said.
    return max((seq + (draft[4] is not None) for (_, draft, _), seq in zip(new, seqs, strict=True) if seq), default=0)


def _known(about: _Asked, lineage: Lineage) -> dict[str, tuple[int, bytes | None]]:
    """Message id -> (the event it stands for, digest of what it said last), as this lineage has it."""
    own = dict(lineage)
    newest: dict[str, tuple[int, int, bytes]] = {}
    for asked in about.messages:
        for id, b, seq, first, said in asked():
            if seq <= own.get(b, -1) and seq > newest.get(id, (0, 0, b""))[0]:
                newest[id] = (seq, first, bytes(said))
    return {id: (first, said) for id, (_, first, said) in newest.items()}


# -- writes


class Write:
    __slots__ = ("channel", "idx", "stored", "value")

    def __init__(self, idx: int, channel: str, value: Value) -> None:
        self.idx = idx
        self.channel = channel
        self.value = value
        if value.inline is not None:
            self.stored = value.inline
        else:
            assert value.key is not None
            stored = value.pieces.pop(value.key)
            self.stored = stored if isinstance(stored, tuple) else stored()


def put_writes(
    tx: Tx, conversation: str, namespace: str, checkpoint: str, task: str, path: str, writes: Sequence[Write],
    mine: Stored, known_as: int,
) -> Found:  # fmt: skip
    """Keep what a task wrote. A write that is there stays, but for those that say how a task ended. Returns the
    conversation."""
    # Tasks write side by side; only who may have to make the secret of the hash does so alone.
    looked = conversations.looking(tx, conversation, tx.for_adding if known_as else tx.for_update)
    any = erased.asking(tx, erased.CHECKPOINT)
    found = _enter(tx, conversation, looked)
    erased.refuse_checkpoint(tx, conversation, checkpoint, any=any)
    _same_secret(tx, found.no, mine, known_as)
    _add(tx, found.no, [w.value for w in writes], frozenset())
    again = bool(writes) and all(w.idx < 0 for w in writes)
    rows = []
    for w in writes:
        row = (namespace, checkpoint, task, w.idx, path, w.channel, *w.stored)
        rows.append((tx.user, found.no, *row, _crc(row)))
    if rows:
        tx.many(_WRITE + (_AGAIN if again else "nothing"), rows)
    return found


def _writes(tx: Tx, no: int, namespace: str, ids: Sequence[str]) -> dict[str, list[Row]]:
    """(task, channel, type, data) of what was written since each checkpoint, in the order of the tasks."""
    found: dict[str, list[Row]] = {id: [] for id in ids}
    marks = _marks("i", ids)
    rows = tx.all(
        "select namespace, checkpoint_id, task_id, idx, task_path, channel, type, data, checksum from checkpoint_writes"
        " where user_no = :user and conversation_no = :c and namespace = :ns"
        f" and checkpoint_id in ({', '.join(':' + m for m in marks)})",
        c=no, ns=namespace, **marks,
    )  # fmt: skip
    rows.sort(key=lambda row: (row[4], row[2], row[3]))
    for row in rows:
        if _crc(row[:8]) != row[8]:
            raise Damaged(f"A write of checkpoint {row[1]!r} is not what was written. {_DAMAGED}")
        found[row[1]].append((row[2], row[5], row[6], row[7]))
    return found


def _marks(prefix: str, values: Sequence[Any]) -> dict[str, Any]:
    """Parameters for several values: one, or as many as a few sizes of statement take, the last one repeated."""
    size = next(n for n in (1, *AT_ONCE) if n >= len(values))
    return {f"{prefix}{i}": values[min(i, len(values) - 1)] for i in range(size)}


# -- reading


class Loaded:
    """A checkpoint as it is stored. Its values are in `have`, which may be shared with others of one conversation."""

    def __init__(self, found: Found, row: Row, writes: list[Row], have: Have) -> None:
        self.no = found.no
        self.conversation = found.id
        self.namespace, self.id, self.parent = row[0], row[1], row[2]
        self.branch, self.seq, self.source, self.step = row[3], row[4], row[5], row[6]
        state = _state(row)
        self.head: dict[str, Any] = state["head"]
        self.metadata: Any = state["metadata"]
        self.values: dict[str, bytes | Stored] = {
            channel: bytes.fromhex(v) if isinstance(v, str) else (v[0], b64decode(v[1]))
            for channel, v in state["values"].items()
        }
        self.writes = writes
        self.have = have

    def wanted(self, channels: Iterable[str] | None = None) -> list[bytes]:
        """The keys that its values and writes start from."""
        keys = [v for c, v in self.values.items() if isinstance(v, bytes) and (channels is None or c in channels)]
        for _, channel, type, data in self.writes:
            if type == LIST and (channels is None or channel in channels):
                keys += keys_in(data)
        return keys


def get(
    tx: Tx, conversation: str, namespace: str, id: str | None, branch: str | Branch | None, have: Have,
) -> Loaded | None:  # fmt: skip
    found = there(tx, conversation)
    if found is None:
        return None
    if id is not None:
        row = _row(tx, found.no, namespace, id)
    else:
        row = _newest(tx, found.no, namespace, branches.lineage(tx, found.no, branches.number(tx, found, branch)))
    if row is None:
        return None
    if id is None and not namespace and row[3] != branches.number(tx, found, branch):
        writes: list[Row] = []  # forked in the log: what was written since belongs to the branch that went on from here
    else:
        writes = _writes(tx, found.no, namespace, [row[1]])[row[1]]
    loaded = Loaded(found, row, writes, have)
    collect(tx, found.no, loaded.wanted(), have)
    return loaded


def find(
    tx: Tx,
    conversation: str | None,
    namespace: str | None,
    id: str | None,
    before: str | None,
    source: str | None,
    step: int | None,
    limit: int | None,
) -> list[tuple[int, str, str]]:
    """(conversation, namespace, checkpoint) of what fits, newest first."""
    clause = ""
    if namespace is not None:
        clause += " and k.namespace = :ns"
    if id is not None:
        clause += " and k.checkpoint_id = :id"
    if before is not None:
        clause += " and k.checkpoint_id < :before"
    if source is not None:
        clause += " and k.source = :source"
    if step is not None:
        clause += " and k.step = :step"
    asked = {"ns": namespace, "id": id, "before": before, "source": source, "step": step}
    params: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    if conversation is not None:
        found = there(tx, conversation)
        if found is None:
            return []
        rows = tx.all(
            "select k.conversation_no, k.namespace, k.checkpoint_id from checkpoints k where k.user_no = :user"
            f" and k.conversation_no = :c{clause} order by k.checkpoint_id desc limit :limit",
            c=found.no, limit=NO_LIMIT if limit is None else limit, **params,
        )  # fmt: skip
    else:
        rows = tx.all(
            "select k.conversation_no, k.namespace, k.checkpoint_id from conversations c join checkpoints k"
            " on k.user_no = c.user_no and k.conversation_no = c.no where c.user_no = :user and c.deleted_at is null"
            f"{clause} order by k.checkpoint_id desc limit :limit",
            limit=NO_LIMIT if limit is None else limit, **params,
        )  # fmt: skip
    return [(row[0], row[1], row[2]) for row in rows]


def load(tx: Tx, places: Sequence[tuple[int, str, str]], have: dict[int, Have]) -> list[Loaded]:
    """Several checkpoints, their shared values read once. What was deleted meanwhile is left out."""
    found: dict[tuple[int, str, str], Loaded] = {}
    for no, namespace in dict.fromkeys(place[:2] for place in places):
        owner = tx.one("select id, last_seq, active_branch from conversations where user_no = :user and no = :c", c=no)
        if owner is None:
            continue
        ids = [place[2] for place in places if place[:2] == (no, namespace)]
        marks = _marks("i", ids)
        rows = tx.all(
            f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c and namespace = :ns"
            f" and checkpoint_id in ({', '.join(':' + m for m in marks)})",
            c=no, ns=namespace, **marks,
        )  # fmt: skip
        writes = _writes(tx, no, namespace, ids)
        for row in rows:
            place = (no, namespace, row[1])
            found[place] = Loaded(conversations.Found(no, *owner), row, writes[row[1]], have.setdefault(no, {}))
    for no in {place[0] for place in found}:
        collect(tx, no, [key for loaded in found.values() if loaded.no == no for key in loaded.wanted()], have[no])
    return [found[place] for place in places if place in found]


def ancestors(
    tx: Tx, conversation: str, namespace: str, id: str | None, channels: Sequence[str], branch: str | Branch | None
) -> list[Loaded]:
    """The checkpoints above one, nearest first, as far up as one of the channels has no stored value yet."""
    found = there(tx, conversation)
    if found is None:
        return []
    if id is None:
        id = latest(tx, found, namespace, branch)
    row = None if id is None else _row(tx, found.no, namespace, id)
    chain: list[Loaded] = []
    have: Have = {}
    left, seen = set(channels), {id}
    while row is not None and left and row[2] is not None and row[2] not in seen:
        seen.add(row[2])
        row = _row(tx, found.no, namespace, row[2])
        if row is not None:
            loaded = Loaded(found, row, _writes(tx, found.no, namespace, [row[1]])[row[1]], have)
            collect(tx, found.no, loaded.wanted(left), have)
            left -= loaded.values.keys()
            chain.append(loaded)
    return chain


def listing(
    tx: Tx, conversation: str, *, limit: int, before: str | None, branch: str | Branch | None
) -> list[Checkpoint]:
    """The checkpoints of the graph itself, newest first."""
    found = conversations.find(tx, conversation)
    known = branches.tree(tx, found.no)
    only = None if branch is None else branches.number(tx, found, branch)
    rows = tx.all(
        "select checkpoint_id, parent_id, branch_no, seq, source, step, node, created_at from checkpoints"
        " where user_no = :user and conversation_no = :c and namespace = '' and (cast(:before as text) is null"
        " or checkpoint_id < :before) and (cast(:b as bigint) is null or branch_no = :b)"
        " order by checkpoint_id desc limit :limit",
        c=found.no, before=before, b=only, limit=limit,
    )  # fmt: skip
    return [
        Checkpoint(
            id=id, conversation_id=found.id, parent=parent, branch=known[b][0], seq=seq, source=source, step=step,
            node=node, created_at=at, preview=branches.preview(tx, found.no, branches.climb(known, b, seq)),
        )
        for id, parent, b, seq, source, step, node, at in rows
    ]  # fmt: skip


def start(tx: Tx, conversation: str, branch: str | Branch | None) -> str | None:
    """The checkpoint from which a branch starts, if it was forked in the log and no graph has run on it yet."""
    found = there(tx, conversation)
    if found is None:
        return None
    id = latest(tx, found, "", branch)
    row = None if id is None else _row(tx, found.no, "", id)
    return None if row is None or row[3] == branches.number(tx, found, branch) else id


# -- deleting, copying


def drop_runs(tx: Tx, runs: Iterable[str]) -> None:
    for run in runs:
        rows = tx.all(
            "delete from checkpoints where user_no = :user and run_id = :run"
            " returning conversation_no, namespace, checkpoint_id",
            run=run,
        )
        _forget(tx, rows)


def _forget(tx: Tx, places: Sequence[Row]) -> None:
    """The writes of checkpoints that are gone go too; what they shared with others is swept by a job."""
    for no, namespace, id in places:
        tx.run(
            "delete from checkpoint_writes where user_no = :user and conversation_no = :c and namespace = :ns"
            " and checkpoint_id = :id",
            c=no, ns=namespace, id=id,
        )  # fmt: skip
    for no in {place[0] for place in places}:
        jobs.enqueue(tx, "sweep", f"{no}:0", delay_ms=SWEEP_DELAY_MS)


def prune(tx: Tx, conversation: str, *, keep: int, before: int | None = None) -> int:
    """Leave the newest `keep` checkpoints of every namespace on every branch, and those not older than `before`. Whatever a
    branch goes on from stays, and so does what a channel that is stored as changes needs above it. Returns how many went."""
    found = there(tx, conversation, lock=True)
    if found is None:
        return 0
    rows = {
        (row[0], row[1]): row
        for row in tx.all(
            f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c order by checkpoint_id desc",
            c=found.no,
        )
    }
    kept: set[tuple[str, str]] = set()
    counted: dict[tuple[str, int], int] = {}
    for place, row in rows.items():
        n = counted[row[0], row[3]] = counted.get((row[0], row[3]), 0) + 1
        if n <= keep or (before is not None and row[9] >= before):
            kept.add(place)
    if keep:
        known = branches.tree(tx, found.no)
        for branch in known:
            goes_on = _latest(tx, found.no, "", branches.climb(known, branch))
            if goes_on is not None:
                kept.add(("", goes_on))
    for place in list(kept):
        kept |= _needed(rows, place)
    gone = [(found.no, *place) for place in rows if place not in kept]
    tx.many(
        "delete from checkpoints where user_no = :user_no and conversation_no = :c and namespace = :ns and checkpoint_id = :id",
        [(tx.user, *place) for place in gone],
    )
    _forget(tx, gone)
    return len(gone)


def _needed(rows: Mapping[tuple[str, str], Row], place: tuple[str, str]) -> set[tuple[str, str]]:
    """The checkpoints above one that hold what its delta channels are made of, up to a stored value of each."""
    state = _state(rows[place])
    counters = state["metadata"].get("counters_since_delta_snapshot") if isinstance(state["metadata"], dict) else None
    left = {channel for channel in counters or () if channel not in state["values"]}
    needed: set[tuple[str, str]] = set()
    while left:
        parent = rows[place][2]
        place = (place[0], parent or "")
        if parent is None or place not in rows or place in needed:
            break
        needed.add(place)
        left -= _state(rows[place])["values"].keys()
    return needed


def sweep(tx: Tx, no: int) -> int:
    """Delete the pieces that nothing refers to any more. Returns how many."""
    row = tx.one("select no from conversations where user_no = :user and no = :c" + tx.for_update, c=no)
    if row is None:
        return 0
    inner: dict[bytes, list[bytes]] = {}
    every: set[bytes] = set()
    for key, type, data in tx.all(
        "select key, type, case when type in ('=list', '=group') then data end from checkpoint_pieces"
        " where user_no = :user and conversation_no = :c",
        c=no,
    ):
        every.add(bytes(key))
        if type in (LIST, GROUP):
            inner[bytes(key)] = keys_in(data)
    todo: list[bytes] = [b""]
    for row in tx.all(f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c", c=no):
        todo += [bytes.fromhex(v) for v in _state(row)["values"].values() if isinstance(v, str)]
    for (data,) in tx.all(
        "select data from checkpoint_writes where user_no = :user and conversation_no = :c and type = '=list'", c=no
    ):
        todo += keys_in(data)
    reached: set[bytes] = set()
    while todo:
        key = todo.pop()
        if key not in reached:
            reached.add(key)
            todo += inner.get(key, ())
    gone = every - reached
    tx.many(
        "delete from checkpoint_pieces where user_no = :user_no and conversation_no = :c and key = :key",
        [(tx.user, no, key) for key in gone],
    )
    return len(gone)


def check(tx: Tx, no: int) -> list[str]:
    """What is wrong with the state of a conversation. Encrypted values are not looked into."""
    wrong: list[str] = []
    asked: dict[bytes, str] = {}
    sealed = secret(tx, no)
    for row in tx.all(f"select {COLUMNS} from checkpoints where user_no = :user and conversation_no = :c", c=no):
        try:
            state = _state(row)
            asked |= {bytes.fromhex(v): row[1] for v in state["values"].values() if isinstance(v, str)}
            for task, _, type, data in _writes(tx, no, row[0], [row[1]])[row[1]]:
                asked |= dict.fromkeys(keys_in(data) if type == LIST else (), f"{row[1]}, task {task}")
        except Damaged:
            wrong.append(f"checkpoint {row[1]} or what was written since is not what was written")
    if asked and sealed is None:
        return [*wrong, "the key of its graph's state is missing"]
    there: set[bytes] = set()
    after = b""
    while page := tx.all(
        "select key, type, data from checkpoint_pieces where user_no = :user and conversation_no = :c and key > :after"
        " order by key limit :page",
        c=no, after=after, page=500,
    ):  # fmt: skip
        for key, type, data in page:
            key = bytes(key)
            there.add(key)
            if not _is_sound(sealed, key, type, data):
                wrong.append(f"a value of its graph's state ({key.hex()}) is not what was written")
            elif type in (LIST, GROUP):
                asked |= dict.fromkeys(keys_in(data), key.hex())
        after = bytes(page[-1][0])
    wrong += [f"a value of its graph's state is missing ({asked[key]})" for key in asked if key not in there]
    return wrong


def _is_sound(sealed: Stored | None, key: bytes, type: str, data: bytes) -> bool:
    if sealed is None or sealed[0] != "bytes" or "+" in type:
        return True
    try:
        if type == CHUNK:
            return unchunked(key, data)[0] > 0
        return digest(sealed[1], type, data) == key
    except Damaged:
        return False


def rewrite(
    tx: Tx, loaded: Loaded, values: Mapping[str, Value], metadata: Any, writes: Mapping[int, Write]
) -> None:  # fmt: skip
    """Put other values in the place of some of a checkpoint's, and of some of what was written since (by its place among
    `loaded.writes`); what is not referred to any more is swept by a job."""
    row = _row(tx, loaded.no, loaded.namespace, loaded.id)
    if row is None:
        return  # deleted meanwhile
    state = _state(row)
    state["values"] |= {channel: value.plain() for channel, value in values.items()}
    state["metadata"] = metadata
    _add(tx, loaded.no, [*values.values(), *(w.value for w in writes.values())], frozenset())
    packed = _pack(state)
    tx.run(
        "update checkpoints set state = :state, checksum = :crc where user_no = :user and conversation_no = :c"
        " and namespace = :ns and checkpoint_id = :id",
        c=loaded.no, ns=loaded.namespace, id=loaded.id, state=packed, crc=_crc((*row[:10], packed)),
    )  # fmt: skip
    rows = tx.all(
        "select task_id, idx, task_path, channel from checkpoint_writes where user_no = :user and conversation_no = :c"
        " and namespace = :ns and checkpoint_id = :id",
        c=loaded.no, ns=loaded.namespace, id=loaded.id,
    )  # fmt: skip
    rows.sort(key=lambda row: (row[2], row[0], row[1]))
    for i, write in writes.items():
        task, idx, path, channel = rows[i]
        again = (loaded.namespace, loaded.id, task, idx, path, channel, *write.stored)
        tx.many(_WRITE + _AGAIN, [(tx.user, loaded.no, *again, _crc(again))])
    jobs.enqueue(tx, "sweep", f"{loaded.no}:0")


def copy(tx: Tx, source: str, target: str) -> None:
    """A conversation with its log and its state once more, under another id."""
    found = conversations.find(tx, source, lock=True)
    row = tx.one("select no, last_seq from conversations where user_no = :user and id = :id", id=target)
    if row is not None:
        raise AlreadyExists(f"There already is a conversation {target!r}: erase it first, or copy to another id.")
    no = log.copy(tx, found, target)
    for table, columns in (
        ("checkpoints", COLUMNS),
        ("checkpoint_writes", "namespace, checkpoint_id, task_id, idx, task_path, channel, type, data, checksum"),
        ("checkpoint_pieces", "key, type, data"),
        ("checkpoint_messages", "message_id, branch_no, seq, first_seq, digest"),
    ):
        tx.run(
            f"insert into {table} (user_no, conversation_no, {columns})"
            f" select user_no, cast(:target as bigint), {columns} from {table}"
            " where user_no = :user and conversation_no = :c",
            c=found.no, target=no,
        )  # fmt: skip
