"""Errors: typed, from one tree, saying what is wrong; and nothing was written."""

import re
import threading
import time

import pytest

import recollect
from recollect import errors
from recollect.errors import InvalidInput, NotFound, RecollectError

BAD_IDS = {
    "empty": "",
    "blank": "  \u2003",
    "over-long": "x" * 257,
    "newline": "a\nb",
    "tab": "a\tb",
    "nul": "a\0b",
    "escape": "a\x1b[31mb",
    "delete": "a\x7f",
    "bidi override": "a\u202eb",
    "zero width": "a\u200bb",
    "byte order mark": "\ufeffa",
    "line separator": "a\u2028b",
    "lone surrogate": "a\ud800",
    "number": 5,
    "bytes": b"a",
    "none": None,
}


@pytest.mark.parametrize("bad", [v for k, v in BAD_IDS.items() if k != "none"], ids=[k for k in BAD_IDS if k != "none"])
def test_an_id_that_cannot_be_one_is_refused_by_every_verb(store: recollect.Store, bad: str) -> None:
    for verb in (
        lambda: store.create(bad),
        lambda: store.create(workflow_id=bad),
        lambda: store.get(bad),
        lambda: store.read(bad),
        lambda: store.messages(bad),
        lambda: store.append(bad, role="user", text="x"),
        lambda: store.rename(bad, "x"),
        lambda: store.delete(bad),
        lambda: store.restore(bad),
        lambda: store.clear(bad),
        lambda: store.erase(conversation=bad),
        lambda: store.fork(bad),
        lambda: store.for_user(bad),
    ):
        with pytest.raises(InvalidInput):
            verb()
    assert store.conversations() == []


@pytest.mark.parametrize("bad", [v for k, v in BAD_IDS.items() if k != "none"], ids=[k for k in BAD_IDS if k != "none"])
def test_a_user_that_cannot_be_one_is_refused(url: str, bad: str) -> None:
    with pytest.raises(InvalidInput, match="user"):
        recollect.open(url, user=bad)


def test_the_message_names_the_culprit(store: recollect.Store) -> None:
    with pytest.raises(InvalidInput, match=r"U\+202E"):
        store.create("a\u202eb")
    with pytest.raises(InvalidInput, match=r"300 characters; at most 256"):
        store.create("x" * 300)


def test_the_user_is_local_unless_said(url: str) -> None:
    with recollect.open(url) as store:
        assert store.user == "local"


EVERY_VERB_WITH_AN_ID = {
    "get": lambda s: s.get("nobody"),
    "read": lambda s: s.read("nobody"),
    "read *": lambda s: s.read("nobody", branch="*"),
    "messages": lambda s: s.messages("nobody"),
    "formatted_history": lambda s: s.formatted_history("nobody"),
    "with_history": lambda s: s.with_history("nobody", "x"),
    "ledger": lambda s: s.ledger("nobody"),
    "reasoning": lambda s: s.reasoning("nobody"),
    "branches": lambda s: s.branches("nobody"),
    "append": lambda s: s.append("nobody", role="user", text="x"),
    "append artifact": lambda s: s.append("nobody", kind="artifact", path="x"),
    "append_many": lambda s: s.append_many("nobody", [{"role": "user", "text": "x"}]),
    "record_workflow_event": lambda s: s.record_workflow_event("nobody", {"type": "x"}),
    "delete_event": lambda s: s.delete_event("nobody", 1),
    "rename": lambda s: s.rename("nobody", "x"),
    "delete": lambda s: s.delete("nobody"),
    "restore": lambda s: s.restore("nobody"),
    "clear": lambda s: s.clear("nobody"),
    "erase": lambda s: s.erase(conversation="nobody"),
    "fork": lambda s: s.fork("nobody"),
    "switch": lambda s: s.switch("nobody", "main"),
    "summarize": lambda s: s.summarize("nobody"),
}


@pytest.mark.parametrize("verb", EVERY_VERB_WITH_AN_ID)
def test_an_unknown_conversation_is_not_found(store: recollect.Store, verb: str) -> None:
    with pytest.raises(NotFound, match="'nobody'"):
        EVERY_VERB_WITH_AN_ID[verb](store)


def test_ids_are_found_by_equality_only(store: recollect.Store) -> None:
    store.create("trip1")
    for near in ("trip", "trip10", "TRIP1", "trip1 ", "trip_", "trip%", "*"):
        with pytest.raises(NotFound):
            store.get(near)


