"""The scripted kubelet of `sandbox.kubelet`, speaking to a real API server over HTTPS.

It knows nothing of tests or of the gate, so that any API server with Deployments can be given pods
by it. What pods do stands in the sandbox alone; here are the watch, the requests and the logs.
"""
