"""The secret values that one run knows, and the masking of all text that leaves it.

They are the credentials that the gate sends, what it hands to commands, and the values of Secrets
that it reads or writes. Whoever obtains one adds it; every output passes `mask` or `mask_value`:
streams, logs, documents, reports, recordings, metrics, and what a Lease keeps for people. What is
written to the cluster as an object is never masked, or a rollback would write the mask.
"""

from __future__ import annotations

import base64
import html
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, quote_plus

from gate.wire.untrusted import clean, clean_line

MASK: Final = "***"
LEAST_CREDENTIAL_CHARACTERS: Final = 6
"""The shortest credential that is masked: a shorter one would blank out words of every line."""
LEAST_VALUE_CHARACTERS: Final = 8
"""The shortest value of a Secret that is masked: many are no secret (ports, modes, user names)."""
LEAST_LINE_CHARACTERS: Final = 20
"""The shortest line that is masked in a value of several lines, such as a private key."""
_LEAST_ENCODED: Final = 12
"""The shortest base64 that is looked for in the middle of more: a shorter one could be anything."""
_LEAST_NUMBER_CHARACTERS: Final = 16
"""The shortest all-digit value of a Secret that is masked: others are times, sizes and ports."""
MOST_VALUE_CHARACTERS: Final = 1 << 16
"""How much of a value is looked for; what follows is not."""
PIECE_CHARACTERS: Final = 1 << 12
"""The size of the pieces in which a longer value or line is looked for."""
_OVERLAP: Final = 34
"""How far pieces overlap, so that their forms leave no gap: base64 loses up to 3 characters.

Pieces begin a multiple of 3 characters apart, so that the last one's base64 ends as the whole's.
"""
_HEAD: Final = LEAST_CREDENTIAL_CHARACTERS
_CUT: Final = ("…", "...")
"""How a text that was cut ends: a part of a secret may precede it."""

StandIn = Callable[[str], str]
Forms = dict[str, tuple[str, ...]]
"""What is looked for, by its first characters; under each the longest first."""


class SecretValues:
    """What is secret in one run; any thread may add to it and mask with it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._credentials: set[str] = set()
        self._values: set[str] = set()
        self._names: set[str] = set()
        self._new: set[str] = set()
        self._is_stale = False
        self._by_head: Forms = {}

    # -- what is known -----------------------------------------------------------------------------

    def add(self, value: str | bytes) -> None:
        """Add a credential of the gate's own; one below six characters is ignored."""
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
        self._learn(self._credentials, _with_lines(text.strip(), LEAST_CREDENTIAL_CHARACTERS))

    def add_secret(self, secret: Mapping[str, Any]) -> None:
        """Add the values of a Secret in its JSON form."""
        for text in _values_of(secret):
            self.add_value(text)

    def add_value(self, text: str) -> None:
        """Add a possible secret, as a Secret's value; short ones and short numbers are ignored."""
        if not text.isdecimal() or len(text) >= _LEAST_NUMBER_CHARACTERS:
            self._learn(self._values, _with_lines(text, LEAST_VALUE_CHARACTERS))

    def spare(self, names: Iterable[str]) -> None:
        """Do not mask these names: a database's user may be called like its app.

        A credential of the gate is masked all the same.

        """
        with self._lock:
            spared = set(names) - self._names
            self._names |= spared
            self._is_stale = self._is_stale or not spared.isdisjoint(self._values)

    def _learn(self, known: set[str], texts: Iterable[str]) -> None:
        """Add texts; their forms are laid out the next time that a text is masked."""
        with self._lock:
            new = set(texts) - known
            known |= new
            self._new |= new

    def _laid_out(self) -> Forms:
        """Return every form of every secret; other threads may add some meanwhile."""
        if self._new or self._is_stale:
            with self._lock:
                self._lay_out()
        return self._by_head

    def _lay_out(self) -> None:
        """Add the forms of what is new; start over if a value is to be shown from now on.

        The marks of pending work are reset last: `_laid_out` reads them without the lock.
        """
        texts = self._credentials | self._values if self._is_stale else self._new
        by_head: dict[str, set[str]] = {}
        for text in texts:
            if text in self._credentials or text not in self._names:
                for form in _forms(text):
                    by_head.setdefault(form[:_HEAD], set()).add(form)
        known = {} if self._is_stale else self._by_head
        laid_out = {
            head: tuple(sorted(forms.union(known.get(head, ())), key=len, reverse=True))
            for head, forms in by_head.items()
        }
        if self._is_stale:
            self._by_head = laid_out
        else:
            self._by_head.update(laid_out)
        self._new, self._is_stale = set(), False

    # -- what goes out -----------------------------------------------------------------------------

    def mask(self, text: str, stand_in: StandIn | None = None) -> str:
        """Return a text without secrets, and without the beginning of one at a cut."""
        forms = self._laid_out()
        if not forms:
            return text
        parts, ended = [], 0
        for start, end in _merge_spans(_find_spans(text, forms)):
            parts += [text[ended:start], stand_in(text[start:end]) if stand_in else MASK]
            ended = end
        return "".join([*parts, text[ended:]]) if parts else text

    def mask_value(self, value: Any, stand_in: StandIn | None = None) -> Any:
        """Return a JSON value whose texts, keys included, are without secrets."""
        if not self._laid_out():
            return value
        if isinstance(value, str):
            found = self.mask(value, stand_in)
            return value if found == value else found
        if isinstance(value, Mapping):
            return {
                self.mask_value(key, stand_in): self.mask_value(inner, stand_in)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [self.mask_value(item, stand_in) for item in value]
        return value


def _find_spans(text: str, forms: Forms) -> Iterator[tuple[int, int]]:
    """Yield where secrets are: one look-up per character, however many secrets there are."""
    is_cut = any(cut in text for cut in _CUT)
    starts = range(len(text) - _HEAD + 1)
    for start in [at for at in starts if text[at : at + _HEAD] in forms]:
        length = _count_matching(text, start, forms[text[start : start + _HEAD]], is_cut=is_cut)
        if length:
            yield start, start + length


def _count_matching(text: str, start: int, forms: Iterable[str], *, is_cut: bool) -> int:
    """Return how many characters of a secret are at `start`; 0 for none."""
    for form in forms:
        if text.startswith(form, start):
            if form.isdecimal() and _is_inside_a_number(text, start, start + len(form)):
                continue
            return len(form)
    for form in forms if is_cut else ():
        shared = _count_shared(text, start, form)
        if text.startswith(_CUT, start + shared):
            return shared
    return 0


def _count_shared(text: str, start: int, form: str) -> int:
    """Return how many characters of `form` match at `start`."""
    pairs = zip(form, text[start : start + len(form)], strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), len(text) - start)


