"""Settings: which layer wins, and what is wrong where."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gate.config import Settings, SettingsError, load, unknown_variables
from gate.config.json_schema import schema
from gate.core.model.int_or_percent import Share
from gate.core.rollout.policy import OnFailure
from gate.errors import UsageError

ROOT = Path(__file__).resolve().parent.parent.parent


def loaded(
    folder: Path,
    *,
    command: str = "apply",
    file: str | None = None,
    environ: Mapping[str, str] | None = None,
    **flags: Any,
) -> Settings:
    """Load in a folder, whose rollout-gate.yaml holds `file`."""
    if file is not None:
        (folder / "rollout-gate.yaml").write_text(file, encoding="utf-8")
    return load(command, flags, environ=environ or {}, folder=folder)


def refused(folder: Path, **given: Any) -> SettingsError:
    """Return the error of loading what is wrong."""
    with pytest.raises(SettingsError) as caught:
        loaded(folder, **given)
    assert caught.value.exit_code == 2
    return caught.value


def lines(folder: Path, **given: Any) -> list[str]:
    """Return the problems of loading, with the folder left out of the places."""
    return [line.removeprefix(f"{folder}/") for line in refused(folder, **given).problems]


@pytest.mark.contract("B184")
@pytest.mark.parametrize(
    ("flag", "variable", "file", "wanted"),
    [
        pytest.param("3m", "2m", "timeout: 1m", 180, id="the flag wins"),
        pytest.param(None, "2m", "timeout: 1m", 120, id="then the environment"),
        pytest.param(None, None, "timeout: 1m", 60, id="then the file"),
        pytest.param(None, None, "bake: 1m", None, id="then the default"),
        pytest.param("3m", None, "timeout: 1m", 180, id="a flag over a file"),
        pytest.param("auto", None, "timeout: 1m", None, id="a flag can return to the default"),
        pytest.param(None, "", "timeout: 1m", 60, id="an empty variable says nothing"),
    ],
)
def test_a_flag_wins_over_the_environment_and_that_over_the_file(
    tmp_path: Path, flag: str | None, variable: str | None, file: str, wanted: float | None
) -> None:
    """The first layer that says something decides."""
    environ = {} if variable is None else {"ROLLOUT_GATE_TIMEOUT": variable}
    flags = {} if flag is None else {"timeout": flag}
    assert loaded(tmp_path, file=file, environ=environ, **flags).timeout == wanted


@pytest.mark.contract("B184")
def test_later_files_win_key_by_key(tmp_path: Path) -> None:
    """Of several --config the later one decides what it names; rollout-gate.yaml is left out."""
    first, second = tmp_path / "first.yaml", tmp_path / "second.yaml"
    first.write_text("timeout: 1m\nbake: 10s\n", encoding="utf-8")
    second.write_text("timeout: 2m\n", encoding="utf-8")
    settings = loaded(tmp_path, file="on-failure: keep", config=(str(first), str(second)))
    assert (settings.timeout, settings.bake, settings.on_failure) == (120, 10, OnFailure.ROLLBACK)


def test_the_environment_can_name_configuration_files(tmp_path: Path) -> None:
    """`ROLLOUT_GATE_CONFIG` holds one file a line."""
    paths = [tmp_path / name for name in ("a.yaml", "b.yaml")]
    for path, text in zip(paths, ("bake: 1m", "tolerate: 1"), strict=True):
        path.write_text(text, encoding="utf-8")
    settings = loaded(tmp_path, environ={"ROLLOUT_GATE_CONFIG": "\n".join(map(str, paths))})
    assert (settings.bake, settings.tolerate) == (60, Share(1))


def test_lists_are_not_joined_across_layers(tmp_path: Path) -> None:
    """The managers of the flag are all that there are."""
    settings = loaded(tmp_path, file="take-over: [helm, argocd]", take_over=("kubectl-edit",))
    assert settings.take_over == ("kubectl-edit",)


@pytest.mark.contract("B186")
def test_everything_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    """Unknown keys and wrong values of all layers, each with its place and what may be meant."""
    file = "timeout: soon\ntimeuot: 1\non-failure:\n  panic\nimage:\n  - web\nnamespace:\n"
    found = lines(tmp_path, file=file, environ={"ROLLOUT_GATE_BAKE": "-1"}, tolerate="150%")
    assert found == [
        'rollout-gate.yaml:2: unknown key "timeuot" (did you mean "timeout"?)',
        "rollout-gate.yaml:7: namespace: has no value",
        "rollout-gate.yaml:5: image: web: names no container",
        "rollout-gate.yaml:1: timeout: not a duration: 'soon'",
        "rollout-gate.yaml:3: on-failure: not one of 'rollback', 'pause' or 'keep': 'panic'",
        "ROLLOUT_GATE_BAKE: not a duration: '-1'",
        "--tolerate: more than 100%: '150%'",
    ]


@pytest.mark.contract("B186")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("bake: 1s: 2s", "rollout-gate.yaml:1", id="no YAML"),
        pytest.param(
            "bake: 1s\nbake: 2s", 'rollout-gate.yaml:2:1: duplicate key "bake"', id="twice"
        ),
        pytest.param("- timeout", "rollout-gate.yaml:1:1: not a mapping of options", id="a list"),
        pytest.param("bake: 1s\n---\nbake: 1s", "rollout-gate.yaml:3", id="two documents"),
        pytest.param("a: &a [x]\nb: " + "[" * 20, "rollout-gate.yaml:2", id="nested"),
        pytest.param("x: " + "y" * 2**20, "larger than 1 MiB", id="large"),
        pytest.param("bake: !!python/name:os.system x", "unknown tag", id="tag"),
    ],
)
def test_a_file_that_is_no_configuration_is_named(tmp_path: Path, text: str, problem: str) -> None:
    """It is read as safely as a manifest, and the message has no hint about manifests."""
    with pytest.raises(UsageError) as caught:
        loaded(tmp_path, file=text)
    assert problem in caught.value.message
    assert caught.value.exit_code == 2
    assert "manifest" not in caught.value.hint


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_named_file_has_to_be_there(tmp_path: Path, name: str) -> None:
    """Only the default one may be missing, and a folder is none."""
    with pytest.raises(UsageError) as caught:
        loaded(tmp_path, config=(str(tmp_path / name),))
    assert str(tmp_path) in caught.value.message


def test_a_wrong_value_that_does_not_win_is_an_error(tmp_path: Path) -> None:
    """What is wrong today and hidden by a flag decides tomorrow."""
    assert lines(tmp_path, file="bake: never", bake="1s") == [
        "rollout-gate.yaml:1: bake: not a duration: 'never'"
    ]


def test_a_command_has_the_default_of_what_it_does_not_take(tmp_path: Path) -> None:
    """A file is shared by commands: `observe` in it does not keep `undo` from its write."""
    file = "observe: true\nbake: 10s\n"
    assert loaded(tmp_path, file=file).observe
    settings = loaded(tmp_path, command="undo", file=file)
    assert (settings.observe, settings.bake) == (False, 10)


@pytest.mark.contract("B181")
@pytest.mark.parametrize("text", ["abc", "-5", "0", "1e9", "10 minutes", "", "31d", "nan", "inf"])
def test_a_timeout_that_is_nonsense_names_its_flag(tmp_path: Path, text: str) -> None:
    """Each is one line that begins with the flag."""
    (problem,) = refused(tmp_path, timeout=text).problems
    assert problem.startswith("--timeout: ")
    assert "\n" not in problem


@pytest.mark.contract("B184")
def test_the_null_device_is_a_configuration_without_options(tmp_path: Path) -> None:
    """It keeps the working directory's file from being read, as a link to it does."""
    (tmp_path / "rollout-gate.yaml").write_text("timeout: 1m")
    (tmp_path / "nothing").symlink_to("/dev/null")
    for path in ("/dev/null", str(tmp_path / "nothing")):
        assert loaded(tmp_path, config=(path,)).timeout is None


