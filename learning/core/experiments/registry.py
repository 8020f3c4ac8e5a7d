"""Every experiment. A new one is a module and a line here."""

from learning.core.experiments.base import Experiment
from learning.core.experiments.gardner import Gardner
from learning.core.experiments.hexapawn_resigns import HexapawnResigns
from learning.core.experiments.hexapawn_rewards import HexapawnRewards
from learning.core.experiments.menace_and_after import MenaceAndAfter
from learning.core.experiments.michie_tournament import MichieTournament
from learning.core.experiments.romgon_page import RomgonPage

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
