"""`:name` becomes `$1` and so on; literals, casts and comments stay as they are."""

import pytest

pytest.importorskip("psycopg")

from recollect.db.postgres_tx import _block, translate


@pytest.mark.parametrize(
    ("sql", "translated", "names"),
    [
        ("select 1", "select 1", ()),
        ("select :a", "select $1", ("a",)),
        ("where a = :a and b = :b or c = :a", "where a = $1 and b = $2 or c = $1", ("a", "b")),
        (":b, :a, :b", "$1, $2, $1", ("b", "a")),
        ("(:a,:b)", "($1,$2)", ("a", "b")),
        (":user_no, :user", "$1, $2", ("user_no", "user")),
        (":k10 :k1", "$1 $2", ("k10", "k1")),
        ("select ':a', :b", "select ':a', $1", ("b",)),
        ("select 'it''s :a', :b", "select 'it''s :a', $1", ("b",)),
        ("select '', :b, ''", "select '', $1, ''", ("b",)),
        ("select :a::text", "select $1::text", ("a",)),
        ("select x::bigint, :a", "select x::bigint, $1", ("a",)),
        ("select a % 2", "select a % 2", ()),
        ("like '%x%' and :a", "like '%x%' and $1", ("a",)),
        ("select 5 %% 2, '%s'", "select 5 %% 2, '%s'", ()),
        ("-- :a is no parameter\nselect :b", "-- :a is no parameter\nselect $1", ("b",)),
        ("-- 100%\nselect :b", "-- 100%\nselect $1", ("b",)),
        ("-- it's\nselect :b", "-- it's\nselect $1", ("b",)),
        ("select '--', :b", "select '--', $1", ("b",)),
        ("a :: text", "a :: text", ()),
        ('select "a:b", :c', 'select "a:b", $1', ("c",)),
        ("select arr[1:2], :c", "select arr[1:2], $1", ("c",)),
    ],
)
def test_translation(sql: str, translated: str, names: tuple[str, ...]) -> None:
    assert translate(sql) == (translated, names)


def test_the_rest_of_a_statement_is_untouched() -> None:
    sql = "select count(*) filter (where x ->> 'k' = :v) from t /* no params */"
    assert translate(sql)[0] == sql.replace(":v", "$1")


def test_rows_go_together_where_none_can_meet_another() -> None:
    sql = "insert into t (a, b) values (:a, f(:b)) on conflict do nothing"
    assert _block(sql, 2) == b"insert into t (a, b) values ($1, f($2)), ($3, f($4)) on conflict do nothing"
    for other in (
        "update t set a = :a where b = :b",
        "insert into t (a, b) values (:a, :a)",
        "insert into t (a) values (:a) on conflict (a) do update set b = 1",
        "insert into t (a) values (:a) on conflict (a) do update set b = :b",
    ):
        assert _block(other, 2) == b"", other
