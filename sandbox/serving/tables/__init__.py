"""Tables: the rows that `kubectl get` prints."""
