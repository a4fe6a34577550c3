"""Defaults of volumes and claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sandbox.json import JSON
from sandbox.objects.decoding import Defaulter
from sandbox.objects.defaults.pod_spec import pull_policy

FILE_MODE = 0o644
TOKEN_SECONDS = 3600


def _setting(**values: object) -> Callable[[JSON], None]:
    """Return a defaulter that sets each of the fields that is not given."""

    def default(source: JSON) -> None:
        for name, value in values.items():
            source.setdefault(name, value)

    return default


def _volume(volume: JSON) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}


def _image(image: JSON) -> None:
    if "pullPolicy" not in image:
        image["pullPolicy"] = pull_policy(image.get("reference", ""))


DEFAULTS: Mapping[str, Defaulter] = {
    "core/v1.Volume": _volume,
    "core/v1.ImageVolumeSource": _image,
    "core/v1.ConfigMapVolumeSource": _setting(defaultMode=FILE_MODE),
    "core/v1.DownwardAPIVolumeSource": _setting(defaultMode=FILE_MODE),
    "core/v1.ProjectedVolumeSource": _setting(defaultMode=FILE_MODE),
    "core/v1.SecretVolumeSource": _setting(defaultMode=FILE_MODE),
    "core/v1.ServiceAccountTokenProjection": _setting(expirationSeconds=TOKEN_SECONDS),
    "core/v1.HostPathVolumeSource": _setting(type=""),
    "core/v1.ISCSIVolumeSource": _setting(iscsiInterface="default"),
    "core/v1.RBDVolumeSource": _setting(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "core/v1.AzureDiskVolumeSource": _setting(
        cachingMode="ReadWrite", fsType="ext4", readOnly=False, kind="Shared"
    ),
    "core/v1.ScaleIOVolumeSource": _setting(storageMode="ThinProvisioned", fsType="xfs"),
    "core/v1.PersistentVolumeClaimSpec": _setting(volumeMode="Filesystem"),
    "core/v1.PersistentVolumeClaimStatus": _setting(phase="Pending"),
}
