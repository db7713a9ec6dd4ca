"""Search shows nobody anything of anybody else: ten thousand random questions, and the second wall behind them."""

import random
import secrets
import unicodedata
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

import recollect
from recollect.errors import InvalidInput, NotFound
from talk import Hashed, exchange

USERS = [
    "user1", "user10", "user", "USER1", "User1", "user1 ", " user1", "user_", "user%", "uѕer1", "ｕｓｅｒ１", "user1'--", "*", "🎉",
    unicodedata.normalize("NFD", "üser1"), unicodedata.normalize("NFC", "üser1"), "user1:c:1", "0", "u1", '"user1"',
]  # fmt: skip
CASES = {"sqlite": 7_500, "postgres": 2_500}
WORDS = "heron quokka numbat okapi zebra walrus puffin lemur".split()
SAME = ["c", "shared", "user1", "1"]


@pytest.fixture
def crowd(url: str) -> Iterator[dict[str, recollect.Store]]:
    """Everyone has conversations of the same names and workspaces, and says the same words beside a mark of her own."""
    with recollect.open(url, user=USERS[0], background=False, embedder=Hashed(), summaries=False) as store:
        found = {}
        for n, user in enumerate(USERS):
            mine = found[user] = store if n == 0 else store.for_user(user)
            rng = random.Random(n)
            for c in SAME:
                mine.create(c, title=f"{rng.choice(WORDS)} mark{n}x", workspace=rng.choice(["/w", "/w1", None]))
                mine.append_many(c, [
                    {"role": rng.choice(["user", "assistant"]), "text": f"{' '.join(rng.choices(WORDS, k=4))} mark{n}x"}
                    for _ in range(4)
                ])  # fmt: skip
                mine.append(
                    c, kind="tool_use", tool="Read", path=f"{rng.choice(WORDS)}.py", text=f"mark{n}x", tags=["zebra"]
                )
            mine.fork("c", 2, name="idea")
            mine.append("c", role="user", text=f"heron on a branch mark{n}x", branch="idea")
            for i in range(3):
                mine.remember(
                    f"{' '.join(rng.choices(WORDS, k=3))} {i} mark{n}x",
                    tags=["zebra"],
                    workspace=rng.choice([None, "/w"]),
                )
            mine.remember(f"heron for c mark{n}x", conversation="c")
        for n, mine in enumerate(found.values()):
            if n % 3:  # some are embedded, some not yet
                mine.settle()
        yield found


def question(rng: random.Random) -> str:
    """Words that everyone uses, another's mark, or what might be taken for a part of the query."""
    pieces = [
        *rng.choices(WORDS, k=2),
        f"mark{rng.randrange(len(USERS))}x",
        *rng.choices([*USERS, "7 May", "OR", '" OR "', "u1", "e m", "%"], k=1),
    ]
    rng.shuffle(pieces)
    return " ".join(pieces[: rng.randint(1, 4)]).strip() or "heron"


def ask(store: recollect.Store, rng: random.Random) -> list[Any]:
    """Something from one of the read paths."""
    c, q = rng.choice(SAME), question(rng)
    scope: dict[str, Any] = {}
    if rng.random() < 0.3:
        scope["workspace"] = rng.choice(["/w", "/w1", "/", "%"])
    verb = rng.randrange(12)
    if verb < 4:
        more: dict[str, Any] = rng.choice([
            {}, {}, {"conversation": c}, {"conversation": "c", "branch": "idea"}, {"branch": "*"}, {"tool": "Read"},
            {"types": "memories"}, {"types": "events"}, {"workspaces": ["/w", "/w1"]}, {"kinds": ["message"]},
            {"since": 1, "until": 1 << 60}, {"limit": 100},
        ])  # fmt: skip
        return list(store.search(q, **scope, **more))
    if verb < 6:
        return list(store.recall(q, tags=rng.choice([None, ["zebra"]]), conversation=rng.choice([None, c]), **scope))
    if verb < 8:
        got = store.context(q, conversation=rng.choice([None, c]), **scope)
        return [got.text, *(i.hit for i in got.items)]
    if verb == 8:
        return list(store.read(c, branch=rng.choice([None, "*"]), kinds=rng.choice([None, ["tool_use"]])))
    if verb == 9:
        return [*store.messages(c), store.formatted_history(c)]
    if verb == 10:
        return list(store.conversations(**scope))
    return [store.get(c), *store.branches(c)]


