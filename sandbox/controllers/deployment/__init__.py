"""The Deployment controller: from a template to ReplicaSets, a step at a time."""
