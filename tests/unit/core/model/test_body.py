"""Bodies and maps that may be compared, hashed and kept, and what is left out of them."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest

from gate.core.model.body import Body, FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody, body_digest
from gate.core.model.environment_values import names_images, with_values, without_values
from gate.core.model.objects import Template
from gate.core.ssa.last_applied import LAST_APPLIED, with_last_applied, without_last_applied


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


KEYS = Body.of({"kind": "Secret", "metadata": {"name": "keys"}, "data": {"pin": "MTIzNA=="}})


@pytest.mark.contract("B702")
def test_the_digest_of_a_secret_is_keyed_with_its_uid() -> None:
    """Who tries out values cannot compare them: without the uid each has any digest."""
    digest = body_digest("Secret", "u-1", KEYS)
    assert digest == body_digest("Secret", "u-1", KEYS)
    assert digest != body_digest("Secret", "u-2", KEYS)
    assert digest != body_digest("Secret", "", KEYS)
    guessed = hashlib.sha256(KEYS.canonical).hexdigest()
    assert not guessed.startswith(digest)
    assert ConfidentialBody("Secret", "u-1", KEYS).digest == digest


def test_the_digest_of_anything_else_is_the_same_in_each_object() -> None:
    """What was deleted and created again is still what was verified."""
    digests = {body_digest("ConfigMap", uid, KEYS) for uid in ("u-1", "u-2")}
    assert len(digests) == 1


SECRET = "hunter2-hunter2"
PODS: dict[str, Any] = {
    "containers": [
        {"name": "web", "env": [{"name": "PASSWORD", "value": SECRET}, {"name": "EMPTY"}]}
    ],
    "initContainers": [
        {"name": "init", "env": [{"name": "KEY", "valueFrom": {"secretKeyRef": {"name": "x"}}}]}
    ],
}
BODIES: dict[str, dict[str, Any]] = {
    "Deployment": {"spec": {"template": {"spec": PODS}}},
    "CronJob": {"spec": {"jobTemplate": {"spec": {"template": {"spec": PODS}}}}},
    "Pod": {"spec": PODS},
    "List": {"items": [{"spec": PODS}]},
}


@pytest.mark.contract("B702")
@pytest.mark.parametrize("kind", BODIES)
def test_values_are_left_out_wherever_the_pods_are(kind: str) -> None:
    """And come back from a template that has them; without one there is no body."""
    body = Body.of(BODIES[kind])
    bare = without_values(body)
    assert SECRET not in bare.canonical.decode()
    assert with_values(bare, Template(Body.of({"spec": PODS}), ())) == body
    assert with_values(bare, None) is None


@pytest.mark.contract("B702")
def test_a_body_without_values_is_whole_without_a_template() -> None:
    """A ConfigMap whose data looks like an environment stays as it is."""
    body = Body.of({"data": {"env": "PASSWORD=x"}})
    assert with_values(without_values(body), None) == body


@pytest.mark.contract("B1690")
def test_an_image_of_others_comes_from_the_template() -> None:
    """One that the body names stays; of a container that the template lacks there is none."""

    def workload(**images: str | None) -> Body:
        named = (
            {"name": one, **({"image": image} if image else {})} for one, image in images.items()
        )
        return Body.of({"spec": {"template": {"spec": {"containers": [*named]}}}})

    pods = {"containers": [{"name": "web", "image": "web:2"}, {"name": "log", "image": "log:2"}]}
    whole = with_values(
        workload(web=None, log="log:1", other=None), Template(Body.of({"spec": pods}), ())
    )
    assert whole == workload(web="web:2", log="log:1", other=None)
    assert names_images(workload(web="web:2"))
    assert not names_images(workload(web=None))


@pytest.mark.contract("B65")
def test_kubectls_annotation_is_made_of_the_rest() -> None:
    """It is no part of what is remembered, and is written again where an object carries it."""
    body = {"kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"a": "b"}}
    noted = with_last_applied(body)
    assert without_last_applied(noted) == body
    assert '"data":{"a":"b"}' in noted["metadata"]["annotations"][LAST_APPLIED]
    assert with_last_applied(noted) == noted
