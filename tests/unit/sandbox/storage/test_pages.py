"""Pages of lists: one consistent state over all of them, or a word that it is gone."""

from __future__ import annotations

import pytest
from sandbox.storage.pages import Page, PageExpired, first_page, next_page

from sandbox.failure import ApiError
from sandbox.storage.selection import selection
from sandbox.storage.store import Key, Store


def filled(*names: str, kept_changes: int = 2_000) -> Store:
    """Return a store with objects."""
    store = Store(version=0, kept_changes=kept_changes)
    for name in names:
        put(store, name)
    return store


def put(store: Store, name: str, namespace: str = "shop") -> None:
    """Store an object."""
    metadata = {"name": name, "namespace": namespace, "labels": {"z": "1"}}
    store.put(Key("configmaps", namespace, name), {"metadata": metadata})


def names(page: Page) -> list[str]:
    """Return the names on a page."""
    return [body["metadata"]["name"] for body in page.items]


ALL = selection("configmaps", "shop")
EVERYWHERE = selection("configmaps")


def test_pages_show_the_state_of_the_first() -> None:
    """What is written between two pages is on none of them."""
    store = filled("a", "b", "c", "d", "e")
    first = first_page(store, ALL, limit=2, version=None)
    assert (names(first), first.version, first.remaining) == (["a", "b"], 5, 3)
    store.remove(Key("configmaps", "shop", "c"))
    put(store, "bb")
    second = next_page(store, ALL, limit=2, token=first.token)
    assert (names(second), second.version, second.remaining) == (["c", "d"], 5, 1)
    third = next_page(store, ALL, limit=0, token=second.token)
    assert (names(third), third.token, third.remaining) == (["e"], "", None)


def test_the_token_is_the_servers() -> None:
    """It says the version and the place, in the server's format."""
    page = first_page(filled("p0", "p1", "p2"), ALL, limit=2, version=None)
    assert page.token == "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Mywic3RhcnQiOiIvcDFcdTAwMDAifQ"


def test_pages_go_on_across_namespaces() -> None:
    """A list of all namespaces is cut anywhere."""
    store = filled("a", "b")
    put(store, "a", "aaa")
    put(store, "z", "zzz")
    first = first_page(store, EVERYWHERE, limit=3, version=None)
    assert names(first) == ["a", "a", "b"]
    assert names(next_page(store, EVERYWHERE, limit=3, token=first.token)) == ["z"]


def test_the_rest_is_not_counted_under_a_selector() -> None:
    """The server counts what remains only of whole lists."""
    store = filled("a", "b", "c")
    narrowed = selection("configmaps", "shop", "z=1")
    assert first_page(store, narrowed, limit=2, version=None).remaining is None


def test_a_list_that_fits_has_no_token() -> None:
    """Neither where the limit is reached exactly nor where there is none."""
    store = filled("a", "b")
    for limit in (0, 2, 3, -1):
        page = first_page(store, ALL, limit=limit, version=None)
        assert (names(page), page.token) == (["a", "b"], "")


def test_an_expired_token_brings_a_fresh_one() -> None:
    """The 410 holds a token that goes on with the objects as they are."""
    store = filled("a", "b", "c", kept_changes=2)
    token = first_page(store, ALL, limit=1, version=None).token
    for name in "xyz":
        put(store, name)
    with pytest.raises(PageExpired) as caught:
        next_page(store, ALL, limit=10, token=token)
    body = caught.value.body()
    assert (body["code"], body["reason"]) == (410, "Expired")
    assert body["message"].startswith("The provided continue parameter is too old")
    rest = next_page(store, ALL, limit=10, token=body["metadata"]["continue"])
    assert (names(rest), rest.version) == (["b", "c", "x", "y", "z"], store.version)


@pytest.mark.parametrize("token", ["xxx", "e30", "!!!", "eyJydiI6IngifQ"])
def test_a_token_that_is_none_is_refused(token: str) -> None:
    """400 in the server's words."""
    with pytest.raises(ApiError, match="continue key is not valid") as caught:
        next_page(filled("a"), ALL, limit=1, token=token)
    assert caught.value.status == 400
