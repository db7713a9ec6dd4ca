"""`:name` becomes psycopg's `%(name)s`; literals, casts and comments stay as they are."""

import pytest

pytest.importorskip("psycopg")

from recollect.db.postgres import _numbered, _together, _written, translate


@pytest.mark.parametrize(
    ("sql", "translated", "names"),
    [
        ("select 1", "select 1", ()),
        ("select :a", "select %(a)s", ("a",)),
        ("where a = :a and b = :b or c = :a", "where a = %(a)s and b = %(b)s or c = %(a)s", ("a", "b")),
        (":b, :a, :b", "%(b)s, %(a)s, %(b)s", ("b", "a")),
        ("(:a,:b)", "(%(a)s,%(b)s)", ("a", "b")),
        (":user_no, :user", "%(user_no)s, %(user)s", ("user_no", "user")),
        (":k10 :k1", "%(k10)s %(k1)s", ("k10", "k1")),
        ("select ':a', :b", "select ':a', %(b)s", ("b",)),
        ("select 'it''s :a', :b", "select 'it''s :a', %(b)s", ("b",)),
        ("select '', :b, ''", "select '', %(b)s, ''", ("b",)),
        ("select :a::text", "select %(a)s::text", ("a",)),
        ("select x::bigint, :a", "select x::bigint, %(a)s", ("a",)),
        ("select a % 2", "select a %% 2", ()),
        ("like '%x%' and :a", "like '%%x%%' and %(a)s", ("a",)),
        ("select 5 %% 2, '%s'", "select 5 %%%% 2, '%%s'", ()),
        ("-- :a is no parameter\nselect :b", "-- :a is no parameter\nselect %(b)s", ("b",)),
        ("-- 100%\nselect :b", "-- 100%%\nselect %(b)s", ("b",)),
        ("-- it's\nselect :b", "-- it's\nselect %(b)s", ("b",)),
        ("select '--', :b", "select '--', %(b)s", ("b",)),
        ("a :: text", "a :: text", ()),
        ('select "a:b", :c', 'select "a:b", %(c)s', ("c",)),
        ("select arr[1:2], :c", "select arr[1:2], %(c)s", ("c",)),
    ],
)
def test_translation(sql: str, translated: str, names: tuple[str, ...]) -> None:
    assert translate(sql) == (translated, names)


def test_the_rest_of_a_statement_is_untouched() -> None:
    sql = "select count(*) filter (where x ->> 'k' = :v) from t /* no params */"
    assert translate(sql)[0] == sql.replace(":v", "%(v)s")


@pytest.mark.parametrize(
    ("sql", "numbered", "names"),
    [
        ("select :b, :a, :b", b"select $1, $2, $1", ("b", "a")),
        ("select a % 2, '%s', :a::text", b"select a % 2, '%s', $1::text", ("a",)),
    ],
)
def test_as_the_server_takes_it(sql: str, numbered: bytes, names: tuple[str, ...]) -> None:
    assert _numbered(sql) == (numbered, names)


def test_statements_go_together_when_each_only_writes_to_a_table() -> None:
    one, two = "insert into a (x, y) values (%s, '%%s')", "update b set x = %s where y = %s"
    assert (
        _together((one, two)) == b"with w0 as (insert into a (x, y) values ($1, '%s')) update b set x = $2 where y = $3"
    )
    assert (_written(one), _written(two)) == ("a", "b")
    for other in (
        "insert into a select 1",
        "update a set x = (select 1)",
        "insert into a (x) values (1) returning x",
        "delete from a",
    ):
        assert _written(other) is None, other
