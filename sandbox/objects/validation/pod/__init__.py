"""Validation of pods and pod templates (`pkg/apis/core/validation`)."""
