"""Panels: sliders over one live figure. Each has a pure `compute(settings)`, tested without a browser."""

from lbcore.explore.distance import DistancePanel
from lbcore.explore.estimate import EstimatePanel
from lbcore.explore.herd import HerdPanel
from lbcore.explore.learning import LearningPanel
from lbcore.explore.load import LoadPanel
from lbcore.explore.solver import SolverPanel
from lbcore.explore.stability import StabilityPanel
from lbcore.explore.water import WaterPanel

__all__ = [
    "DistancePanel",
    "EstimatePanel",
    "HerdPanel",
    "LearningPanel",
    "LoadPanel",
    "SolverPanel",
    "StabilityPanel",
    "WaterPanel",
]
