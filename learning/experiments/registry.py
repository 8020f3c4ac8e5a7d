"""Every experiment. A new one is a module and a line here."""

from learning.experiments.base import Experiment
from learning.experiments.gardner import Gardner
from learning.experiments.hexapawn_resigns import HexapawnResigns
from learning.experiments.hexapawn_rewards import HexapawnRewards
from learning.experiments.michie_tournament import MichieTournament

EXPERIMENTS: dict[str, Experiment] = {
    experiment.slug: experiment for experiment in (Gardner(), MichieTournament(), HexapawnRewards(), HexapawnResigns())
}
