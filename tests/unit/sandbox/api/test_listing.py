"""List and watch: which version is asked for, and what the server says where it cannot be had."""

from __future__ import annotations

import pytest
from sandbox.storage.pages import PageExpired

from sandbox.api.api import Api, ApiError, Key, ListOptions, Writer

ME = Writer("alice", "kubectl")


@pytest.fixture(autouse=True)
def _configs(api: Api) -> None:
    """Have three ConfigMaps there."""
    for index, name in enumerate("abc"):
        body = {"metadata": {"name": name, "labels": {"i": str(index)}}, "data": {"x": "1"}}
        api.create("configmaps", "default", body, ME)


def names(api: Api, **options: object) -> list[str]:
    """List the ConfigMaps."""
    asked = ListOptions(**options)  # type: ignore[arg-type]
    found = api.list("configmaps", "default", options=asked)
    return [item["metadata"]["name"] for item in found["items"]]


def refusal(api: Api, **options: object) -> ApiError:
    """Return why they cannot be listed."""
    with pytest.raises(ApiError) as caught:
        names(api, **options)
    return caught.value


def watch_refusal(api: Api, **options: object) -> ApiError:
    """Return why they cannot be watched."""
    asked = ListOptions(**options)  # type: ignore[arg-type]
    with pytest.raises(ApiError) as caught:
        api.watch("configmaps", "default", options=asked)
    return caught.value


def test_a_list_has_a_type_and_its_items_have_none(api: Api) -> None:
    """As the server writes it, with the version at which it was read."""
    found = api.list("configmaps")
    assert (found["kind"], found["apiVersion"]) == ("ConfigMapList", "v1")
    assert found["metadata"] == {"resourceVersion": str(api.store.version)}
    assert set(found["items"][0]) == {"metadata", "data"}


def test_a_list_can_be_narrowed(api: Api) -> None:
    """By labels and by fields."""
    found = api.list("configmaps", labels="i in (0,1)", fields="metadata.name!=a")
    assert [item["metadata"]["name"] for item in found["items"]] == ["b"]
    assert api.list("configmaps", "kube-system")["items"] == []
    assert api.list("configmaps", "nowhere")["items"] == []


def test_pages_carry_token_and_rest(api: Api) -> None:
    """In the list's metadata."""
    first = api.list("configmaps", options=ListOptions(limit=2))
    assert first["metadata"]["remainingItemCount"] == 1
    token = first["metadata"]["continue"]
    second = api.list("configmaps", options=ListOptions(limit=2, continue_token=token))
    assert [item["metadata"]["name"] for item in second["items"]] == ["c"]
    assert "continue" not in second["metadata"]


def test_version_zero_takes_what_there_is(api: Api) -> None:
    """All of it: the limit does not count, as from the server's cache."""
    assert names(api, resource_version="0", limit=1) == ["a", "b", "c"]


def test_an_exact_version_is_read_from_history(api: Api) -> None:
    """Asked for by name, or by a limit beside a version."""
    version = str(api.store.version - 1)
    assert names(api, resource_version=version, resource_version_match="Exact") == ["a", "b"]
    assert names(api, resource_version=version, limit=5) == ["a", "b"]
    assert names(api, resource_version=version) == ["a", "b", "c"]
    assert names(api, resource_version=version, resource_version_match="NotOlderThan") == [
        "a", "b", "c"
    ]  # fmt: skip


def test_a_forgotten_version_is_410(api: Api) -> None:
    """For an exact list and for a page."""
    token = api.list("configmaps", options=ListOptions(limit=1))["metadata"]["continue"]
    api.create("configmaps", "default", {"metadata": {"name": "d"}}, ME)
    api.store.compact()
    found = refusal(api, resource_version="2", resource_version_match="Exact")
    assert (found.status, found.reason) == (410, "Expired")
    assert found.message == "The resourceVersion for the provided list is too old."
    assert isinstance(refusal(api, limit=1, continue_token=token), PageExpired)


