"""How servers are asked: who says it, and what is wrong with it before anything is sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from gate.config import Settings, as_configuration, unknown_variables
from gate.config.settings import CONFIG_FILE
from gate.sources.access import Access, SecretFile, SecretVariable
from gate.sources.address import Address
from tests.unit.config.folder import Folder, listed

CANARY = "canary-9f8e7d"
ASKS = listed("name: errors\nquery: up\nmax: 1")
URL = "https://prometheus.example"

FILE = f"""\
prometheus:
  url: {URL}
  token-file: TOKEN
  headers:
    X-Scope-OrgID: {{file: TENANT}}
    X-Other: {{variable: OTHER}}
{ASKS}
"""


@pytest.fixture
def file(folder: Folder) -> str:
    """Return a configuration whose secrets are there."""
    text = FILE
    for name in ("TOKEN", "TENANT"):
        path = folder.path / name
        path.write_text(f"{CANARY}\n", encoding="utf-8")
        text = text.replace(f" {name}", f" {path}").replace(f": {name}", f": {path}")
    return text


def authorization(settings: Settings, environ: dict[str, str]) -> str:
    """Return the header that proves who asks."""
    return settings.access(environ).headers_for().get("Authorization", "")


@pytest.mark.contract("B443")
def test_the_file_says_how_prometheus_is_asked(folder: Folder, file: str) -> None:
    """In one mapping; the secrets stay where they are."""
    environ = {"OTHER": "x"}
    settings = folder.load(file, environ=environ)
    assert settings.prometheus_url == URL
    tenant, other = SecretFile(str(folder.path / "TENANT")), SecretVariable("OTHER", environ)
    assert settings.access(environ).headers == (("X-Scope-OrgID", tenant), ("X-Other", other))
    assert settings.access(environ).token == SecretFile(str(folder.path / "TOKEN"))


@pytest.mark.contract("B443")
@pytest.mark.parametrize(
    ("environ", "flags", "wanted"),
    [
        pytest.param({}, {}, f"Bearer {CANARY}", id="the file"),
        pytest.param({"TOKEN": "env"}, {}, "Bearer env", id="a variable"),
        pytest.param({"USER": "me", "PASSWORD": "pw"}, {}, "Basic bWU6cHc=", id="a user"),
        pytest.param({"TOKEN": "env"}, {"token": "flag"}, "Bearer flag", id="a flag"),
        pytest.param({"TOKEN_FILE": "flag"}, {}, "Bearer flag", id="the flag's variable"),
        pytest.param({"TOKEN": " "}, {}, f"Bearer {CANARY}", id="an empty variable"),
    ],
)
def test_who_asks_is_said_by_flag_variable_or_file(
    folder: Folder, file: str, environ: dict[str, str], flags: dict[str, str], wanted: str
) -> None:
    """A token replaces a user, and a user a token: whoever says who asks says it all."""
    path = folder.path / "flag"
    path.write_text("flag", encoding="utf-8")
    values = {name: str(path) if value == "flag" else value for name, value in environ.items()}
    variables = {f"ROLLOUT_GATE_PROMETHEUS_{name}": value for name, value in values.items()}
    variables["OTHER"] = "x"
    given = {"prometheus_token_file": str(path)} if flags else {}
    settings = folder.load(
        file.replace("variable: OTHER", f"file: {path}"), environ=variables, **given
    )
    assert authorization(settings, variables) == wanted


@pytest.mark.contract("B443")
def test_flags_win_over_the_parts_of_the_file(folder: Folder, file: str) -> None:
    """The URL, a header of one name in whatever case; what no flag says stays."""
    tenant = folder.path / "other-tenant"
    tenant.write_text("b", encoding="utf-8")
    settings = folder.load(
        file,
        environ={"OTHER": "x", "ROLLOUT_GATE_PROMETHEUS_URL": "https://other.example"},
        prometheus_header=(f"x-scope-orgid={tenant}",),
        allow_link_local="true",
    )
    assert settings.prometheus_url == "https://other.example"
    names = [name for name, _ in settings.access({}).headers]
    assert names == ["X-Other", "x-scope-orgid"]
    assert settings.access({}).allow_link_local
    assert not settings.access({}).allow_plain_http


def test_commands_that_ask_nobody_need_no_server(folder: Folder, file: str) -> None:
    """A recording is judged where the token file is not, and a manifest is rehearsed."""
    text = file.replace("TOKEN", "GONE")
    for command in ("replay", "backtest", "rehearse"):
        settings = folder.load(text, command=command)
        assert (settings.prometheus_url is None) == (command != "rehearse")
        assert len(settings.checks) == 1
    assert folder.load(text, command="checks", show="error-rate").show == "error-rate"


@pytest.mark.contract("B444")
@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ({"prometheus_url": "prometheus:9090"}, "--prometheus-url: a URL has to begin with http"),
        ({"prometheus_url": "ftp://p"}, "--prometheus-url: a URL has to begin with http"),
        ({"prometheus_url": f"https://me:{CANARY}@p"}, "--prometheus-url: a URL cannot hold a"),
        ({"prometheus_url": "http://169.254.169.254"}, "--prometheus-url: 169.254.169.254 is a"),
        ({"prometheus_url": "https://p:port"}, "--prometheus-url: the port of the URL"),
        ({"prometheus_token_file": "GONE"}, "--prometheus-token-file: GONE cannot be read"),
        ({"prometheus_ca_file": "GONE"}, "--prometheus-ca-file: GONE holds no certificate"),
        ({"prometheus_cert_file": "GONE"}, "--prometheus-cert-file: a client certificate needs"),
        ({"prometheus_key_file": "GONE"}, "--prometheus-key-file: a client certificate needs"),
        ({"prometheus_header": ("X-A=GONE",)}, "--prometheus-header: GONE cannot be read"),
        ({"prometheus_header": ("X-A",)}, "--prometheus-header: not a header and its file: 'X-A'"),
        ({"prometheus_header": ("Host=x",)}, "--prometheus-header: not the name of a header"),
        ({"http_check": ("http://169.254.169.254/x",)}, "--http-check: 169.254.169.254-x: 169."),
    ],
)
def test_what_cannot_be_asked_is_found_before_anything_is_sent(
    folder: Folder, flags: dict[str, Any], problem: str
) -> None:
    """One line each, exit 2, and no secret in it."""
    given = {"prometheus_url": URL, "check": ("a: up <= 1",), **flags}
    (fault,) = folder.problems(**given)
    assert fault.startswith(problem)
    assert CANARY not in fault


@pytest.mark.contract("B444")
@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (URL, "http://p", "rollout-gate.yaml:1: prometheus: credentials would go to http://p in"),
        (URL, "http://[fe80::1]", "rollout-gate.yaml:1: prometheus: fe80::1 is a link-local"),
        ("TOKEN", "GONE", "rollout-gate.yaml:1: prometheus: "),
        ("variable: OTHER", "variable: NONE", "rollout-gate.yaml:1: prometheus: NONE is empty"),
    ],
)
def test_a_file_that_cannot_work_is_named(
    folder: Folder, file: str, old: str, new: str, problem: str
) -> None:
    """By the line of the server."""
    (fault,) = folder.problems(file.replace(old, new), environ={"OTHER": "x"})
    assert fault.startswith(problem)
    assert CANARY not in fault


@pytest.mark.contract("B444")
def test_a_half_of_a_user_is_named(folder: Folder) -> None:
    """The variable that is not there."""
    environ = {"ROLLOUT_GATE_PROMETHEUS_USER": "me"}
    assert folder.problems(prometheus_url=URL, check=("a: up <= 1",), environ=environ) == [
        "--prometheus-url: ROLLOUT_GATE_PROMETHEUS_PASSWORD is empty or not one printable line"
    ]


SERVERS: list[tuple[str, str]] = [
    ("{url: p}", "prometheus: url: a URL has to begin with"),
    ("{urls: 'http://p'}", 'prometheus: urls: unknown key (did you mean "url"?)'),
    ("{token_file: a}", 'prometheus: token_file: unknown key (did you mean "token-file"?)'),
    (f"{{token: {CANARY}}}", "prometheus: token: unknown key"),
    ("{token-file: a, token-variable: B}", "prometheus: token-variable: the token comes from"),
    ("{token-file: a, user-file: b, password-file: c}", "prometheus: either a token or a user"),
    ("{user-file: a}", "prometheus: a user needs a password"),
    ("{password-variable: A}", "prometheus: a user needs a password"),
    ("{token-variable: a b}", "prometheus: token-variable: not the name of a variable"),
    ("{cert-file: a}", "prometheus: a client certificate needs its key"),
    ("{headers: [a]}", "prometheus: headers: not a mapping of headers"),
    (f"{{headers: {{X-A: {CANARY}}}}}", "prometheus: headers.X-A: takes its value"),
    ("{headers: {X-A: {}}}", "prometheus: headers.X-A: takes its value from one file or one"),
    ("{headers: {X-A: {file: a, variable: B}}}", "prometheus: headers.X-A: takes its value"),
    ("{headers: {X-A: {fil: a}}}", 'prometheus: headers.X-A.fil: unknown key (did you mean "file"'),
    ("{headers: {'X A': {file: a}}}", "prometheus: headers.X A: not the name of a header"),
    ("{headers: {cOnnection: {file: a}}}", "prometheus: headers.cOnnection: not the name of"),
    ("{ca-file: 3}", "prometheus: ca-file: not text: '3'"),
    (f"https://me:{CANARY}@p", "prometheus: not a mapping"),
]


@pytest.mark.contract("B438", "B444", "B445")
@pytest.mark.parametrize(("text", "problem"), SERVERS, ids=[text for text, _ in SERVERS])
def test_a_mapping_that_is_wrong_is_named_and_the_schema_agrees(
    folder: Folder, text: str, problem: str
) -> None:
    """Also where the secret itself was written into the file: it is not shown."""
    (fault,) = folder.problems(f"prometheus: {text}")
    assert re.match(rf"{CONFIG_FILE}:1(:\d+)?: {re.escape(problem)}", fault)
    assert CANARY not in fault
    assert not folder.is_valid(f"prometheus: {text}")


@pytest.mark.contract("B438")
@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{url: 'https://p:9090/prefix', ca-file: a}",
        "{user-file: a, password-variable: B, cert-file: c, key-file: d}",
        "{token-variable: A, headers: {X-Scope-OrgID: {variable: B}}}",
    ],
)
def test_a_mapping_that_is_right_is_taken_and_the_schema_agrees(folder: Folder, text: str) -> None:
    """Files are looked at where a query is to be asked."""
    folder.load(f"prometheus: {text}")
    assert folder.is_valid(f"prometheus: {text}")


SERVICES = """\
services:
  - url: https://web.example/any
    token-file: TOKEN
  - url: http://web.example
