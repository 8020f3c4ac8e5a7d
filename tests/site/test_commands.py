"""The commands of ``manage.py`` explain their use."""

import pytest
from django.core.management import get_commands, load_command_class

from beadbox.experiments.registry import EXPERIMENTS

APPS = ("games", "learning", "menace_site")
OURS = [name for name, app in sorted(get_commands().items()) if app in APPS]


@pytest.mark.parametrize("name", OURS)
def test_every_command_prints_its_help(name: str) -> None:
    command = load_command_class(get_commands()[name], name)
    assert command.help in " ".join(command.create_parser("manage.py", name).format_help().split())


def test_every_experiment_prints_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    parser = load_command_class("learning", "experiment").create_parser("manage.py", "experiment")
    for slug in EXPERIMENTS:
        with pytest.raises(SystemExit) as ended:
            parser.parse_args([slug, "--help"])
        assert ended.value.code == 0
        assert "--seed" in capsys.readouterr().out
