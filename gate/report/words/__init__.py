"""What a result means in words: headline, advice, names of objects."""

__all__ = [
    "advice",
    "attempt_advice",
    "changed_parts",
    "comparison",
    "facts",
    "fault",
    "found_at_end",
    "grade",
    "half_applied",
    "headline",
    "moment",
    "not_judged",
    "object_names",
    "refusal",
    "single_run",
    "unfinished",
    "version_names",
    "worst",
]