def test_a_version_of_the_future_is_504(api: Api) -> None:
    """With a time to come back; for a get too."""
    found = refusal(api, resource_version="999")
    assert (found.status, found.reason) == (504, "Timeout")
    assert found.message == (
        f"Timeout: Too large resource version: 999, current: {api.store.version}"
    )
    assert found.details["retryAfterSeconds"] == 1
    with pytest.raises(ApiError, match="Too large resource version"):
        api.get(Key("configmaps", "default", "a"), resource_version="999")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"resource_version_match": "Exact"},
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resource_version_match": "Exact", "resource_version": "0"},
            'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            {"resource_version_match": "x", "resource_version": "2"},
            'Unsupported value: "x": supported values: "Exact", "NotOlderThan", ""',
        ),
        (
            {"resource_version_match": "Exact", "resource_version": "2", "continue_token": "x"},
            "Forbidden: resourceVersionMatch is forbidden when continue is provided",
        ),
        (
            {"send_initial_events": True},
            "Forbidden: sendInitialEvents is forbidden for list",
        ),
    ],
)
def test_options_of_a_list_that_do_not_go_together(
    api: Api, options: dict[str, object], message: str
) -> None:
    """422 with the field, in the server's words."""
    found = refusal(api, **options)
    assert found.status == 422
    assert found.message.startswith('ListOptions.meta.k8s.io "" is invalid: ')
    assert found.message.endswith(message)
    assert "name" not in found.details


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"resource_version": "x"},
            (
                'invalid resource version: resourceVersion: Invalid value: "x":'
                ' strconv.ParseUint: parsing "x": invalid syntax'
            ),
        ),
        (
            {"resource_version": "5", "continue_token": "x"},
            "specifying resource version is not allowed when using continue",
        ),
    ],
)
def test_a_list_that_cannot_be_understood(
    api: Api, options: dict[str, object], message: str
) -> None:
    """400."""
    found = refusal(api, **options)
    assert (found.status, found.message) == (400, message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"send_initial_events": True},
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        ),
        (
            {"send_initial_events": True, "resource_version_match": "Exact"},
            'Unsupported value: "Exact": supported values: "NotOlderThan"]',
        ),
        (
            {"resource_version_match": "NotOlderThan", "resource_version": "0"},
            "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        ),
        (
            {"continue_token": "x"},
            "resourceVersionMatch is forbidden when continue is provided",
        ),
    ],
)
def test_options_of_a_watch_that_do_not_go_together(
    api: Api, options: dict[str, object], message: str
) -> None:
    """422, before anything is streamed."""
    found = watch_refusal(api, **options)
    assert found.status == 422
    assert found.message.endswith(message)


def test_a_watch_of_a_version_that_is_none(api: Api) -> None:
    """500, as the server has it."""
    found = watch_refusal(api, resource_version="x")
    assert (found.status, found.message) == (
        500,
        'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
    )


def test_a_watch_tells_writes_through_the_api(api: Api) -> None:
    """From the list's version on."""
    version = api.list("configmaps")["metadata"]["resourceVersion"]
    watch = api.watch("configmaps", "default", options=ListOptions(resource_version=version))
    api.delete(Key("configmaps", "default", "a"), ME)
    (event,) = watch.take()
    assert (event["type"], event["object"]["metadata"]["name"]) == ("DELETED", "a")
    assert event["object"]["metadata"]["resourceVersion"] == str(api.store.version)


def test_initial_events_from_the_future_are_an_error_event(api: Api) -> None:
    """Under 200, and the watch is over."""
    asked = ListOptions(
        resource_version="999",
        resource_version_match="NotOlderThan",
        send_initial_events=True,
        allow_watch_bookmarks=True,
    )
    watch = api.watch("configmaps", options=asked)
    (event,) = watch.take()
    assert event["type"] == "ERROR"
    assert event["object"]["code"] == 504
    assert watch.ended


def test_a_bookmark_is_an_empty_object_of_the_kind(api: Api) -> None:
    """With the zeros that its type always shows."""
    asked = ListOptions(
        resource_version_match="NotOlderThan",
        send_initial_events=True,
        allow_watch_bookmarks=True,
    )
    (event,) = api.watch("deployments.apps", options=asked).take()
    assert event == {
        "type": "BOOKMARK",
        "object": {
            "kind": "Deployment",
            "apiVersion": "apps/v1",
            "metadata": {
                "resourceVersion": str(api.store.version),
                "annotations": {"k8s.io/initial-events-end": "true"},
            },
            "spec": {
                "replicas": 0,
                "selector": None,
                "template": {"metadata": {}, "spec": {"containers": None}},
                "strategy": {},
            },
            "status": {},
        },
    }


def test_a_watch_may_leave_the_present_out(api: Api) -> None:
    """`sendInitialEvents=false` without a version begins now."""
    asked = ListOptions(resource_version_match="NotOlderThan", send_initial_events=False)
    assert api.watch("configmaps", options=asked).take() == []
