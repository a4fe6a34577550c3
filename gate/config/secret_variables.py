"""Variables that the environment may hold in addition to those of the options: credentials."""

from __future__ import annotations

from typing import Final

from gate.config.option import VARIABLE_PREFIX

TOKEN: Final = f"{VARIABLE_PREFIX}PROMETHEUS_TOKEN"
USER: Final = f"{VARIABLE_PREFIX}PROMETHEUS_USER"
PASSWORD: Final = f"{VARIABLE_PREFIX}PROMETHEUS_PASSWORD"
SECRET_VARIABLES: Final = (TOKEN, USER, PASSWORD)
