"""The StatefulSet controller: pods with names and claims that stay, one after the other."""
