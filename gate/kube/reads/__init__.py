"""What is read of the cluster: objects with quorum, lists, watches, logs."""

__all__ = ["cluster", "evidence", "lists", "quorum_reads", "watch"]
