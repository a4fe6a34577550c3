"""Values that may be compared, hashed and searched: bodies by digest, mappings without order."""

from __future__ import annotations

from gate.core.model.body import Body, FrozenMap


def test_a_body_is_its_json_whatever_the_order_of_its_keys() -> None:
    """Equal bodies have equal hashes; a change makes another one."""
    one, same = Body.of({"a": 1, "b": {"c": "ü\ud800"}}), Body.of({"b": {"c": "ü\ud800"}, "a": 1})
    assert (one, hash(one), one.thaw()) == (same, hash(same), {"a": 1, "b": {"c": "ü\ud800"}})
    assert one != Body.of({"a": 2})
    assert one != "a"


def test_a_body_is_thawed_afresh_each_time() -> None:
    """What a reader does to it stays the reader's."""
    body = Body.of({"a": []})
    body.thaw()["a"].append(1)
    assert body.thaw() == {"a": []}


def test_a_body_shows_its_digest_alone() -> None:
    """It may hold what no output should show."""
    assert "hunter2" not in repr(Body.of({"password": "hunter2"}))


def test_a_frozen_map_is_changed_by_copies() -> None:
    """`put` and `drop` leave what they were asked of."""
    base = FrozenMap({"a": 1})
    more, less = base.put("b", 2), base.drop("a")
    assert (dict(base), dict(more), dict(less)) == ({"a": 1}, {"a": 1, "b": 2}, {})
    assert base.drop("z") is base


def test_a_frozen_map_compares_and_hashes_without_order() -> None:
    """As dicts do, and it can be a key itself."""
    one, same = FrozenMap([("a", 1), ("b", 2)]), FrozenMap([("b", 2), ("a", 1)])
    assert {one: "found"}[same] == "found"
    assert one != {"a": 1, "b": 2}


def test_a_frozen_map_is_a_mapping() -> None:
    """Everything that reads a dict reads it."""
    base = FrozenMap({"a": 1})
    assert (base["a"], base.get("b"), base.get("b", 7), "a" in base, len(base)) == (
        1, None, 7, True, 1,
    )  # fmt: skip
    assert (list(base), list(base.values()), list(base.items())) == (["a"], [1], [("a", 1)])
    assert repr(base) == "FrozenMap({'a': 1})"


def test_what_changed_is_told_by_identity() -> None:
    """New keys and other values, in order, whatever the order of the earlier map."""
    same, other = Body.of({"a": 1}), Body.of({"a": 1})
    earlier = FrozenMap({"x": same, "y": same, "z": same})
    assert list(earlier.changed_since(earlier)) == []
    later = FrozenMap({"z": same, "x": other, "new": same})
    assert [key for key, _ in later.changed_since(earlier)] == ["x", "new"]
    assert [key for key, _ in earlier.changed_since(FrozenMap())] == ["x", "y", "z"]


def test_several_items_are_put_at_once() -> None:
    """The original stays as it is, and nothing put is the map itself."""
    known = FrozenMap({"x": 1, "y": 2})
    assert known.put_all({"y": 3, "z": 4}) == FrozenMap({"x": 1, "y": 3, "z": 4})
    assert known == FrozenMap({"x": 1, "y": 2})
    assert known.put_all({}) is known
