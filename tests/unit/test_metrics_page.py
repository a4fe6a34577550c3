"""docs/metrics.md, the dashboard and the alerts say what the code measures, and nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate import log
from gate.config.metrics_settings import GATEWAY_VARIABLES
from gate.config.settings import taken_by
from gate.metrics.families import FAMILIES, PLACE, PREFIX, Family
from gate.metrics.gateway_url import JOB
from gate.metrics.pushgateway import PUSH_SECONDS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
EXAMPLES = ROOT / "examples" / "metrics"
BY_NAME: Mapping[str, Family] = {family.name: family for family in FAMILIES}
OF_A_TARGET = {"job", "instance"}
"""What Prometheus and the Pushgateway add."""

Matchers = Sequence[tuple[str, str, str]]


def queries() -> Iterator[Any]:
    """Yield every query of the dashboard and of the alerts, as a parameter with a name."""
    dashboard = json.loads((EXAMPLES / "dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            yield pytest.param(target["expr"], id=f"{panel['title']} {target['refId']}")
    for each in dashboard["annotations"]["list"]:
        yield pytest.param(each["expr"], id=each["name"])
    for each in dashboard["templating"]["list"]:
        if each["type"] == "query":
            inner = re.fullmatch(r"label_values\((.*), (\w+)\)", each["definition"])
            assert inner is not None
            yield pytest.param(f"sum by ({inner[2]}) ({inner[1]})", id=each["name"])
    for rule in rules():
        yield pytest.param(rule["expr"], id=rule["alert"])


def rules() -> list[dict[str, Any]]:
    """Return the alert rules."""
    document = yaml.safe_load((EXAMPLES / "alerts.yaml").read_text(encoding="utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def selectors(query: str) -> Iterator[tuple[Family, Matchers]]:
    """Yield each metric of a query with its matchers; KeyError for one that nobody measures."""
    for name, inside in re.findall(rf"\b({PREFIX}\w+)(?:{{([^}}]*)}})?", query):
        matchers = re.findall(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"', inside)
        assert 2 * len(matchers) == inside.count('"'), inside
        yield BY_NAME[name], matchers


# -- the page --------------------------------------------------------------------------------------


@pytest.mark.contract("B610")
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_metric_has_its_row(family: Family) -> None:
    """Its name, its type, its labels and its meaning, as a scrape tells them."""
    labels = ", ".join(f"`{label}`" for label in family.labels)
    cell = f" {labels} " if labels else " "
    assert f"| `{family.name}` | {family.type} |{cell}| {family.help} |\n" in PAGE


def test_no_row_names_what_is_not_measured() -> None:
    """Nor does any other word of the page."""
    assert set(re.findall(rf"\b{PREFIX}\w+", PAGE)) <= set(BY_NAME)


@pytest.mark.contract("B611")
def test_every_label_has_its_row_with_its_values() -> None:
    """All that a closed set has, in its order."""
    known = {name: values for family in FAMILIES for name, values in family.labels.items()}
    for name, values in known.items():
        (row,) = re.findall(rf"^\| `{name}` \| (.*) \|$", PAGE, re.MULTILINE)
        found = tuple(re.findall(r"`([^`]+)`", row))
        assert not values or found == values, name


def test_options_and_figures_are_those_of_the_code() -> None:
    """The three ways, the seconds, the key, the variables."""
    mine = [item.flag for item in taken_by("apply") if "metrics" in item.option.group.lower()]
    assert len(mine) == 3
    for word in (*mine, *GATEWAY_VARIABLES, f"{PUSH_SECONDS:g} s at most", f'job="{JOB}"'):
        assert word in PAGE, word


@pytest.mark.contract("B621")
def test_every_key_of_a_line_has_its_row(capsys: pytest.CaptureFixture[str]) -> None:
    """Those that each line has, and those of its run."""
    log.configure("json", "info")
    with log.bind_facts(run="1", attempt="2", trace_id="3", span_id="4"):
        log.info("applied", at_seconds=0.1, text="x", reason="y", exit_code=3, hint="z")
    log.configure("console", "info")
    for key in json.loads(capsys.readouterr().err):
        assert re.search(rf"^\| [^|]*`{key}`", PAGE, re.MULTILINE), key


# -- the examples ----------------------------------------------------------------------------------


@pytest.mark.contract("B620")
@pytest.mark.parametrize("query", [*queries()])
def test_a_query_asks_for_what_is_measured(query: str) -> None:
    """Metrics by their names, labels that they have, values that these can have."""
    found = [*selectors(query)]
    assert found
    for family, matchers in found:
        for name, operator, value in matchers:
            assert name in (*family.label_names, *OF_A_TARGET), f"{family.name} has no {name}"
            allowed = family.labels.get(name, ())
            asked = value.split("|") if operator in ("=~", "!~") else [value]
            assert not allowed or set(asked) <= set(allowed), f"{name} is never {value}"


@pytest.mark.contract("B620")
@pytest.mark.parametrize("query", [*queries()])
def test_a_query_groups_by_labels_that_there_are(query: str) -> None:
    """In `by`, `without`, `on`, `ignoring` and `group_left`."""
    labels = {label for family, _ in selectors(query) for label in family.label_names}
    for named in re.findall(r"\b(?:by|without|on|ignoring|group_left)\s*\(([^)]*)\)", query):
        assert set(re.findall(r"\w+", named)) <= labels | OF_A_TARGET, named


@pytest.mark.contract("B620")
def test_what_alerts_and_panels_say_is_there() -> None:
    """Labels in texts are labels of the series."""
    labels = {label for family in FAMILIES for label in family.label_names}
    for rule in rules():
        for text in rule["annotations"].values():
            assert set(re.findall(r"\$labels\.(\w+)", text)) <= labels
    panels = (EXAMPLES / "dashboard.json").read_text(encoding="utf-8")
    assert set(re.findall(r"\{\{(\w+)\}\}", panels)) <= labels


@pytest.mark.contract("B620")
def test_every_metric_is_on_the_dashboard_or_in_an_alert() -> None:
    """What nobody looks at need not be measured; of attempts a dashboard counts the changes."""
    asked = {family.name for each in queries() for family, _ in selectors(each.values[0])}
    assert {*BY_NAME} - asked == {f"{PREFIX}attempts_total"}


def test_the_dashboard_can_be_imported_anywhere() -> None:
    """It names no data source of its own, each panel once, and none above another."""
    dashboard = json.loads((EXAMPLES / "dashboard.json").read_text(encoding="utf-8"))
    taken: set[tuple[int, int]] = set()
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    for panel in dashboard["panels"]:
        assert panel["datasource"]["uid"] == "${datasource}"
        assert panel["description"]
        place = panel["gridPos"]
        columns = range(place["x"], place["x"] + place["w"])
        cells = {(x, y) for x in columns for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken, panel["title"]
        assert max(columns) < 24
        taken |= cells
    assert PLACE == ("namespace", "deployment", "workload", "workload_kind")
