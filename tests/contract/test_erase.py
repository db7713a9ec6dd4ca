"""erase: the only hard delete."""

from pathlib import Path

import pytest

import recollect
from recollect.errors import NotFound
from talk import Open, exchange, texts

SECRET = "the-word-nobody-may-find-7f3a91"


def test_an_erased_conversation_was_never_there(store: recollect.Store) -> None:
    c = store.create("one")
    store.append(c.id, role="user", text="hi")
    store.erase(conversation=c.id)
    with pytest.raises(NotFound) as caught:
        store.get("one")
    assert type(caught.value) is NotFound
    assert store.conversations() == store.conversations(deleted=True) == []
    with pytest.raises(NotFound):
        store.erase(conversation="one")


def test_the_receipt_counts_what_went(store: recollect.Store) -> None:
    c = store.create("one")
    store.append_many(c.id, exchange(4))
    store.delete_event(c.id, 2)
    store.fork(c.id, 1, name="idea")
    receipt = store.erase(conversation=c)
    assert receipt.request.keys() == {"conversation"}
    assert "'one'" not in str(receipt), "a hash stands for the id"
    assert receipt.ok
    assert receipt.counts["conversations"] == 1
    assert receipt.counts["events"] == 3
    assert receipt.counts["branches"] == 2
    assert receipt.erased_at >= c.created_at
    assert receipt.id


def test_what_is_in_the_bin_can_be_erased(store: recollect.Store) -> None:
    c = store.create()
    store.delete(c.id)
    assert store.erase(conversation=c.id).counts["conversations"] == 1
    assert store.conversations(deleted=True) == []


def test_an_erased_id_starts_anew(store: recollect.Store) -> None:
    store.create("one")
    store.append_many("one", exchange(3))
    store.erase(conversation="one")
    with pytest.raises(recollect.errors.Erased):
        store.create("one")
    assert store.create("one", again=True).last_seq == 0
    assert store.append("one", role="user", text="fresh").seq == 1
    assert texts(store.read("one")) == ["fresh"]
    assert store.verify().ok


def test_the_work_queued_for_it_goes_too(open_store: Open) -> None:
    store = open_store(background=False)
    c, other = store.create(), store.create()
    store.append_many(c.id, exchange(22))
    store.append_many(other.id, exchange(22))
    assert store.stats().jobs == {"queued": 2}
    assert store.erase(conversation=c.id).counts["jobs"] == 1
    assert store.stats().jobs == {"queued": 1}
    assert store.settle() == 1


def test_the_others_stay(store: recollect.Store) -> None:
    a, b = store.create(), store.create()
    store.append(a.id, role="user", text="a")
    store.append(b.id, role="user", text="b")
    store.for_user("kim").create(a.id)
    store.erase(conversation=a.id)
    assert texts(store.read(b.id)) == ["b"]
    assert store.for_user("kim").get(a.id).id == a.id


@pytest.mark.parametrize("verb", ["erase", "clear", "delete_event"])
def test_no_file_holds_a_trace_of_it(tmp_path: Path, verb: str) -> None:
    with recollect.open(tmp_path / "chat.db", user="alex") as store:
        c = store.create("one", title="harmless")
        store.append(c.id, role="user", text=SECRET * 2000, payload={"also": SECRET}, tags=[SECRET])
        store.append(c.id, role="user", text="still here")
        store.read(c.id)
        holding = [f.name for f in tmp_path.iterdir() if SECRET.encode() in f.read_bytes()]
        assert holding, "the test would prove nothing"
        if verb == "erase":
            store.erase(conversation=c.id)
        elif verb == "clear":
            store.clear(c.id)
        else:
            store.delete_event(c.id, 1)
        assert [f.name for f in tmp_path.iterdir() if SECRET.encode() in f.read_bytes()] == []