def test_ten_thousand_questions_and_no_foreign_row(crowd: dict[str, recollect.Store], backend: str) -> None:
    rng = random.Random(backend)
    marks = {user: f"mark{n}x" for n, user in enumerate(USERS)}
    seen = dict.fromkeys(USERS, 0)
    for _ in range(CASES[backend]):
        user = rng.choice(USERS)
        for answer in ask(crowd[user], rng):
            shown = repr(answer)
            foreign = [mark for other, mark in marks.items() if other != user and mark in shown]
            assert foreign == [], f"{user!r} was shown {shown}"
            seen[user] += marks[user] in shown
    assert all(n > 50 for n in seen.values()), "the test would prove nothing"


def test_strangers_find_nothing_and_forget_nothing(crowd: dict[str, recollect.Store]) -> None:
    victim = crowd["user1"]
    (memory, *_) = victim.recall("heron quokka numbat okapi zebra")
    for stranger in ("user2", "USER10", "user1\u00a0".strip() + "_", "user1x"):
        other = victim.for_user(stranger)
        assert other.search("heron mark0x", limit=100) == []
        assert other.recall("heron mark0x") == []
        assert other.context("heron mark0x").text == ""
        for verb in (lambda o=other: o.forget(memory.id), lambda o=other: o.search("heron", conversation="c"),
                     lambda o=other: o.context("heron", conversation="c"), lambda o=other: o.remember("x", conversation="c")):  # fmt: skip
            with pytest.raises(NotFound):
                verb()
        assert other.verify().ok
    assert memory.id in [h.id for h in victim.recall(memory.text)]


@pytest.mark.parametrize("nobody", ["", " ", "a\tb", "user1\u200b", "user1\n", "x" * 300])
def test_no_user_is_no_user(store: recollect.Store, nobody: str) -> None:
    with pytest.raises(InvalidInput):
        store.for_user(nobody)


def test_what_one_erases_the_others_keep(crowd: dict[str, recollect.Store]) -> None:
    for mine in crowd.values():
        mine.settle()
    for verb in ("clear", "erase", "reindex"):
        before = {u: [h.id for h in s.search("heron quokka", limit=100)] for u, s in crowd.items() if u != "user1"}
        if verb == "clear":
            crowd["user1"].clear("c")
        elif verb == "erase":
            for c in SAME:
                crowd["user1"].erase(conversation=c)
        else:
            crowd["user1"].reindex()
            for s in crowd.values():
                s.settle()
        after = {u: [h.id for h in s.search("heron quokka", limit=100)] for u, s in crowd.items() if u != "user1"}
        assert {u: set(found) for u, found in after.items()} == {u: set(found) for u, found in before.items()}
    assert all(s.verify().ok for s in crowd.values())


def test_titles_of_others_do_not_crowd_out_ones_own(store: recollect.Store) -> None:
    """Titles are numbered by conversation, not by user: the user is a part of their scope."""
    for n in range(40):
        other = store.for_user(f"other{n}")
        other.append(other.create(title="Holidays in Rome"), role="user", text="hello there")
    store.append(store.create("mine", title="Holidays in Rome"), role="user", text="hello there")
    for n in range(40, 80):
        other = store.for_user(f"other{n}")
        other.append(other.create(title="Holidays in Rome"), role="user", text="hello there")
    assert store.search("rome holidays", limit=1)[0].id == "mine:1"


# -- the second wall: a statement that forgot its WHERE

TABLES = ["memories", "vectors", "passages", "embeddings", "statistics"]
WORD_TABLES = ["words", "title_words"]


@pytest.fixture
def walled(postgres_url: str, postgres_server: Any) -> Iterator[Any]:
    """alex and kim with rows in every table of search; a connection of the store's own role, and one of an application's
    role, which owns nothing."""
    import psycopg

    role = f"reader_{secrets.token_hex(6)}"
    with recollect.open(postgres_url, user="alex", background=False, embedder=Hashed(), summaries=False) as store:
        for user in ("alex", "kim"):
            mine = store.for_user(user)
            mine.append_many(mine.create("c", title="heron"), exchange(520))
            mine.append("c", role="user", text="heron")
            mine.append("c", role="user", text="a long story. " * 200)
            mine.remember("heron")
            mine.settle()
            mine.search("heron")
        admin = postgres_server.admin_url(urlsplit(postgres_url).path.lstrip("/"))
        with psycopg.connect(admin, autocommit=True, options="-c search_path=recollect") as connection:
            connection.execute(f"create role {role} nologin")
            connection.execute(f"grant usage on schema recollect to {role}")
            connection.execute(f"grant select, delete, insert on all tables in schema recollect to {role}")
            try:
                with psycopg.connect(postgres_url, autocommit=True, options="-c search_path=recollect") as own:
                    yield own, connection, role
            finally:
                connection.execute("reset role")
                connection.execute(f"drop owned by {role}")
                connection.execute(f"drop role {role}")


