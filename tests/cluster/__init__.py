"""The bed of the end-to-end tests: a real control plane on loopback, with scripted pods.

kube-apiserver, kube-controller-manager and etcd are the real ones, built from their Go modules;
only the nodes are played: `tests.cluster.kubelet` lets pods behave as their annotation asks.
"""
