"""A package's parts are had without its own code, and nobody else is cut off from it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.kube.connection.official import import_parts_alone

ROOT = Path(__file__).parents[3]
NAME = "heavy_package"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the name of a package whose own code says whether it ran."""
    folder = tmp_path / NAME
    (folder / "client").mkdir(parents=True)
    (folder / "__init__.py").write_text("has_run, __version__ = True, '3.1'")
    (folder / "client" / "__init__.py").write_text("class Model: ...")
    (folder / "watch.py").write_text(f"from {NAME} import client")
    (folder / "broken.py").write_text("import no_such_library")
    monkeypatch.syspath_prepend(tmp_path)
    yield NAME
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


def test_parts_come_without_the_package(package: str) -> None:
    """One by one, whoever asks: by import, or as an attribute."""
    import_parts_alone(package)
    client = importlib.import_module(f"{package}.client")
    assert f"{package}.watch" not in sys.modules
    whole = importlib.import_module(package)
    assert whole.watch.client is whole.client is client
    assert not hasattr(whole, "__wrapped__")
    assert "has_run" not in vars(whole)


def test_what_is_no_part_is_had_from_the_package_itself(package: str) -> None:
    """Its own code runs then, once; what neither has is no attribute, as of any package."""
    import_parts_alone(package)
    whole = importlib.import_module(package)
    client = whole.client
    assert whole.__version__ == "3.1"
    assert whole.has_run
    assert whole.client is client
    assert not hasattr(whole, "nothing")


def test_what_a_part_lacks_itself_is_told_as_that(package: str) -> None:
    """It is not taken for something that is no part."""
    import_parts_alone(package)
    whole = importlib.import_module(package)
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        _ = whole.broken


def test_a_package_inside_of_another_has_its_parts_alone_too(package: str) -> None:
    """Whoever asks it for something else gets that."""
    import_parts_alone(package)
    import_parts_alone(f"{package}.client")
    client = importlib.import_module(f"{package}.client")
    assert importlib.import_module(package).client is client
    assert "Model" not in vars(client)
    assert client.Model.__name__ == "Model"


def test_a_package_that_is_there_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who imported it before has all of it; one that is not installed is none."""
    there = object()
    monkeypatch.setitem(sys.modules, NAME, there)
    import_parts_alone(NAME)
    assert sys.modules[NAME] is there
    import_parts_alone("no_package_of_this_name")
    assert "no_package_of_this_name" not in sys.modules


@pytest.mark.long
def test_the_official_client_is_whole_for_others() -> None:
    """After the gate's import, an example of its documentation still works."""
    program = """
import gate.kube.client.client, sys
assert not {"kubernetes.config", "kubernetes.client.api_client", "pydantic"} & set(sys.modules)
from kubernetes import client, config, watch
config.load_kube_config_from_dict, client.CoreV1Api, watch.Watch
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=ROOT)
