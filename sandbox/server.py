"""The sandbox on a socket, with a kubeconfig file: apart from `face`, since it loads aiohttp."""

from __future__ import annotations

from sandbox.serving.http import Endpoint, Ready, Served, ServeOptions, serve, serve_until_signalled

__all__ = ["Endpoint", "Ready", "ServeOptions", "Served", "serve", "serve_until_signalled"]
