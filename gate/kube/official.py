"""The parts of the official client that the gate uses, and none of the others.

The package `kubernetes` imports all of its parts itself: loaders of kubeconfigs with OAuth,
websockets, informers, leader election. They took a sixth of an apply's start. So its parts are
imported without the package's own code; whoever asks the package for another part still gets that.
"""

from __future__ import annotations

import importlib
import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from types import ModuleType
from typing import Any, Final

PACKAGE: Final = "kubernetes"


def import_parts_alone(name: str) -> None:
    """Let the parts of a package be imported without the code of the package itself.

    Does nothing if somebody imported it already, or if there is none.
    """
    found = None if name in sys.modules else find_spec(name)
    if found is not None:
        sys.modules[name] = _bare(found)


def _bare(found: ModuleSpec) -> ModuleType:
    """Return a package whose code has not run; an attribute that it lacks is imported as a part.

    The version, which is not a part, is that of its part `client`.
    """
    package = module_from_spec(found)

    def part(name: str) -> Any:
        if name == "__version__":
            return importlib.import_module(f"{found.name}.client").__version__
        whole_name = f"{found.name}.{name}"
        try:
            return importlib.import_module(whole_name)
        except ModuleNotFoundError as error:
            if error.name != whole_name:
                raise
            raise AttributeError(f"{found.name} has no part {name!r}") from error

    package.__getattr__ = part  # type: ignore[method-assign]  # PEP 562
    return package


import_parts_alone(PACKAGE)

from kubernetes.client import ApiClient, Configuration  # noqa: E402 - the parts alone
from kubernetes.client.exceptions import ApiException  # noqa: E402
from kubernetes.client.rest import RESTClientObject  # noqa: E402
from kubernetes.dynamic import DynamicClient  # noqa: E402

__all__ = ["ApiClient", "ApiException", "Configuration", "DynamicClient", "RESTClientObject"]
