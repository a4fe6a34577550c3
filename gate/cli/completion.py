"""Shell completion, as click makes it for bash, zsh and fish."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import click
from click.shell_completion import CompletionItem, shell_complete

from gate.cli.catalog import PROGRAM
from gate.config.option import Setting

VARIABLE: Final = "_ROLLOUT_GATE_COMPLETE"
"""Names what a shell asks for: `bash_source` for its script, `bash_complete` for words."""

_CHOICES: Final = re.compile(r"[a-z-]+(\|[a-z-]+)+")
_FILES: Final = ("PATH", "FILE")

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def complete(group: click.Command, instruction: str) -> int:
    """Answer a shell on stdout, and return the exit code; the words are in its environment."""
    return shell_complete(group, {}, PROGRAM, VARIABLE, instruction)


def completion_of(item: Setting) -> Completion:
    """Return what completes the value of an option: one of a few words, a file, or nothing."""
    choices = item.metavar.split("|") if _CHOICES.fullmatch(item.metavar) else []

    def complete_word(
        _context: click.Context, _parameter: click.Parameter, begun: str
    ) -> list[CompletionItem]:
        if item.metavar in _FILES:
            return [CompletionItem(begun, type="file")]
        return [CompletionItem(word) for word in choices if word.startswith(begun)]

    return complete_word
