"""How long an attempt waits for what, beside the budgets of its policy: seconds."""

from __future__ import annotations

RETRY_SECONDS = 1.0
"""How long to wait before a question without an answer is asked again."""
SETTLING_SECONDS = 30.0
"""How long a known failure waits for what a write without an answer did: the longest a webhook may
keep a request waiting (`timeoutSeconds`)."""
OVERTIME_SECONDS = 7.0
"""By how much the budgets may be exceeded in total, for questions under way."""
ANSWER_SECONDS = 5.0
"""How long the end of the bake window waits for measurements under way, within the overtime."""
LAST_ANSWER_SECONDS = 4.5
"""How long after the bake window a source may try, so that its last error comes in time."""
INSPECTION_SECONDS = 2.0
"""How long INSPECTING waits for the last read of every object, within the overtime."""
READS_A_DEADLINE = 3
"""The least number of full reads within a progress deadline."""
SHORTEST_READ_INTERVAL_SECONDS = 5.0
CLOSING_SECONDS = 2.0
"""How long releasing the lock may take; with the overtime within the contract's 10 s."""
MORE_CLOSING_SECONDS = 0.1
"""How much longer for each further workload, as long as the budgets have time left."""
BLIND_READ_SECONDS = 10.0
"""A confirming read that takes longer shows that nothing was seen of the bake window before it."""
EVIDENCE_SECONDS = 2.0
"""How long to wait for evidence, or for the name of another writer."""
INTERRUPT_SECONDS = 3.5
"""From a signal to the end of the writes that answer it; the contract allows 5 s in all."""
INTERRUPTED_CLOSING_SECONDS = 4.5
"""From a signal to the end of the attempt."""
UNFOLLOWED_SECONDS = 900.0
"""The budget `auto` if no workload is followed."""