"""


@pytest.mark.contract("B446")
def test_a_service_is_asked_by_its_origin(folder: Folder) -> None:
    """Scheme, host and port; another port is another service."""
    token = folder.path / "TOKEN"
    token.write_text(CANARY, encoding="utf-8")
    text = SERVICES.replace("TOKEN", str(token))
    settings = folder.load(text, http_check=("https://web.example/health",))
    assert settings.http_access("https://web.example:443/health").token == SecretFile(str(token))
    for other in ("http://web.example/health", "https://web.example:8443/", "https://b.example"):
        assert settings.http_access(other) == Access()
    assert folder.is_valid(text)


@pytest.mark.contract("B444", "B446")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("services: [{token-file: a}]", '1:12: services: service 1: has no "url"'),
        (
            "services:\n  - url: http://a\n  - url: http://a:80/x",
            "3:5: services: service 2: url: a sec",
        ),
        ("services: {url: http://a}", "1: services: not a list of services"),
        (
            "services:\n  - url: http://a\n    tokn-file: b",
            "3:5: services: service 1: tokn-file: unk",
        ),
        (
            "services: [{url: 'https://web.example', token-file: GONE}]",
            "1: services: GONE cannot be read",
        ),
        (
            "services: [{url: 'http://web.example', token-variable: HOME}]",
            "1: services: credentials would go to http://web.example in plain text",
        ),
    ],
)
def test_a_service_that_is_wrong_is_named(folder: Folder, text: str, problem: str) -> None:
    """What keeps a check from being asked is found once."""
    urls = ("https://web.example/a", "https://web.example/b", "http://web.example/")
    (fault,) = folder.problems(text, http_check=urls, environ={"HOME": "x"})
    assert fault.startswith(f"{CONFIG_FILE}:{problem}")


def test_a_key_of_a_file_that_is_a_flag_says_where_it_belongs(folder: Folder) -> None:
    """One way to say a thing in a file."""
    assert folder.problems(f"prometheus-url: {URL}") == [
        'rollout-gate.yaml:1: unknown key "prometheus-url" (in a file it is prometheus: url)'
    ]
    assert folder.problems("on_failure: keep") == [
        'rollout-gate.yaml:1: unknown key "on_failure" (did you mean "on-failure"?)'
    ]


def test_the_variables_of_secrets_are_known() -> None:
    """And a slip of one is pointed out."""
    environ = {f"ROLLOUT_GATE_PROMETHEUS_{name}": "x" for name in ("TOKEN", "USER", "PASSWORD")}
    assert unknown_variables(environ) == ()
    assert unknown_variables({"ROLLOUT_GATE_PROMETHEUS_TOKNE": "x"}) == (
        "ROLLOUT_GATE_PROMETHEUS_TOKNE is no option (did you mean ROLLOUT_GATE_PROMETHEUS_TOKEN?)",
    )


@pytest.mark.contract("B445")
def test_no_secret_is_in_settings_or_in_plain_configuration(
    folder: Folder, file: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The settings hold where a secret is, a check not even that."""
    environ = {"OTHER": CANARY, "ROLLOUT_GATE_PROMETHEUS_TOKEN": CANARY}
    settings = folder.load(file, environ=environ)
    assert CANARY not in repr(settings)
    assert CANARY not in repr(settings.access(environ))
    assert CANARY not in str(settings.prometheus_url)
    assert "TOKEN" not in json.dumps(as_configuration(settings.checks))


def test_a_secret_variable_is_read_when_it_is_needed(folder: Folder) -> None:
    """Not when the settings are made."""
    environ = {"ROLLOUT_GATE_PROMETHEUS_TOKEN": "first"}
    access = folder.load(prometheus_url=URL, environ=environ).access(environ)
    environ["ROLLOUT_GATE_PROMETHEUS_TOKEN"] = "second"
    assert access.headers_for() == {"Authorization": "Bearer second"}
    assert isinstance(access.token, SecretVariable)
    access.check(Address.parse(URL))


def test_paths_stay_as_they_were_written(folder: Folder) -> None:
    """Relative to the working directory, as every path of a configuration."""
    settings = folder.load(f"prometheus: {{url: '{URL}', ca-file: ./ca.pem}}")
    assert settings.access({}).authority == "./ca.pem"
    assert not Path("./ca.pem").exists()
