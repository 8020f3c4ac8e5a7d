"""The registry of experiments. A new experiment needs a module in this package and a line in ``EXPERIMENTS``."""

from typing import cast

from beadbox.experiments.experiment import AnyExperiment
from beadbox.experiments.gardner import Gardner
from beadbox.experiments.hexapawn_resigns import HexapawnResigns
from beadbox.experiments.hexapawn_rewards import HexapawnRewards
from beadbox.experiments.menace_and_after import MenaceAndAfter
from beadbox.experiments.michie_tournament import MichieTournament
from beadbox.experiments.romgon_page import RomgonPage

EXPERIMENTS: dict[str, AnyExperiment] = {
    experiment.slug: experiment
    for experiment in cast(
        "tuple[AnyExperiment, ...]",
        (
            Gardner(),
            MichieTournament(),
            HexapawnRewards(),
            HexapawnResigns(),
            MenaceAndAfter(),
            RomgonPage(),
        ),
    )
}
