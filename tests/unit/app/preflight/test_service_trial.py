"""Requests and commands of checks before the first write: what is asked once, and what is not."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from responses import RequestsMock

from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate
from tests.unit.app.preflight.conftest import notes, warnings

pytestmark = pytest.mark.usefixtures("nothing_is_written")
SERVICE = "http://shop.example/live"


@pytest.fixture
def shop() -> Iterator[RequestsMock]:
    """Return what answers in the place of every service."""
    with RequestsMock(assert_all_requests_are_fired=False) as mock:
        yield mock


@pytest.fixture
def nobody_listens() -> str:
    """Return a URL of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as service:
        return f"http://127.0.0.1:{service.getsockname()[1]}/live"


@pytest.mark.contract("B454")
def test_a_url_is_asked_once_of_what_serves(gate: Gate, path: str, shop: RequestsMock) -> None:
    """One that answers as asked for is no warning, with --strict-checks neither."""
    shop.get(SERVICE, status=200)
    ended = gate("preflight", file=[path], http_check=[SERVICE], strict_checks=True)
    assert (ended.code, warnings(ended)) == (0, []), ended.err
    assert [call.request.method for call in shop.calls] == ["GET"]


@pytest.mark.contract("B454")
def test_a_url_at_which_what_serves_fails_is_a_warning(
    gate: Gate, path: str, shop: RequestsMock, nobody_listens: str
) -> None:
    """A typing mistake in a URL would condemn each new version, and none of them is to blame."""
    shop.get(SERVICE, status=404)
    shop.add_passthru(nobody_listens)
    ended = gate("preflight", file=[path], http_check=[SERVICE, nobody_listens])
    assert ended.code == 0, ended.err
    status, refused = warnings(ended)
    assert "what serves now fails it already: the status is 404, not 200 to 299" in status
    assert "what serves now fails it already: " in refused
    assert "refuse" in refused


@pytest.mark.contract("B454", "B909")
def test_with_strict_checks_a_url_that_fails_is_a_refusal(
    gate: Gate, path: str, shop: RequestsMock, nobody_listens: str
) -> None:
    """All of them at once; one that only reports stays a warning."""
    shop.get(SERVICE, status=404)
    shop.add_passthru(nobody_listens)
    only_reports = {"name": "tried", "http": {"url": nobody_listens}, "dry-run": True}
    checks = [only_reports, {"name": "gone", "http": {"url": nobody_listens}}]
    given = {"http_check": [SERVICE], "checks": checks, "strict_checks": True}
    ended = gate("preflight", file=[path], **given)
    assert (ended.code, ended.document["reason"]) == (3, "CheckFailed")
    assert "fails it already: the status is 404" in ended.err
    assert "check gone: what serves now fails it already: " in ended.err
    assert "drop --strict-checks" in ended.err
    assert [warning.partition(":")[0] for warning in warnings(ended)] == ["check tried"]


@pytest.mark.contract("B454")
def test_a_service_without_a_name_cannot_be_asked(gate: Gate, path: str) -> None:
    """A host that does not resolve tells nothing of a version, so it is not called its failure."""
    ended = gate("preflight", file=[path], http_check=["http://shop.invalid/live"])
    assert ended.code == 0, ended.err
    [warning] = warnings(ended)
    assert "what serves now cannot be asked it: " in warning


@pytest.mark.contract("B454")
def test_where_nothing_serves_a_service_is_only_connected_to(
    gate: Gate, nobody_listens: str
) -> None:
    """A first version's own route answers nobody yet: only that it is there can be told."""
    first = gate.manifest(web(), web(name="api"))
    with socket.create_server(("127.0.0.1", 0)) as service:
        url = f"http://127.0.0.1:{service.getsockname()[1]}/live"
        ended = gate("preflight", file=[first], http_check=[url], strict_checks=True)
        came, _ = service.accept()
        with came:
            assert came.recv(1) == b"", "it was asked"
    assert (ended.code, warnings(ended)) == (0, []), ended.err
    ended = gate("preflight", file=[first], http_check=[nobody_listens], strict_checks=True)
    assert ended.code == 0, ended.err
    assert "cannot be reached: Connection refused" in warnings(ended)[0]


@pytest.mark.contract("B454")
@pytest.mark.usefixtures("path")
def test_of_a_rollout_that_is_under_way_a_service_is_only_connected_to(
    gate: Gate, shop: RequestsMock
) -> None:
    """Nobody can tell which version would answer `verify`: it refuses nothing, and judges."""
    shop.get(SERVICE, status=404)
    ended = gate("verify", ("web",), http_check=[SERVICE], strict_checks=True)
    assert (ended.code, ended.document["reason"]) == (6, "CheckFailed"), ended.err
    assert "what serves now" not in ended.err


# -- commands --------------------------------------------------------------------------------------


@pytest.mark.contract("B454")
def test_commands_are_left_alone(gate: Gate, path: str, tmp_path: Path) -> None:
    """What they do to the system is for after the write; what they are is told."""
    mark = tmp_path / "ran"
    ended = gate("preflight", file=[path], smoke_test=[f"touch {mark}"])
    assert ended.code == 0, ended.err
    assert not mark.exists()
    assert [note.partition(": ")[2] for note in notes(ended)] == [f"touch {mark}"]
