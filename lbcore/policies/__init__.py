"""The dispatching policies of the two papers, one file a family, and how they are found by name."""

import difflib
import re

from lbcore.policies.base import ARRIVE, DECIDE_ALL, DECIDE_ONE, FINISH, Policy
from lbcore.policies.coordinated import SCD, TWF
from lbcore.policies.idle import JIQ, hJIQ
from lbcore.policies.local import LSQ, hLSQ
from lbcore.policies.ordered import JSQ, SED, JSQFirst, SEDPlus1
from lbcore.policies.sampled import JSQd, hJSQd
from lbcore.policies.weighted import WR

POLICIES = {
    policy.name: policy
    for policy in (
        SCD(),
        TWF(),
        JSQ(),
        SED(),
        SEDPlus1(),
        JSQd(2),
        hJSQd(2),
        WR(),
        JIQ(),
        hJIQ(),
        LSQ(),
        hLSQ(),
    )
}
ESTIMATING = {"SCD": SCD, "TWF": TWF}  # of names with words, as "SCD(mean)"
FAMILIES = {"JSQ": JSQd, "hJSQ": hJSQd, "LSQ": LSQ, "hLSQ": hLSQ}  # of names with a number, as "JSQ(3)"

__all__ = [
    "ARRIVE",
    "DECIDE_ALL",
    "DECIDE_ONE",
    "FINISH",
    "JIQ",
    "JSQ",
    "LSQ",
    "POLICIES",
    "SCD",
    "SED",
    "TWF",
    "WR",
    "JSQFirst",
    "JSQd",
    "Policy",
    "SEDPlus1",
    "find",
    "hJIQ",
    "hJSQd",
    "hLSQ",
]


def find(policy):
    """The policy of a name such as "SCD" or "JSQ(3)"; a policy is given back as it is. "LSQ(2)" is "LSQ".

    Raises
    ------
    ValueError
        If no policy has the name; names the nearest.
    """
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str) and policy in POLICIES:
        return POLICIES[policy]
    told = re.fullmatch(r"(\w+)\((.+)\)", policy) if isinstance(policy, str) else None
    if told and told[1] in FAMILIES and told[2].isdecimal():
        return FAMILIES[told[1]](int(told[2]))
    if told and told[1] in ESTIMATING:
        return ESTIMATING[told[1]].told(told[2])
    nearest = max(POLICIES, key=lambda name: _likeness(name, str(policy)))
    raise ValueError(
        f"unknown policy {policy!r}; nearest: {nearest!r}. Known: {', '.join(POLICIES)}, "
        "and JSQ(3), SCD(mean) and their kin"
    )


def _likeness(name, typed):
    """How near two names are: runs of letters they share, then letters in any order."""
    return difflib.SequenceMatcher(None, name, typed).ratio(), len(set(name) & set(typed))
