"""Reads docker-compose.yml: the environment, command and health check of each service."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

from menace_site.local.servers import BASE_DIR

FILE = "docker-compose.yml"
VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?P<how>:\?|:-)?(?P<else>[^{}]*(?:\$\{\w+\}[^{}]*)?)\})")


class Compose:
    """The services, with their variables filled in by Compose's rules."""

    def __init__(self, variables: dict[str, str], folder: Path = BASE_DIR) -> None:
        self.variables, self.folder = variables, folder
        self.read: dict[str, Any] = yaml.safe_load((folder / FILE).read_text())
        self.services: dict[str, dict[str, Any]] = self.read["services"]

    def fill_in(self, text: str) -> str:
        """Fill in a text's variables: ``${NAME}``, ``${NAME:?why}``, ``${NAME:-else}``; ``$$`` is a dollar."""

        def value(match: re.Match[str]) -> str:
            name, how = match["name"], match["how"]
            if name is None:
                return "$"
            if how == ":-" and not self.variables.get(name):
                return self.fill_in(match["else"])
            return self.variables[name]

        return VARIABLE.sub(value, text)

    def environment(self, service: str) -> dict[str, str]:
        """Return a service's environment: its existing env files, then the compose file's own values, which win."""
        files = [self.folder / one["path"] for one in self.services[service].get("env_file", [])]
        lines = [line for file in files if file.exists() for line in file.read_text().splitlines()]
        variables = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
        named = self.services[service].get("environment", {})
        return variables | {name: self.fill_in(value) for name, value in named.items()}

    def command(self, service: str) -> list[str]:
        return [self.fill_in(word) for word in self.services[service]["command"]]

    def health(self, service: str) -> list[str]:
        """Return the command of a service's health check."""
        kind, *words = self.services[service]["healthcheck"]["test"]
        return [self.fill_in(word) for word in (["sh", "-c", *words] if kind == "CMD-SHELL" else words)]
