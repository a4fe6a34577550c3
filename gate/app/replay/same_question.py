"""Do two checks ask the same? Then answers to one may be judged by the other."""

from __future__ import annotations

from gate.core.checks.query_template import Query
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.spec import Check, Command, Counts, Http, Metric
from gate.wire.masking import MASKED


def alike(recorded: Check, configured: Check) -> bool:
    """Tell whether `recorded` asked all that `configured` asks; how answers are judged may differ.

    What is masked in the recording counts as the same.
    """
    match recorded.probe, configured.probe:
        case Metric() as then, Metric() as now:
            return _same_subject(recorded, configured) and _same_queries(then, now)
        case Counts() as then, Counts() as now:
            return _same_subject(recorded, configured) and _same_counters(then, now)
        case Http(question=then), Http(question=now):
            return _same_request(then, now)
        case Command(arguments=then), Command(arguments=now):
            return len(then) == len(now) and all(map(_same_word, then, now))
        case _:
            return False


def _same_subject(recorded: Check, configured: Check) -> bool:
    deployments = (recorded.deployment, configured.deployment)
    return recorded.user_variables == configured.user_variables and (
        "" in deployments or deployments[0] == deployments[1]
    )


def _same_counters(then: Counts, now: Counts) -> bool:
    return (then.bad.text, then.total.text) == (now.bad.text, now.total.text)


def _same_queries(then: Metric, now: Metric) -> bool:
    windowed = any("window" in query.names for query in now.queries())
    return (
        (then.window_seconds == now.window_seconds or not windowed)
        and _same_query(then.query, now.query)
        and _same_query(_samples(then), _samples(now))
        and _same_query(then.freshness, now.freshness)
        and (now.compare is None or then.compare is not None)
    )


def _same_query(then: Query | None, now: Query | None) -> bool:
    return now is None or (then is not None and then.text == now.text)


def _samples(metric: Metric) -> Query | None:
    return metric.min_samples.query if metric.min_samples is not None else None


def _same_request(then: HttpQuestion, now: HttpQuestion) -> bool:
    return (
        _same_url(then.url, now.url)
        and (then.method, then.redirects) == (now.method, now.redirects)
        and now.contains in ("", then.contains)
        and now.json_path in ((), then.json_path)
    )


def _same_url(then: str, now: str) -> bool:
    *path, search = then.partition("?")
    return then == now or ([*now.partition("?")[:2]] == path and search.startswith(MASKED))


def _same_word(then: str, now: str) -> bool:
    return then == now or then.startswith(MASKED)
