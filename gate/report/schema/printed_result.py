"""The result document as it is printed: with `deployments`, the name that `workloads` had before.

Readers of earlier versions find each entry there with the keys that it had; the next version of the
schema drops the alias. Nothing inside of the gate reads it.
"""

from __future__ import annotations

from typing import Annotated, TypedDict, cast

from msgspec import Meta

from gate.report.schema.result import AnyWorkload, Moment, Result, RevisionResult, WorkloadResult
from gate.report.schema.version import AnyVersion, ImageIds, Version

_NAME = Annotated[str, Meta(description="The key `name` of `workloads`.")]


class DeploymentVersion(AnyVersion):
    """One version, whose object is called a ReplicaSet's."""

    replicaset: _NAME


class NewDeploymentVersion(DeploymentVersion):
    """The version that this attempt rolled out, or was about to."""

    image_ids: ImageIds


class DeploymentTree(TypedDict):
    """A tree, whose versions are called ReplicaSets."""

    moment: Moment
    replicasets: list[RevisionResult]


class DeploymentResult(AnyWorkload):
    """An entry of `workloads` under the keys that entries had when all were Deployments."""

    baseline: DeploymentVersion | None
    new: NewDeploymentVersion
    trees: list[DeploymentTree]


class PrintedResult(Result):
    """How one run of rollout-gate ended, for pipelines and later readers."""

    deployments: Annotated[
        list[DeploymentResult],
        Meta(
            description="Deprecated: the entries of `workloads`, in the same order, with their"
            " earlier keys `replicaset` and `replicasets`. `kind` says what each one is."
        ),
    ]


def with_deployments(result: Result) -> PrintedResult:
    """Return the document as it is printed."""
    return {**result, "deployments": [_deployment(one) for one in result["workloads"]]}


def _deployment(one: WorkloadResult) -> DeploymentResult:
    baseline, new = one["baseline"], one["new"]
    common = {key: value for key, value in one.items() if key in AnyWorkload.__annotations__}
    return {
        **cast("AnyWorkload", common),
        "baseline": _version(baseline) if baseline is not None else None,
        "new": {**_version(new), "image_ids": new["image_ids"]},
        "trees": [
            {"moment": tree["moment"], "replicasets": tree["revisions"]} for tree in one["trees"]
        ],
    }


def _version(one: Version) -> DeploymentVersion:
    return {
        "revision": one["revision"],
        "was_revision": one["was_revision"],
        "images": one["images"],
        "replicaset": one["name"],
    }
