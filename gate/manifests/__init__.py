"""Manifests: read safely and within bounds, checked, put in order; nothing in them is expanded."""
