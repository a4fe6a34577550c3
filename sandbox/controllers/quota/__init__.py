"""ResourceQuota: what a namespace may use, what it uses, and what is refused."""
