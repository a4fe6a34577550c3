"""The options of the cluster: which one, as whom, and what is not to be touched."""

from __future__ import annotations

from typing import Annotated

from gate.config.kinds import Limit, Namespace, Namespaces, Text, Texts
from gate.config.option import Group, Option
from gate.config.option_values import OptionValues
from gate.config.takers import CONNECTING, GUARDED, RECOVER, REHEARSE, SANDBOX, WRITING


class ClusterSettings(OptionValues):
    """Abstract: the part of the settings that is about the cluster."""

    namespace: Annotated[
        Namespace,
        Option(
            Group.CLUSTER,
            CONNECTING | REHEARSE,
            "the namespace, instead of the context's",
            short="-n",
        ),
    ] = None
    context: Annotated[
        Text,
        Option(
            Group.CLUSTER,
            CONNECTING,
            "the context, instead of the kubeconfig's current one",
            "NAME",
        ),
    ] = None
    kubeconfig: Annotated[
        Text,
        Option(
            Group.CLUSTER,
            CONNECTING | SANDBOX,
            "the kubeconfig, instead of the one kubectl would use; of sandbox: a new file, which it"
            " writes, and removes at its end",
            "FILE",
        ),
    ] = None
    connect_timeout: Annotated[
        Limit,
        Option(
            Group.CLUSTER, CONNECTING, "how long to keep trying to reach the server", default="15s"
        ),
    ] = 15.0
    expect_cluster_uid: Annotated[
        Text,
        Option(
            Group.CLUSTER,
            GUARDED | RECOVER,
            "refuse any cluster whose kube-system namespace has another uid",
            "UID",
        ),
    ] = None
    protected_namespace: Annotated[
        Namespaces,
        Option(Group.CLUSTER, WRITING | RECOVER, "refuse to write into this namespace"),
    ] = ()
    allow_exec_plugin: Annotated[
        Texts,
        Option(Group.CLUSTER, CONNECTING, "run no other credential plugin than this one", "NAME"),
    ] = ()
    allow_insecure: Annotated[
        bool, Option(Group.CLUSTER, CONNECTING, "accept plain HTTP and unverified TLS")
    ] = False