@pytest.mark.contract("B185")
def test_a_variable_that_is_no_option_is_pointed_out_and_a_service_link_is_not() -> None:
    """The kubelet sets ROLLOUT_GATE_PORT for a Service of our name, a gate runs other gates."""
    environ = {
        "ROLLOUT_GATE_TIMEUOT": "1m",
        "ROLLOUT_GATE_TIMEOUT": "1m",
        "ROLLOUT_GATE_PORT": "tcp://10.0.0.1:80",
        "ROLLOUT_GATE_SERVICE_HOST": "10.0.0.1",
        "ROLLOUT_GATE_REVISION": "2",
        "ROLLOUT_GATE_POD_TEMPLATE_HASH": "57c7967766",
        "ROLLOUT_GATE_QQQ": "1",
        "ROLLOUT_GATE_RBAC": "1",
        "HOME": "/",
    }
    assert unknown_variables(environ) == (
        "ROLLOUT_GATE_QQQ is no option",
        "ROLLOUT_GATE_RBAC says nothing: --rbac has no variable",
        "ROLLOUT_GATE_TIMEUOT is no option (did you mean ROLLOUT_GATE_TIMEOUT?)",
    )


@pytest.mark.contract("B205")
@pytest.mark.parametrize("name", ["Bad NS", "shop.web", "-shop", "Shop", "a" * 64, "shop\n"])
def test_what_is_no_namespace_is_named(name: str, tmp_path: Path) -> None:
    """No request is needed to know it; one that protects nothing is a mistake as well."""
    [problem] = refused(tmp_path, namespace=name).problems
    assert problem.startswith("--namespace: not a namespace: ")
    (problem, *_) = lines(tmp_path, environ={"ROLLOUT_GATE_NAMESPACE": name.strip() + "!"})
    assert problem.startswith("ROLLOUT_GATE_NAMESPACE: not a namespace: ")
    [problem] = refused(tmp_path, protected_namespace=("kube-system", name)).problems
    assert problem.startswith("--protected-namespace: not a namespace: ")


