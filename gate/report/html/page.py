"""Renders the page: the template escapes whatever it is given."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gate.report.advice.look_further import look_further
from gate.report.advice.next_steps import next_steps
from gate.report.html.chart import LEFT, RIGHT, WIDTH, charts
from gate.report.html.comparison_plot import TOP, comparison_plots
from gate.report.html.lanes import STATES
from gate.report.kinds import registry
from gate.report.schema.result import Coverage, Result
from gate.report.words.changed_parts import describe_hidden_values
from gate.report.words.facts import (
    action_words,
    not_taken_back,
    output_title,
    piece_title,
    runs_now,
    sentence,
    stands,
    surroundings,
)
from gate.report.words.grade import Grade, check_grade, grade, result_grade
from gate.report.words.half_applied import keeps_version
from gate.report.words.headline import exit_words, outcome_words
from gate.report.words.object_names import object_name
from gate.report.words.worst import rank_workloads

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE: Final = Path(__file__).parent
_WEB_ADDRESS: Final = re.compile(r"https?://\S+")
_SIGNS: Final = {Grade.GOOD: "✓", Grade.BAD: "✗", Grade.BROKEN: "!", Grade.UNSURE: "?"}
_COVERAGE: Final[Mapping[Coverage, str]] = {
    "judged": "yes",
    "applied": "no need: configuration",
    "not-judged": "no",
}
"""Whether an object was judged."""


def html(result: Result) -> str:
    """Return the page; it loads nothing, runs nothing, and can be printed."""
    from markupsafe import Markup

    template = _environment().get_template("page.html.jinja")
    style = Markup((_HERE / "page.css").read_text(encoding="utf-8"))  # noqa: S704 - our own file
    return template.render(
        result=result,
        workloads=rank_workloads(result),
        style=style,
        charts=charts(result),
        comparisons=comparison_plots(result),
    )


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(_HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        check_grade=check_grade,
        coverage=_COVERAGE,
        grade=grade,
        keeps_version=keeps_version,
        kind_of=registry.of_entry,
        look_further=look_further,
        next_steps=next_steps,
        action_words=action_words,
        hidden_values=describe_hidden_values,
        not_taken_back=not_taken_back,
        object_name=object_name,
        stands=stands,
        outcome_words=outcome_words,
        output_title=output_title,
        piece_title=piece_title,
        plot_top=TOP,
        result_grade=result_grade,
        exit_words=exit_words,
        runs_now=runs_now,
        sentence=sentence,
        signs=_SIGNS,
        surroundings=surroundings,
        states=STATES,
        web_address=lambda text: bool(_WEB_ADDRESS.fullmatch(text)),
        x_left=LEFT,
        x_right=WIDTH - RIGHT,
        width=WIDTH,
    )
    return environment
