"""What was asked of the front, what was measured, and where we lose."""

from dataclasses import dataclass

from benchmarks.front_models import FOREST
from benchmarks.front_points import front_of, points_of
from benchmarks.front_sets import NOISY
from benchmarks.report import Result

SUMMARY = "front.md"
MINUS = 0.5  # points that defaults may be below a linear model on small noisy tables


@dataclass(frozen=True)
class Asked:
    """One of our forests within ``most_us`` must reach ``floor``.

    Held-out rows choose it among the sizes that were judged on such rows; where none was, it is the
    slowest, the largest that may be afforded.
    """

    table: str
    floor: float
    aim: float
    most_us: float = float("inf")
    at_least: bool = True
    size: str = ""  # with which the size begins

    @property
    def case(self):
        within = f" at ≤ {self.most_us:g} µs" if self.most_us < float("inf") else ""
        return f"{self.table}{within}"


ASKED = (
    Asked("covertype", 96.3, 96.6, 0.1),
    Asked("covertype", 97.0, 97.2, 0.2),
    Asked("covertype", 97.9, 98.1, 0.5),
    Asked("covertype", 98.3, 98.5, 2.0),
    Asked("magic04", 88.2, 88.6, 1.0),
    Asked("letter", 96.0, 97.0, 1.0, size="extra trees"),
    Asked("concrete", 16.8, 15.5, at_least=False),
    Asked("wine_white", 0.422, 0.41, at_least=False),
)
BESIDE_LIGHTGBM = ("abalone", "boston_housing")


@dataclass(frozen=True)
class Answer:
    """A line of the table; ``point`` is None where nothing was measured."""

    case: str
    floor: float
    aim: float
    value: float | None
    point: object
    at_least: bool = True
    note: str = ""

    @property
    def reached(self):
        if self.value is None:
            return "not measured"
        sign = 1 if self.at_least else -1
        if sign * (self.value - self.aim) >= 0:
            return "aim"
        return "floor" if sign * (self.value - self.floor) >= 0 else "MISSED"


def answers(points):
    """All lines."""
    for asked in ASKED:
        point = _chosen(points.get(asked.table, ()), asked)
        value = None if point is None else point.score
        yield Answer(asked.case, asked.floor, asked.aim, value, point, asked.at_least)
    for table in BESIDE_LIGHTGBM:
        yield from _beside_lightgbm(table, points.get(table, ()))
    for table in NOISY:
        yield from _beside_linear(table, points.get(table, ()))


def _chosen(points, asked):
    """No test row has a say. At any price it is the defaults, which choose by themselves."""
    forests = [point for point in points if point.family == FOREST]
    if asked.most_us == float("inf"):
        return _find(forests, FOREST, "defaults")
    within = [
        point
        for point in forests
        if point.us <= asked.most_us
        and point.size.startswith(asked.size)
        and point.size != "defaults"
    ]
    judged = [point for point in within if point.held_out is not None]
    if judged:
        return (max if asked.at_least else min)(judged, key=lambda point: point.held_out)
    if within:
        return max(within, key=lambda point: point.us)
    defaults = _find(forests, FOREST, "defaults")
    return defaults if defaults and defaults.us <= asked.most_us else None


def _find(points, family, size=None):
    return next((p for p in points if p.family == family and size in (None, p.size)), None)


def _beside_lightgbm(table, points):
    ours, tuned = _find(points, FOREST, "defaults"), _find(points, "LightGBM", "tuned")
    if ours is None or tuned is None:
        return
    case = f"{table}, beside tuned LightGBM"
    yield Answer(case, tuned.score, 0.95 * tuned.score, ours.score, ours, False)
    ratio = tuned.us / ours.us
    yield Answer(f"{case}, its time / ours", 1.0, 5.0, ratio, ours, True)


def _beside_linear(table, points):
    ours, linear = _find(points, FOREST, "defaults"), _find(points, "linear")
    if ours is None or linear is None:
        return
    yield Answer(f"{table}, defaults", linear.score - MINUS, linear.score, ours.score, ours)
    floor, loss = linear.log_loss, ours.log_loss
    yield Answer(f"{table}, log loss of defaults", floor, floor, loss, ours, False)


def losses(points):
    """Rivals on the front of a set: nothing of ours is as good and as fast."""
    for table, some in points.items():
        for rival in front_of(some):
            if rival.is_ours or rival.family == "linear":
                continue
            as_good = [own for own in some if own.is_ours and own.error <= rival.error]
            nearest = min(as_good, key=lambda own: own.us, default=None)
            yield table, rival, nearest


def results_of(rows):
    """For the table that the command prints."""
    points = points_of(rows)
    for one in answers(points):
        if one.value is not None:
            note = f"{one.point.title}, {one.point.us:.3g} µs; aim {one.aim:.4g}: " + (
                "reached" if one.reached == "aim" else "not reached"
            )
            yield Result(
                one.case, "asked", one.value, target=one.floor, at_least=one.at_least, note=note
            )
    for table, rival, nearest in losses(points):
        ours = [own for own in points[table] if own.is_ours]
        if not ours:  # none of them has been run there
            continue
        if nearest is None:
            best = min(ours, key=lambda own: own.error)
            lead, note = rival.error - best.error, f"{best.title}, {best.text}, {best.us:.3g} µs"
            quantity = f"error of {rival.title} ({rival.text}, {rival.us:.3g} µs) − our lowest"
            yield Result(table, quantity, lead, target=0, at_least=True, note=note)
        else:
            quantity = f"time of {rival.title} ({rival.text}) / our fastest that is as good"
            note = f"{nearest.title}, {nearest.text}"
            ratio = rival.us / nearest.us
            yield Result(table, quantity, ratio, "×", target=1, at_least=True, note=note)


def summary(rows):
    """The asked and the measured, and all models of each set, as Markdown."""
    points = points_of(rows)
    lines = [
        "| asked of our forests | floor | aim | measured | reached | by | µs per row | seeds |"
    ]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for one in answers(points):
        told, by, us, seeds = "–", "–", "–", "–"
        if one.value is not None:
            told, by = f"{one.value:.4g}", one.point.title
            us, seeds = f"{one.point.us:.3g}", str(one.point.n_seeds)
        cells = one.case, f"{one.floor:.4g}", f"{one.aim:.4g}", told, one.reached, by, us, seeds
        lines.append(f"| {' | '.join(cells)} |")
    for table, some in points.items():
        lines += ["", f"{table} (on the front: ▲; ours in bold):", ""]
        lines.append("| | score | µs per row | one row, µs | fit, CPU s | bytes | seeds |")
        lines.append("| --- | --- | --- | --- | --- | --- | --- |")
        best = front_of(some)
        for point in sorted(some, key=lambda point: point.error):
            title = f"**{point.title}**" if point.is_ours else point.title
            spread = f" ± {point.spread:.2g}" if point.n_seeds > 1 else ""
            cells = [
                f"{'▲ ' if point in best else ''}{title}", point.text + spread,
                *(f"{x:.3g}" if x is not None else "–" for x in (point.us, point.one_row_us,
                                                                point.fit_seconds)),
                str(point.n_bytes or "–"), str(point.n_seeds),
            ]  # fmt: skip
            lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])
