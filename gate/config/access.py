"""How servers are accessed: where they are and where secrets are kept; no secret is an option.

The keys of `prometheus` and `services`, and the flags and variables that override the former.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Final, TypeVar

from pydantic import Field, WithJsonSchema

from gate.config.checks import scalars, values
from gate.config.checks.keys import Keys, key, spelt
from gate.config.checks.mapping import read_mapping
from gate.config.parsing import parse_text, parse_texts
from gate.config.secret_variables import PASSWORD, SECRET_VARIABLES, TOKEN, USER
from gate.config.taking import BadValueError, Fault, inside
from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.sources.access import Access, Secret, SecretFile, SecretVariable, is_header
from gate.sources.address import Address

_VARIABLE: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_HEADER_HINT: Final = "as in headers: {X-Scope-OrgID: {file: tenant.txt}}"
Header = tuple[str, Secret]


def _variable(value: object) -> str:
    name = parse_text(value)
    if re.fullmatch(_VARIABLE, name, re.ASCII) is None:
        raise UsageError(f"not the name of a variable: {scalars.quote_value(name)}")
    return name


def _headers(value: object) -> tuple[tuple[str, HeaderKeys], ...]:
    if not isinstance(value, Mapping):
        raise UsageError("not a mapping of headers", hint=_HEADER_HINT)
    wrong = [fault for name, given in value.items() for fault in _header_faults(str(name), given)]
    if wrong:
        raise BadValueError(wrong)
    return tuple((str(name), HeaderKeys.model_validate(given)) for name, given in value.items())


def _header_faults(name: str, given: object) -> Iterator[Fault]:
    """Yield what is wrong with a header; never its value, even if that is in the wrong place."""
    if not is_header(name):
        yield Fault((name,), f"not the name of a header to be set: {scalars.quote_value(name)}")
    keys, wrong = read_mapping(HeaderKeys, given) if isinstance(given, Mapping) else (None, [])
    yield from (Fault((name, *fault.path), fault.message, fault.hint) for fault in wrong)
    if not wrong and (keys is None or len(keys.model_fields_set) != 1):
        yield Fault((name,), "takes its value from one file or one variable", _HEADER_HINT)


def parse_header_files(value: object) -> tuple[Header, ...]:
    """Take a list of `NAME=FILE`."""
    items = value if isinstance(value, list | tuple) else parse_texts(value)
    return tuple(item if isinstance(item, tuple) else _header_file(item) for item in items)


def _header_file(item: object) -> Header:
    name, equals, path = parse_text(item).partition("=")
    if not equals or not path:
        hint = "NAME=FILE, as in X-Scope-OrgID=tenant.txt"
        raise UsageError(f"not a header and its file: {scalars.quote_value(item)}", hint=hint)
    if not is_header(name):
        raise UsageError(f"not the name of a header to be set: {scalars.quote_value(name)}")
    return name, SecretFile(path)


VariableName = Annotated[
    str | None, values.by(_variable), values.schema_of("string", pattern=f"^{_VARIABLE}$")
]
UrlIfSaid = Annotated[str | None, *values.Url.__metadata__]


class HeaderKeys(Keys):
    """Where the value of a header stands."""

    file: values.TextIfSaid = key("a file that holds it")
    variable: VariableName = key("an environment variable that holds it")


class ServerKeys(Keys):
    """A server and what proves who asks it; the secrets stand in files or variables."""

    url: UrlIfSaid = key("where it is")
    token_file: values.TextIfSaid = key("a file with a bearer token, read again at each request")
    token_variable: VariableName = key("a variable with a bearer token")
    user_file: values.TextIfSaid = key("a file with the user's name, for basic auth")
    user_variable: VariableName = key("a variable with the user's name")
    password_file: values.TextIfSaid = key("a file with the user's password")
    password_variable: VariableName = key("a variable with the user's password")
    headers: Annotated[
        tuple[tuple[str, HeaderKeys], ...] | None,
        values.by(_headers),
        WithJsonSchema({"type": "object"}),
    ] = key("more headers by name, as for a tenant, each from a file or a variable")
    ca_file: values.TextIfSaid = key(
        "a file of certificates that are trusted, instead of the usual"
    )
    cert_file: values.TextIfSaid = key("a file with a client certificate")
    key_file: values.TextIfSaid = key("a file with its key")


class ServiceKeys(ServerKeys):
    """A service that HTTP checks ask: all its URLs, by scheme, host and port."""

    url: values.ServiceUrl = Field(description="any of its URLs")


Server = TypeVar("Server", bound=ServerKeys)


def parse_server(value: object) -> ServerKeys:
    """Take the mapping `prometheus`."""
    return value if isinstance(value, ServerKeys) else _server(ServerKeys, value)


def parse_services(value: object) -> tuple[ServiceKeys, ...]:
    """Take the list `services`, in which each origin may occur only once."""
    if not isinstance(value, list | tuple):
        hint = "as in services: [{url: https://web.example, token-file: token}]"
        raise UsageError("not a list of services", hint=hint)
    found: list[ServiceKeys] = []
    wrong: list[Fault] = []
    for index, item in enumerate(value):
        try:
            keys = item if isinstance(item, ServiceKeys) else _server(ServiceKeys, item)
        except BadValueError as error:
            wrong += [_of_service(index, fault) for fault in error.faults]
            continue
        if service_of(keys.url, found) is not None:
            origin = Address.parse(keys.url, allow_link_local=True)
            wrong.append(_of_service(index, Fault(("url",), f"a second {origin}")))
        found.append(keys)
    if wrong:
        raise BadValueError(wrong)
    return tuple(found)


def _of_service(index: int, fault: Fault) -> Fault:
    about = f"service {index + 1}: {inside(fault.path)}" if fault.path else f"service {index + 1}"
    return Fault((index, *fault.path), fault.message, fault.hint, about)


def service_of(url: str, services: Sequence[ServiceKeys]) -> ServiceKeys | None:
    """Return the service that is configured for the origin of a URL, None if there is none."""
    origin = _origin(url)
    return next((keys for keys in services if _origin(keys.url) == origin), None)


def _origin(url: str) -> tuple[str, str, int]:
    return Address.parse(url, allow_link_local=True).origin


def _server(form: type[Server], value: object) -> Server:
    if not isinstance(value, Mapping):
        raise BadValueError([Fault((), "not a mapping", "as in {url: https://prometheus.example}")])
    keys, wrong = read_mapping(form, value)
    wrong += _contradictions(keys) if keys else []
    if keys is None or wrong:
        raise BadValueError(wrong)
    return keys


def _contradictions(keys: ServerKeys) -> Iterator[Fault]:
    given = {spelt(name) for name in keys.model_fields_set}
    for what in ("token", "user", "password"):
        if {f"{what}-file", f"{what}-variable"} <= given:
            yield Fault((f"{what}-variable",), f"the {what} comes from a file or a variable")
    token, user, password = (
        not given.isdisjoint((f"{what}-file", f"{what}-variable"))
        for what in ("token", "user", "password")
    )
    if token and (user or password):
        yield Fault((), "either a token or a user and a password")
    elif user != password:
        yield Fault((), "a user needs a password, and a password a user")
    if ("cert-file" in given) != ("key-file" in given):
        yield Fault((), "a client certificate needs its key, and a key its certificate")


@dataclass(frozen=True, slots=True)
class Flags:
    """What flags say about access to Prometheus; None and empty mean not given."""

    token_file: str | None = None
    headers: tuple[Header, ...] = ()
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None


def access_of(keys: ServerKeys | None, environ: Mapping[str, str]) -> Access:
    """Return the access to a server configured in a file; variables are read from `environ`."""
    if keys is None:
        return Access()

    def secret(file: str | None, variable: str | None) -> Secret | None:
        if file is not None:
            return SecretFile(file)
        return SecretVariable(variable, environ) if variable is not None else None

    headers = ((name, secret(of.file, of.variable)) for name, of in keys.headers or ())
    user = secret(keys.user_file, keys.user_variable)
    password = secret(keys.password_file, keys.password_variable)
    return Access(
        token=secret(keys.token_file, keys.token_variable),
        user=(user, password) if user and password else None,
        headers=tuple((name, value) for name, value in headers if value is not None),
        authority=keys.ca_file or "",
        certificate=keys.cert_file or "",
        key=keys.key_file or "",
    )


def prometheus_access(keys: ServerKeys | None, flags: Flags, environ: Mapping[str, str]) -> Access:
    """Return the access to Prometheus: flags win over variables, variables over the file.

    Credentials (a token, or a user and a password) all come from one source: the first that has
    any.
    """
    configured = access_of(keys, environ)
    token, user = configured.token, configured.user
    if flags.token_file is not None:
        token, user = SecretFile(flags.token_file), None
    elif any(environ.get(name, "").strip() for name in SECRET_VARIABLES):
        token, user = _of_environment(environ)
    certificate, private_key = configured.certificate, configured.key
    if flags.cert_file or flags.key_file:
        certificate, private_key = flags.cert_file or "", flags.key_file or ""
    said = {name.lower() for name, _ in flags.headers}
    headers = tuple(header for header in configured.headers if header[0].lower() not in said)
    authority = flags.ca_file or configured.authority
    return Access(token, user, (*headers, *flags.headers), authority, certificate, private_key)


def _of_environment(
    environ: Mapping[str, str],
) -> tuple[Secret | None, tuple[Secret, Secret] | None]:
    def there(name: str) -> bool:
        return bool(environ.get(name, "").strip())

    token = SecretVariable(TOKEN, environ) if there(TOKEN) else None
    named = there(USER) or there(PASSWORD)
    pair = (SecretVariable(USER, environ), SecretVariable(PASSWORD, environ))
    return token, pair if named else None
