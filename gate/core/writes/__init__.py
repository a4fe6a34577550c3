"""The writes of an attempt: in which order, why not, and what each of them did."""

__all__ = [
    "additions",
    "authorship",
    "failure_response",
    "lagging_server",
    "lost_needs",
    "lost_response",
    "mended_by_others",
    "obstacles",
    "order",
    "other_users",
    "queue",
    "request",
    "results",
    "returned_by_others",
    "way_out",
]
