"""Bytes to core values and back: decoding, cleaning of external text, masking, recordings."""
