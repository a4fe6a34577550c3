"""The parts of the official client that the gate uses, and none of the others.

They are its configuration and what sends requests by it. The packages around them import all the
rest themselves: hundreds of typed models, pydantic, loaders of kubeconfigs, websockets, informers.
That took a quarter of an apply's start. So the parts are imported without the packages' own code,
which runs once somebody asks a package for something that is no part of it.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Final

PACKAGES: Final = ("kubernetes", "kubernetes.client", "kubernetes.utils")
_SPECIAL: Final = ("__all__", "__version__")
"""The names with underscores that a package's own code gives it."""


def import_parts_alone(name: str) -> None:
    """Let the parts of a package be imported without the code of the package itself.

    Does nothing if somebody imported it already, or if there is none.
    """
    found = None if name in sys.modules else find_spec(name)
    if found is None:
        return
    sys.modules[name] = package = _bare(found)
    parent, _, part = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], part, package)


def _bare(found: ModuleSpec) -> ModuleType:
    """Return a package whose code runs once an attribute is asked for that is none of its parts."""
    package = module_from_spec(found)

    def part(name: str) -> Any:
        whole_name = f"{found.name}.{name}"
        if name.startswith("__") and name not in _SPECIAL:
            raise AttributeError(f"{found.name} has no {name}")
        try:
            return importlib.import_module(whole_name)
        except ModuleNotFoundError as error:
            if error.name != whole_name:
                raise
        vars(package).pop("__getattr__", None)
        if found.loader is not None:
            found.loader.exec_module(package)
        return getattr(package, name)

    package.__getattr__ = part  # type: ignore[method-assign]  # PEP 562
    return package


for package in PACKAGES:
    import_parts_alone(package)

from kubernetes.client.configuration import Configuration  # noqa: E402 - the parts alone
from kubernetes.client.exceptions import ApiException  # noqa: E402
from kubernetes.client.rest import RESTClientObject  # noqa: E402

__all__ = ["ApiException", "Configuration", "RESTClientObject"]
