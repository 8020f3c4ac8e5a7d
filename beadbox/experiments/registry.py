"""Every experiment. A new one is a module and a line here."""

from beadbox.experiments.experiment import Experiment
from beadbox.experiments.gardner import Gardner
from beadbox.experiments.hexapawn_resigns import HexapawnResigns
from beadbox.experiments.hexapawn_rewards import HexapawnRewards
from beadbox.experiments.menace_and_after import MenaceAndAfter
from beadbox.experiments.michie_tournament import MichieTournament
from beadbox.experiments.romgon_page import RomgonPage

EXPERIMENTS: dict[str, Experiment] = {
    experiment.slug: experiment
    for experiment in (
        Gardner(),
        MichieTournament(),
        HexapawnRewards(),
        HexapawnResigns(),
        MenaceAndAfter(),
        RomgonPage(),
    )
}
