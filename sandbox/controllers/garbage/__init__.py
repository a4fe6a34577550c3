"""The garbage collector: what belongs to something that is gone goes too."""
