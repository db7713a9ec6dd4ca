"""The API fits on a screen. To change it, change it here as well, and in the CHANGELOG."""

import inspect
from dataclasses import FrozenInstanceError

import pytest

import recollect

NAMES = """
Admin AsyncStore Backup Branch Change Changes Checkpoint Consolidation Context ContextItem Conversation Entry Event Expiry Hit
Imported LedgerEntry
Memory MemoryChange Provenance Reasoning Receipt RecollectError Retention Salvage Scan SecretPlace Settings Stats Store
Verification admin errors open open_async
""".split()

VERBS = """
annotate append append_many backup branches changes checkpoints clear close compact consolidate context conversations create delete
delete_event erase export for_user forget fork formatted_history get get_event import_ ledger location memories memory_history messages open
pin pins read reasoning recall receipts
record_workflow_event reindex remember rename restore retain revise scan search settings settle stats summarize switch undo
unpin user verify verify_receipt with_history
""".split()


def public(of: object) -> list[str]:
    return sorted(n for n in dir(of) if not n.startswith("_"))


def test_the_names() -> None:
    assert sorted(recollect.__all__) == sorted(NAMES)


def test_every_name_is_there_however_often_it_is_asked_for() -> None:
    for _ in range(2):
        for name in recollect.__all__:
            assert getattr(recollect, name) is not None
        assert callable(recollect.open)
        assert callable(recollect.open_async)
        assert callable(recollect.admin)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        recollect.nonsense  # noqa: B018


def test_the_verbs_of_store() -> None:
    assert public(recollect.Store) == sorted(VERBS)


def test_every_verb_says_what_it_does() -> None:
    for cls in (recollect.Store, recollect.AsyncStore):
        for name in public(cls):
            assert inspect.getdoc(inspect.getattr_static(cls, name)), f"{cls.__name__}.{name}"


def test_optional_arguments_are_keywords() -> None:
    """Except the few that everyone passes by place."""
    by_place = {"create": ["id"], "fork": ["at"], "formatted_history": ["max_messages"], "with_history": ["max_messages"], "open": ["url"], "forget": ["memory"]}  # fmt: skip
    for name in VERBS:
        verb = getattr(recollect.Store, name)
        if not callable(verb):
            continue
        optional = [
            p.name
            for p in inspect.signature(verb).parameters.values()
            if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is not p.empty
        ]
        assert optional == by_place.get(name, []), name


def test_values_are_frozen_and_equal_when_equal() -> None:
    with recollect.open(":memory:", user="alex") as store:
        c = store.create()
        e = store.append(c, role="user", text="hi")
        assert store.read(c) == [e]
        assert store.get(c) == store.get(c)
        for value, field in ((c, "title"), (e, "text"), (store.branches(c)[0], "name"), (store.stats(), "events")):
            with pytest.raises(FrozenInstanceError):
                setattr(value, field, "changed")


def test_the_version_is_a_version() -> None:
    assert recollect.__version__.count(".") == 2