def number(connection: Any, user: str) -> int:
    with connection.transaction():
        connection.execute("select set_config('recollect.user_id', %s, true)", (user,))
        return int(connection.execute("select no from users where id = %s", (user,)).fetchone()[0])


@pytest.mark.parametrize("table", TABLES)
def test_without_a_where_one_sees_and_changes_ones_own(walled: Any, table: str) -> None:
    own, _, _ = walled
    alex, kim = number(own, "alex"), number(own, "kim")
    assert own.execute(f"select count(*) from {table}").fetchone() == (0,)
    with own.transaction():
        own.execute("select set_config('recollect.user_no', %s, true)", (str(alex),))
        assert {row[0] for row in own.execute(f"select user_no from {table}")} == {alex}
        own.execute(f"delete from {table}")
    with own.transaction():
        own.execute("select set_config('recollect.user_no', %s, true)", (str(kim),))
        assert own.execute(f"select count(*) from {table}").fetchone()[0] > 0


@pytest.mark.parametrize("table", TABLES + WORD_TABLES)
def test_a_role_that_owns_nothing_sees_its_users_rows_only(walled: Any, table: str) -> None:
    own, connection, role = walled
    alex, kim = number(own, "alex"), number(own, "kim")
    connection.execute(f"set role {role}")
    assert connection.execute(f"select count(*) from {table}").fetchone() == (0,)
    with connection.transaction():
        connection.execute("select set_config('recollect.user_no', %s, true)", (str(alex),))
        assert {row[0] for row in connection.execute(f"select user_no from {table}")} == {alex}
        connection.execute(f"delete from {table}")
    with connection.transaction():
        connection.execute("select set_config('recollect.user_no', %s, true)", (str(kim),))
        assert connection.execute(f"select count(*) from {table}").fetchone()[0] > 0


@pytest.mark.parametrize("table", WORD_TABLES)
def test_the_functions_that_read_the_words_repeat_the_policy(walled: Any, table: str) -> None:
    own, connection, _ = walled
    call = f"select id from find_{table}(array['''heron'''::tsquery], array[1::bigint], array[]::text[], 1000, %s)"
    everyone = {
        no: {row[0] for row in connection.execute(f"select id from {table} where user_no = %s", (no,))}
        for no in (number(own, "alex"), number(own, "kim"))
    }
    for who in (own, connection):  # the owner, whom the policy does not bind, and a superuser too
        for newest in (False, True):
            assert who.execute(call, (newest,)).fetchall() == [], "nobody is nobody"
            for no, mine in everyone.items():
                with who.transaction():
                    who.execute("select set_config('recollect.user_no', %s, true)", (str(no),))
                    found = {row[0] for row in who.execute(call, (newest,))}
                    assert found
                    assert found <= mine
    for broken in ("", "0", "-1"):
        with own.transaction():
            own.execute("select set_config('recollect.user_no', %s, true)", (broken,))
            assert own.execute(call, (False,)).fetchall() == []


def test_a_search_whose_where_is_gone_still_shows_ones_own_only(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Every condition on the user taken out of every statement of a search: the policies remain."""
    import re

    from recollect.db import postgres_tx

    with recollect.open(postgres_url, user="alex", background=False, embedder=Hashed(), summaries=False) as store:
        kim = store.for_user("kim")
        for mine, mark in ((store, "markax"), (kim, "markbx")):
            for c in ("c", "d"):
                mine.append_many(
                    mine.create(c, title=f"heron {mark}"), [{"role": "user", "text": f"heron {mark}"} for _ in range(5)]
                )
            mine.remember(f"heron {mark}")
            mine.settle()
        real = postgres_tx.translate
        seen: list[str] = []

        def forgetful(sql: str) -> tuple[str, tuple[str, ...]]:
            without = re.sub(r"\b(\w\.)?user_no = :user\b", "true", sql)
            seen.extend([sql] if without != sql else [])
            return real(without)

        def forget_statements() -> None:
            postgres_tx._numbered.cache_clear()
            postgres_tx._block.cache_clear()

        monkeypatch.setattr(postgres_tx, "translate", forgetful)
        forget_statements()
        request.addfinalizer(forget_statements)  # nobody else is to be asked without a condition
        for mine, mark, other in ((store, "markax", "markbx"), (kim, "markbx", "markax")):
            for answer in (
                mine.search("heron", limit=100),
                mine.search("heron", conversation="c"),
                mine.recall("heron"),
                mine.context("heron"),
            ):
                assert mark in repr(answer)
                assert other not in repr(answer)
        assert len(set(seen)) > 10, "the test would prove nothing"
