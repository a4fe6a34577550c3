"""The ReplicaSet controller: as many pods of a template as are asked for."""
