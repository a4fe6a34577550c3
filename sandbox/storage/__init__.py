"""What the cluster holds: objects with their versions, their history, and who listens to it."""
