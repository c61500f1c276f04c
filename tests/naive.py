"""Plain twins of the fast functions, in exact rational arithmetic. Imports nothing of the library."""

from fractions import Fraction


def water(floors, widths, volume):
    """Exact level of `volume` over columns, and the water over each; columns of width 0 are left out."""
    floors, widths, volume = [[Fraction(x) for x in row] for row in (floors, widths, [volume])]
    live = sorted((s for s in range(len(widths)) if widths[s] > 0), key=lambda s: floors[s] / widths[s])
    level, rest, width = floors[live[0]] / widths[live[0]], volume[0], Fraction(0)
    for place, s in enumerate(live):
        width += widths[s]
        last = place + 1 == len(live)
        rise = rest / width if last else floors[live[place + 1]] / widths[live[place + 1]] - level
        rise = min(rise, rest / width)
        level, rest = level + rise, rest - rise * width
    return level, [
        max(Fraction(0), mu * level - q) if mu > 0 else Fraction(0)
        for q, mu in zip(floors, widths, strict=True)
    ]


def weighted_error(sent, queues, rates, level):
    """SCD, Eq. 4, in exact arithmetic."""
    rates = [Fraction(mu) for mu in rates]
    return sum(
        mu * ((q + k) / mu - level) ** 2 for q, k, mu in zip(queues, sent, rates, strict=True) if mu > 0
    )


def splits(jobs, servers):
    """Every way to share out whole jobs."""
    if servers == 1:
        yield (jobs,)
        return
    for first in range(jobs + 1):
        for rest in splits(jobs - first, servers - 1):
            yield (first, *rest)
