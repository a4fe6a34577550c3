"""The shape of a workload's versions in the result document."""

from __future__ import annotations

from typing import Annotated, TypedDict

from msgspec import Meta


class AnyVersion(TypedDict):
    """What is known of a version, whatever keeps it."""

    revision: Annotated[
        int | None, Meta(description="As last seen; null before the controller wrote one.")
    ]
    was_revision: Annotated[
        int | None,
        Meta(
            description="The number that it had before this attempt, where a return to it gave it"
            " the next one; null otherwise."
        ),
    ]
    images: Annotated[list[str], Meta(description="In the template's order, init containers out.")]


class Version(AnyVersion):
    """One version of a workload: what the object that keeps it is called and what it runs."""

    name: Annotated[
        str,
        Meta(description='Of its ReplicaSet or ControllerRevision, "" where there is none.'),
    ]


class ServedVersion(Version):
    """The version that this attempt, or an `undo`, returns to."""

    served: Annotated[
        bool, Meta(description="Whether it served before; else it is the last other verified one.")
    ]
    unverified: Annotated[
        str,
        Meta(
            description='The reason why the last attempt on it left it unverified, "" where it was'
            " verified or nothing is remembered of it. To serve again does not verify it."
        ),
    ]


ImageIds = Annotated[
    list[str], Meta(description="What the nodes really ran, by digest, as far as pods told it.")
]


class NewVersion(Version):
    """The version that this attempt rolled out, or was about to."""

    image_ids: ImageIds
    restored: Annotated[bool, Meta(description="Of `verify`: verified before another failed.")]
