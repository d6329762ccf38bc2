"""What ``fit`` tells of what it has done: to programs, and to people."""

from dataclasses import dataclass

from ..._cpu_time import thread_time
from ..shown.amounts import shown_bytes, shown_us
from ..shown.figures import in_short, never_found
from ..shown.foreign_text import shown
from ..shown.text_table import text_table
from ..tables.target import Task
from .held_out import HeldOut

_MOST_LINES, _MOST_NAMES, _TIMED_ROWS = 8, 6, 1000


@dataclass(frozen=True)
class Made:
    """A fitted model (or pipeline), its last step, and what is known of it.

    ``held`` are rows that were held out, if any; ``more`` is what a search has to tell.
    """

    model: object
    estimator: object
    task: Task
    shape: tuple
    held: HeldOut | None
    more: dict

    @property
    def figures(self):
        """Those of held-out rows, or None."""
        return None if self.held is None else self.held.figures


def facts(made, seconds, n_bytes):
    """One object for programs."""
    cost, figures = made.estimator.cost_, made.figures
    measure = "R2" if made.task.is_regression else "accuracy"
    return {
        "method": type(made.estimator).__name__,
        "task": made.task.name,
        "why": made.task.reason,
        "rows": int(made.shape[0]),
        "features": int(made.shape[1]),
        f"held_out_{measure}": figures and figures[measure],
        "held_out": figures,
        "seconds": round(seconds, 3),
        "multiply_adds": cost.multiply_adds,
        "times_linear": cost.times_linear,
        "bytes": n_bytes,
        "columns": _columns(made.model),
        **made.more,
    }


def search_facts(model, X, was_cut):
    """What the search adds to them."""
    front = sorted(
        (one for one in model.record_ if one["on_front"] or one["is_chosen"]),
        key=lambda one: one["us_per_row"],
    )
    return {
        "front": front,
        "tried": len(model.tried_),
        "fits": sum(one["rounds"] for one in model.tried_),
        "failed": [f"{one['model']}: {one['failure']}" for one in model.tried_ if one["failure"]],
        "interrupted": was_cut,
        "encoder_us_per_row": _encoder_us(model, X),
    }


def _columns(model):
    encoder = getattr(model, "encoder_", None)
    encoder = encoder or (model[0] if hasattr(model, "steps") else None)
    return getattr(encoder, "columns_", None)


def _encoder_us(model, X):
    """Microseconds of the processor a row, the best of five runs."""
    if model.encoder_ is None:
        return None
    rows, best = X[:_TIMED_ROWS], float("inf")
    for _ in range(5):
        start = thread_time()
        model.encoder_.transform(rows)
        best = min(best, thread_time() - start)
    return 1e6 * best / rows.shape[0]


def tell_task(found, stream):
    other = "classification" if found["task"] == "regression" else "regression"
    by = f", by {found['method']}" if "front" not in found else ""
    may_differ = "numbers" in found["why"]
    hint = f" (--task {other} decides otherwise)" if may_differ else ""
    print(f"{found['why']}: a {found['task']}{by}{hint}", file=stream)


def tell_method(found, is_named, stream):
    """Of one method."""
    if not is_named:
        tell_task(found, stream)
    figures, features = found["held_out"], found["features"]
    tried = "" if figures is None else f", {in_short(figures)}"
    print(f"{found['method']} on {found['rows']:,} rows of {features} features{tried}", file=stream)
    if figures is not None and never_found(figures):
        print(never_found(figures), file=stream)
    tell_columns(found["columns"], stream)
    print(
        f"{_file(found)}: {found['bytes']:,} bytes; a prediction costs {found['times_linear']:.1f} "
        f"x a linear model ({found['seconds']:.1f} s)",
        file=stream,
    )


def tell_search(found, stream):
    """The front, what was done to the columns, how to go on."""
    tell_task(found, stream)
    tell_columns(found["columns"], stream)
    print(f"\n{front_table(found['front'], found['task'])}\n", file=stream)
    print(
        f"{found['tried']} candidates, {found['fits']} fits, {found['seconds']:.1f} s; held-out "
        "scores ± standard errors; nothing that was tried beats these in both loss and time",
        file=stream,
    )
    if found["encoder_us_per_row"] is not None:
        print(
            "µs/row: CPU time of predict in one thread, behind the encoder, which takes "
            f"{shown_us(found['encoder_us_per_row'])} µs of its own in Python",
            file=stream,
        )
    if found["held_out"] is not None:
        print(f"a search without them: {in_short(found['held_out'])}", file=stream)
    print(f"\n{_file(found)}: {found['bytes']:,} bytes. To go on:", file=stream)
    name = "model.nlm" if found["model"] == "-" else found["model"]
    proba = "" if found["task"] == "regression" else " --proba"
    lines, dates = [f"predict {name} NEW.csv{proba} --out answers.csv"], _dates(found["columns"])
    if not dates:
        lines += [f"export {name} model.onnx", f"export {name} model.c"]
    for words in lines:
        print(f"  nearlinear {words}", file=stream)
    if dates:
        print(f"ONNX and C have no dates ({_listed(dates)}): give numbers to export", file=stream)


def _dates(columns):
    """Names of columns of dates that the model looks at."""
    used = [one for one in columns or () if not one["done"].startswith("dropped")]
    return [shown(one["name"]) for one in used if one["kind"] == "date"]


def front_table(front, task):
    """The front as a table, cheapest first; an arrow at what was chosen."""
    from ...report.front import names_of

    is_regression = task == "regression"
    header = ("model", *(("R²",) if is_regression else ("accuracy, %", "log loss")),
              "× linear", "µs/row", "bytes")  # fmt: skip
    rows, names = [], names_of(front)
    for one, name in zip(front, names, strict=True):
        score = [f"{one['score']:.4f} ± {one['score_error']:.4f}"] if is_regression else [
            f"{100 * one['score']:.2f} ± {100 * one['score_error']:.2f}",
            f"{one['loss']:.4f} ± {one['loss_error']:.4f}",
        ]  # fmt: skip
        rows.append((
            f"{'→' if one['is_chosen'] else ' '} {name}", *score,
            f"{one['times_linear']:.1f}", shown_us(one["us_per_row"]), shown_bytes(one["n_bytes"]),
        ))  # fmt: skip
    return text_table(header, rows)


def tell_columns(columns, stream=None):
    """A line for each thing that was done, with the columns that it was done to."""
    if not columns:
        return
    n_missing = sum(one["missing"] for one in columns)
    gaps = f", {n_missing:,} missing cells" if n_missing else ""
    print(f"{len(columns)} columns{gaps}:", file=stream)
    done = {}
    for one in columns:
        done.setdefault(one["done"], []).append(shown(one["name"]))
    lines = [f"  {_listed(names)}: {shown(words)}" for words, names in done.items()]
    for line in lines[:_MOST_LINES]:
        print(line, file=stream)
    if len(lines) > _MOST_LINES:
        print(f"  and {len(lines) - _MOST_LINES} more such lines (--json has all)", file=stream)


def _listed(names):
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _file(found):
    return "model" if found["model"] == "-" else found["model"]