def test_one_root_catches_them_all(store: recollect.Store) -> None:
    for verb in (lambda: store.get("nobody"), lambda: store.create(""), lambda: store.conversations(limit=-1)):
        with pytest.raises(RecollectError):
            verb()


def test_they_are_pythons_own_kinds_too() -> None:
    assert issubclass(errors.InvalidInput, ValueError)
    assert issubclass(errors.NotFound, LookupError)
    assert issubclass(errors.ConversationDeleted, errors.NotFound)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    classes = {n: c for n, c in vars(errors).items() if isinstance(c, type) and issubclass(c, Exception)}
    assert errors.__doc__ is not None
    drawn = [line for line in errors.__doc__.splitlines() if line.strip(" │├└─")]
    stack: list[tuple[int, str]] = []
    seen = {}
    for line in drawn:
        name = line.lstrip(" │├└─").split()[0]
        if name in classes:
            depth = line.index(name)
            while stack and stack[-1][0] >= depth:
                stack.pop()
            seen[name] = stack[-1][1] if stack else "Exception"
            stack.append((depth, name))
    assert seen == {name: c.__bases__[0].__name__ for name, c in classes.items()}
    assert all(c.__doc__ for c in classes.values())


@pytest.mark.parametrize("where", ["mysql://h/db", "http://x", "", "   ", "a\0b"])
def test_an_address_that_is_none_is_refused(where: str) -> None:
    with pytest.raises(InvalidInput):
        recollect.open(where, user="alex")


def test_a_password_is_in_no_message_and_no_repr() -> None:
    address = "postgresql://someone:pa55word@127.0.0.1:1/none"
    with pytest.raises(errors.Unavailable) as caught:
        recollect.open(address, user="alex", connect_timeout_ms=300)
    seen: BaseException | None = caught.value
    assert "pa55word" not in str(seen)
    assert "127.0.0.1" in str(seen)


def test_a_postgres_store_does_not_show_its_password(postgres_url: str) -> None:
    from urllib.parse import urlsplit

    secret = urlsplit(postgres_url).password
    assert secret
    with recollect.open(postgres_url, user="alex") as store:
        assert secret not in store.location
        assert secret not in repr(store)
        store.close()
        with pytest.raises(errors.StoreClosed) as caught:
            store.conversations()
        assert secret not in str(caught.value)


def test_why_a_server_cannot_be_reached_is_said_at_once(postgres_url: str) -> None:
    """It was called a timeout, after five seconds, whatever the server had said."""
    wrong = {
        re.sub(r":[^:/@]*@", ":pa55word@", postgres_url): 'password authentication failed for user "',
        re.sub(r"/[^/]*$", "/nowhere", postgres_url): 'database "nowhere" does not exist',
        "postgresql://someone:pa55word@127.0.0.1:1/none": "Connection refused. Is the server running?",
    }
    for address, why in wrong.items():
        began = time.monotonic()
        with pytest.raises(errors.Unavailable) as caught:
            recollect.open(address, user="alex", connect_timeout_ms=60_000)
        assert time.monotonic() - began < 20
        assert why in str(caught.value)
        assert "within" not in str(caught.value)
        assert "pa55word" not in str(caught.value)


def test_a_pool_that_is_taken_is_not_called_a_server_that_is_away(postgres_url: str) -> None:
    import psycopg

    with recollect.open(postgres_url, user="alex", pool_max=1, connect_timeout_ms=500) as store:
        store.create("c")
        with psycopg.connect(postgres_url) as other:
            other.execute("lock table recollect.events in access exclusive mode")
            waiting = threading.Thread(target=lambda: store.append("c", role="user", text="It waits."))
            waiting.start()
            busy = "select 1 from pg_locks where not granted and relation = 'recollect.events'::regclass"
            while not other.execute(busy).fetchone():
                time.sleep(0.01)
            with pytest.raises(errors.Unavailable, match=r"did not answer within 0\.5 s\..*pool_max"):
                store.read("c")
            other.rollback()
            waiting.join()
        assert [e.text for e in store.messages("c")] == ["It waits."]


@pytest.mark.parametrize("password", ["pa55%zz", "pa55@pa55", "pa55/pa55", "pa55:@/pa55"])
def test_a_password_that_should_be_encoded_is_not_shown_either(password: str) -> None:
    """What such an address means is anybody's guess: libpq's own words would show a part of the password."""
    with pytest.raises((errors.Unavailable, InvalidInput), match="%40") as caught:
        recollect.open(f"postgresql://someone:{password}@127.0.0.1:1/none", user="alex", connect_timeout_ms=300)
    assert "pa55" not in f"{caught.value} {caught.value.__cause__}"
