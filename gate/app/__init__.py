"""Construction and running: the only room that knows the adapters; verdicts are none of its business."""
