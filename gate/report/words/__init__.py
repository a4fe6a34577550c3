"""What a result means in words: headline, grade, facts, names of objects."""

__all__ = [
    "changed_parts",
    "comparison",
    "facts",
    "fate",
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
    "timed_rollback",
    "unfinished",
    "version_names",
    "worst",
]
