"""Secrets by value: in which forms they are found, and what is no secret."""

from __future__ import annotations

import base64
import html
import json
import textwrap
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.wire.secret_values import MASK, MOST_VALUE_CHARACTERS, SecretValues
from gate.wire.untrusted import clean, clean_line
from tests.table import each
from tests.unit.wire.api_objects import noise

TOKEN = "c4nary/s3cret+value=?&\"'é"
PEM = """-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0B
AQEFAASCBKcwggSjAgEAAoIB
-----END PRIVATE KEY-----
"""


def knowing(*credentials: str) -> SecretValues:
    """Return what knows some credentials."""
    secrets = SecretValues()
    for credential in credentials:
        secrets.add(credential)
    return secrets


def data(**values: str) -> dict[str, object]:
    """Return a Secret as the server gives it."""
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
    return {"kind": "Secret", "data": encoded}


@pytest.mark.contract("B258")
@each(
    ("form",),
    [
        (TOKEN,),
        (quote(TOKEN, safe=""),),
        (quote_plus(TOKEN),),
        (base64.b64encode(TOKEN.encode()).decode(),),
        (base64.urlsafe_b64encode(TOKEN.encode()).decode().rstrip("="),),
        (json.dumps(TOKEN),),
        (json.dumps(TOKEN, ensure_ascii=False),),
        (html.escape(TOKEN),),
        (f"{TOKEN[:10]}…",),
        (f"{TOKEN[:7]}... and more",),
    ],
)
def test_a_secret_is_found_in_each_form(form: str) -> None:
    """As it is, encoded for a URL, JSON, HTML or a header, and with its end cut off."""
    said = knowing(TOKEN).mask(f"before {form} after")
    assert MASK in said
    assert TOKEN[:7] not in said
    assert (said.startswith("before "), said.endswith(" after")) == (True, True)


@pytest.mark.contract("B258")
@given(user=st.text(st.characters(codec="ascii", categories=("L", "N")), max_size=9))
def test_a_secret_is_found_inside_of_base64(user: str) -> None:
    """Basic auth puts a name of any length before the password."""
    password = "correct-horse-battery"
    header = base64.b64encode(f"{user}:{password}".encode()).decode()
    said = knowing(password).mask(f"Authorization: Basic {header}")
    assert password.encode() not in base64.b64decode(said.split()[-1].replace(MASK, "") + "===")
    assert MASK in said


@pytest.mark.contract("B258")
@pytest.mark.parametrize(
    "secret", ["caf\u00e9\u200b-of-zero-width", "::add-mask-of-mine", "##[of-mine-and-yours"]
)
def test_a_secret_is_found_in_what_was_cleaned(secret: str) -> None:
    """A text is cleaned where it enters, before it is masked where it leaves."""
    secrets = SecretValues()
    secrets.add_secret({"stringData": {"password": secret}})
    for clean_ in (clean, clean_line):
        assert secrets.mask(clean_(secret)) == MASK
        assert MASK in secrets.mask(clean_(f"password: {secret} is wrong"))


@pytest.mark.contract("B258")
def test_a_private_key_is_found_by_its_lines() -> None:
    """An output is made of lines; what stands around any key is no secret."""
    said = knowing(PEM).mask("AQEFAASCBKcwggSjAgEAAoIB and -----BEGIN PRIVATE KEY-----")
    assert said == "*** and -----BEGIN PRIVATE KEY-----"


@pytest.mark.contract("B258")
def test_what_is_too_short_or_a_name_blanks_nothing() -> None:
    """A value of a Secret may be a port, a mode, or the name of the app itself."""
    secrets = knowing("a", "short")
    secrets.add_secret(data(port="15432", mode="prod", user="checkout", at="1700000000"))
    secrets.spare(["checkout"])
    text = "a short prod checkout on 15432 at 1700000000"
    assert secrets.mask(text) == text
    secrets.add_secret(data(password="checkout-s3cret"))
    assert secrets.mask("checkout-s3cret") == MASK
    secrets.add("checkout")
    assert secrets.mask("checkout") == MASK


@pytest.mark.contract("B258")
def test_values_of_a_secret_are_taken_from_data_and_string_data() -> None:
    """Those that are bytes stand in no text, but their base64 may."""
    secrets = SecretValues()
    raw = base64.b64encode(b"\xff\xfe\x00\x01\x02\x03\x04\x05\x06").decode()
    secrets.add_secret({"data": {"raw": raw}, "stringData": {"key": "of-string-data"}})
    secrets.add_secret({"data": None})
    assert secrets.mask(f"{raw} of-string-data") == f"{MASK} {MASK}"