@pytest.mark.contract("B205", "B1906")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("web", ""), ("deploy/web", ""), ("deployment.apps/web", ""), ("StatefulSets/db", "")),
        *(("rollout-gate.job.x", ""), ("leases.coordination.k8s.io/rollout-gate.job.x", "")),
        ("Bad NS", "'Bad NS'"),
        ("pod/web", "'pod/web'"),
        ("deploymnt/web", r"'deploymnt/web' \(did you mean deployment/web\?\)"),
    ],
)
def test_what_no_lock_is_named_after_is_named(name: str, wrong: str, tmp_path: Path) -> None:
    """A workload, as everywhere, or a lock's own name."""
    if not wrong:
        assert load("locks", {"release": name}, environ={}, folder=tmp_path).release == name
        return
    with pytest.raises(SettingsError, match=f"^--release: not a lock: {wrong}$"):
        load("locks", {"release": name}, environ={}, folder=tmp_path)


@pytest.mark.contract("B1961")
@pytest.mark.parametrize(
    ("flags", "wrong"),
    [
        (
            {"require_lock": True, "lock": False},
            "--require-lock: --require-lock and --no-lock exclude each other",
        ),
        (
            {"report": ("html=a", "json=./a")},
            "--report: ./a is given for another output, too",
        ),
        ({"record": "a", "report": ("json=a",)}, "--record: a is given for another output, too"),
        ({"file": ("a",), "report": ("json=a",)}, "--report: a is a manifest of this run"),
        (
            {"expect_image": ("web=shop/web:1",)},
            "--expect-image: web=shop/web:1 is no image reference",
        ),
    ],
)
def test_what_contradicts_itself_is_named(
    flags: dict[str, Any], wrong: str, tmp_path: Path
) -> None:
    """Before anything is read or asked."""
    command = "verify" if "expect_image" in flags else "apply"
    with pytest.raises(SettingsError) as caught:
        load(command, flags, environ={}, folder=tmp_path)
    assert str(caught.value).startswith(wrong)


@pytest.mark.contract("B1961")
def test_several_outputs_may_go_to_one_stream(tmp_path: Path) -> None:
    """Each adds to it."""
    assert len(loaded(tmp_path, report=("json=/dev/null", "html=/dev/null")).report) == 2


@pytest.mark.contract("B187")
def test_the_published_schema_is_this_one() -> None:
    """`rollout-gate schema config > docs/config.schema.json` changes nothing."""
    published = json.loads((ROOT / "docs" / "config.schema.json").read_text(encoding="utf-8"))
    assert published == schema()