def _is_inside_a_number(text: str, start: int, end: int) -> bool:
    return text[max(0, start - 1) : start].isdecimal() or text[end : end + 1].isdecimal()


def _merge_spans(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Join spans that overlap, in the order of their beginnings."""
    begun: tuple[int, int] | None = None
    for start, end in spans:
        if begun is not None and start < begun[1]:
            begun = (begun[0], max(begun[1], end))
            continue
        if begun is not None:
            yield begun
        begun = (start, end)
    if begun is not None:
        yield begun


def _values_of(secret: Mapping[str, Any]) -> Iterator[str]:
    """Yield the values in `data` (base64) and `stringData` of a Secret, as text."""
    for value in _map(secret.get("data")).values():
        try:
            yield base64.b64decode(str(value), validate=True).decode("utf-8").strip()
        except ValueError:  # bytes are no text and appear in no line; their base64 may
            yield str(value)
    for value in _map(secret.get("stringData")).values():
        yield str(value).strip()


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _with_lines(text: str, least: int) -> Iterator[str]:
    """Yield a value, and each long line of one that has several: outputs are cut into lines."""
    text = text[:MOST_VALUE_CHARACTERS]
    if len(text) >= least:
        yield from _pieces(text)
    if "\n" in text:
        for line in map(str.strip, text.splitlines()):
            if len(line) >= LEAST_LINE_CHARACTERS and _tells(line):
                yield from _pieces(line)


def _pieces(text: str) -> Iterator[str]:
    """Yield pieces that overlap, or the whole text if it is short."""
    for start in range(0, max(1, len(text) - _OVERLAP), PIECE_CHARACTERS - _OVERLAP):
        yield text[start : start + PIECE_CHARACTERS]


def _tells(line: str) -> bool:
    """Tell a line of a value from the frame of any key: `-----BEGIN PRIVATE KEY-----`."""
    return not line.startswith("-----")


def _forms(text: str) -> Iterator[str]:
    """Yield the forms in which a value may appear in a text, each of six characters or more."""
    forms = {text, quote(text, safe=""), quote(text), quote_plus(text), html.escape(text)}
    forms |= {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    forms |= {" ".join(text.split()), clean(text), clean_line(text, PIECE_CHARACTERS)}
    data = text.encode("utf-8", "surrogatepass")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        forms.add(encode(data).decode())
        forms.update(_inside(encode, data))
    yield from (form for form in forms if len(form) >= _HEAD)


def _inside(encode: Callable[[bytes], bytes], data: bytes) -> Iterator[str]:
    """Yield the base64 of `data` after 0 to 2 more bytes, without what its neighbours affect."""
    for before in range(3):
        text = encode(bytes(before) + data).decode().rstrip("=")
        first = -(-before * 8 // 6)
        last = (before + len(data)) * 8 // 6
        if last - first >= _LEAST_ENCODED:
            yield text[first:last]
