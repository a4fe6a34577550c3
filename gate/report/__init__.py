"""What people and pipelines read: one result document and texts, all made of values."""
