"""Load balancing with many dispatchers, after Goren, Vargaftik and Moses.

The public names. Each is loaded on first use, so `import lbcore as lb` is quick.
"""

import sys
from importlib import import_module

__version__ = "0.1.0"

_NAMES = {  # name -> the module that defines it
    "Cluster": "cluster",
    "ideal_workload": "waterfill",
    "ideal_assignment": "waterfill",
    "greedy_assignment": "assignment",
    "assignment_error": "assignment",
    "scd_probabilities": "coordination",
    "twf_probabilities": "coordination",
    "estimate_arrivals": "coordination",
    "draw_servers": "coordination",
    "objective": "derivation",
    "Workload": "workload",
    "POLICIES": "policies",
    "Policy": "policies",
    "complete": "information",
    "stale": "information",
    "sampled": "information",
    "answered": "information",
    "gossip": "information",
    "simulate": "simulator",
    "compare": "simulator",
    "difference": "results",
    "across": "summary",
    "kernel": "compiled",
    "show": "notebook",
    "check": "notebook",
    "WaterPanel": "explore",
    "HerdPanel": "explore",
    "DistancePanel": "explore",
    "SolverPanel": "explore",
    "LoadPanel": "explore",
    "LearningPanel": "explore",
    "EstimatePanel": "explore",
    "StabilityPanel": "explore",
}
_MODULES = [
    "waterfill",
    "assignment",
    "cluster",
    "coordination",
    "homogeneous",
    "derivation",
    "workload",
    "draws",
    "queues",
    "policies",
    "messages",
    "rounds",
    "tasks",
    "information",
    "intervals",
    "results",
    "comparisons",
    "simulation",
    "simulator",
    "running",
    "summary",
    "limited",
    "herding",
    "guessing",
    "theory",
    "stability",
    "judge",
    "figures",
    "charts",
    "message_charts",
    "areas",
    "stability_charts",
    "animation",
    "timing",
    "explore",
    "publication",
    "notebook",
]
_KERNELS = [
    "waterfill",
    "coordination",
    "simulator",
]  # modules that compile, or load compiled, when they are imported

__all__ = [*_NAMES, *_MODULES, "warm"]


def __getattr__(name):
    if name in _NAMES:
        return getattr(import_module(f"lbcore.{_NAMES[name]}"), name)
    if name in _MODULES:
        return import_module(f"lbcore.{name}")
    raise AttributeError(f"module 'lbcore' has no name {name!r}; it has: {', '.join(sorted(__all__))}")


def __dir__():
    return sorted({*globals(), *__all__})


def warm():
    """Compile every kernel, or check that it is compiled; says what it compiles."""
    for module in _KERNELS:
        import_module(f"lbcore.{module}")
    print("\rlbcore: all kernels are compiled" + " " * 40, file=sys.stderr)