@pytest.mark.contract("B258")
def test_documents_stay_documents() -> None:
    """Texts and keys are masked, numbers are not, and neither is a part of a longer number."""
    secrets = knowing("12345678", TOKEN)
    document = {"at": 12345678, TOKEN: [f"x{TOKEN}x", 112345678, None, True]}
    assert secrets.mask_value(document) == {
        "at": 12345678,
        MASK: [f"x{MASK}x", 112345678, None, True],
    }
    assert secrets.mask("112345678 12345678") == f"112345678 {MASK}"


@pytest.mark.contract("B258")
def test_secrets_that_overlap_leave_nothing() -> None:
    """What is common to both is a part of both."""
    secrets = knowing("abcdefgh", "efghijkl")
    assert secrets.mask("-abcdefghijkl-") == f"-{MASK}-"
    assert secrets.mask("-abcdefghijkl-", lambda found: found.upper()) == "-ABCDEFGHIJKL-"


@given(text=st.text(), secret=st.text(min_size=6))
def test_no_text_holds_a_credential(text: str, secret: str) -> None:
    """Whatever the text around it, and whatever characters it has."""
    secrets = knowing(secret)
    value = secret.strip()
    said = secrets.mask(f"{text}{value}{text}")
    if len(value) >= 6 and not value.isdecimal() and value not in MASK:
        assert value not in said.replace(MASK, "\0")


def bundle(seed: int) -> str:
    """Return 60 KB of certificates."""
    lines = "\n".join(textwrap.wrap(noise(45_000, seed), 64))
    return f"-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n"


@pytest.mark.contract("B258")
@each(
    ("value",), [(noise(15_000, 1),), (f"user=x\n{noise(6_750, 2)}\nlast=y\n" * 2,), (bundle(3),)]
)
def test_a_large_value_is_found_whole(value: str) -> None:
    """In pieces that leave nothing between them, however it is written."""
    secrets = SecretValues()
    secrets.add_secret(data(key=value))
    value = value.strip()
    encoded = base64.b64encode(value.encode()).decode()
    for form in (value, encoded, json.dumps(value)[1:-1], quote(value, safe="")):
        assert secrets.mask(f"before {form} after") == f"before {MASK} after"


@pytest.mark.contract("B258")
def test_of_a_value_the_first_64_kib_count() -> None:
    """What stands behind them is shown, what stands before them is not."""
    value = noise(MOST_VALUE_CHARACTERS, 4)[: MOST_VALUE_CHARACTERS + 100]
    secrets = SecretValues()
    secrets.add_value(value)
    assert secrets.mask(value) == MASK + value[MOST_VALUE_CHARACTERS:]


class Counted(str):
    """A text that counts how often a part of it is taken or compared."""

    __slots__ = ()
    steps = 0

    def __getitem__(self, key: Any) -> str:
        """Take a part."""
        Counted.steps += 1
        return super().__getitem__(key)

    def startswith(self, *given: Any) -> bool:
        """Compare a part."""
        Counted.steps += 1
        return super().startswith(*given)


@pytest.mark.contract("B258")
def test_a_text_costs_one_look_up_a_character_whatever_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One credential or ten bundles of certificates: a line of a log is masked as soon."""
    line = Counted("the pods of web are not ready: 2 of 5 " * 270)
    steps: list[int] = []
    for values in ([TOKEN], [bundle(seed) for seed in range(10)]):
        secrets = SecretValues()
        for value in values:
            secrets.add_value(value)
        monkeypatch.setattr(Counted, "steps", 0)
        assert secrets.mask(line) == line
        steps.append(Counted.steps)
    assert steps[0] == steps[1] <= 1.01 * len(line)


@pytest.mark.contract("B258")
def test_a_name_that_is_spared_after_a_text_was_masked_is_shown() -> None:
    """What else is known stays masked."""
    secrets = SecretValues()
    secrets.add_secret(data(user="checkout", password="checkout-s3cret"))
    assert secrets.mask("checkout") == MASK
    secrets.spare(["checkout"])
    assert secrets.mask("checkout checkout-s3cret") == f"checkout {MASK}"
