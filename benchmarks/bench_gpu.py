"""Training and prediction on one GPU, beside their floors; needs torch, a CUDA device and the data.

Settings were chosen on held-out training rows. Seconds are of the wall clock with the device
synchronized, medians of three seeds; compiling is told apart. The arithmetic floor of an epoch of
LLC-SAPL is 2 · 3 · rows · features · (anchors + models) operations at the rate of a large product.
"""

import statistics
import time

import numpy as np

from benchmarks.report import FOLDER, Result, earlier
from reproduce import datasets

_ROWS, _ANCHORS, _SEEDS = 8_000_000, 100, (0, 1, 2)
_DIGITS = {"n_anchors": 100, "n_neighbors": 32, "C": 1.25, "loss": "log_loss", "max_iter": 20,
           "learning_rate": 0.1, "jitter": 0.0}  # fmt: skip
_REAL = {"n_anchors": 100, "n_neighbors": 24, "C": 10.0, "batch_size": 256, "jitter": 1.0}
_FOREST = {"depth": 7, "n_trees": 16, "n_components": None, "max_iter": 40, "C": 20.0,
           "jitter": 0.0, "learning_rate": 0.067, "batch_size": 4096,
           "splits": "random"}  # fmt: skip


# of ONNX Runtime, which rounds factors to TF32 unless it is told not to
_PROVIDERS = (
    ("CUDA", "cuda", {"use_tf32": "0"}), ("CUDA, TF32", "cuda", {"use_tf32": "1"}),
    ("CPU", "cpu", {}),
)  # fmt: skip


def seconds(work):
    import torch

    torch.cuda.synchronize()
    start = time.perf_counter()
    found = work()
    torch.cuda.synchronize()
    return time.perf_counter() - start, found


def ceilings():
    """Operations a second of a large bfloat16 product, bytes a second of a large copy."""
    import torch

    one = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    other, large = torch.randn_like(one), torch.randn(1 << 30, device="cuda")
    room = torch.empty_like(large)
    for work in (lambda: one @ other, lambda: room.copy_(large)):
        seconds(work)
    products, _ = seconds(lambda: [one @ other for _ in range(10)])
    copies, _ = seconds(lambda: [room.copy_(large) for _ in range(10)])
    return 20 * 8192**3 / products, 80 * (1 << 30) / copies


def trainer(rows, batch, form):
    """A training from k-means on some rows, as the estimator begins it."""
    import torch

    from nearlinear.gpu.anchors.adam import AnchorTraining, sample_of
    from nearlinear.gpu.clustering import default_sharpness, fit_anchors
    from nearlinear.losses import LogLoss
    from nearlinear.solvers.solution import LocalModels

    some = sample_of(rows)
    generator = torch.Generator("cuda").manual_seed(0)
    anchors = fit_anchors(some, _ANCHORS, generator, torch.ones(len(some), device="cuda"))
    zeros = np.zeros((_ANCHORS, rows.shape[1] + 1, 10), dtype=np.float32)
    start = LocalModels(
        anchors.cpu().numpy(), default_sharpness(anchors, 8, some), zeros[:, :-1], zeros[:, -1]
    )
    return AnchorTraining(
        start, rows, n_rows=len(rows), n_batches=-(-len(rows) // batch), n_neighbors=8,
        loss=LogLoss(), ridge=1e-7, n_epochs=10, batch_size=batch, learning_rate=0.1, jitter=0.0,
        learn_metric=True, rng=np.random.default_rng(0), form=form,
    )  # fmt: skip


def epochs(rows, labels, rate):
    """Seconds of an epoch for each form and batch; the first take has the compiling."""
    import torch

    weight = torch.ones(len(rows), device="cuda")
    work = 2.0 * 2.0 * len(rows) * rows.shape[1] * (11 * _ANCHORS)
    targets = {"triton": 0.13, "compiled": 0.3}
    for form in ("triton", "compiled"):
        for batch in (8192, 32_768):
            training = trainer(rows, batch, form)
            first, _ = seconds(lambda t=training: t.take(rows, labels, weight))
            again = [seconds(lambda t=training: t.take(rows, labels, weight))[0] for _ in range(3)]
            took = statistics.median(again)
            case = f"LLC-SAPL, {len(rows):,} x {rows.shape[1]}, {_ANCHORS} anchors"
            share = 100.0 * work / rate / took
            yield Result(case, f"epoch, {form}, batch {batch:,}", took, "s", targets[form],
                         note=f"floor {work / rate:.3f} s, {share:.0f} % of it")  # fmt: skip
            if batch == 8192:
                yield Result(case, f"first epoch less a later one, {form}", first - took, "s", 20.0)


def accuracy(model, X, y):
    import torch

    found = model.predict(torch.as_tensor(X, device="cuda")).cpu().numpy()
    return 100.0 * float(np.mean(found == y))


def mean_of(found):
    return statistics.fmean(found), ", ".join(f"{one:.2f}" for one in found)


def fits(case, runs, least, most):
    """Accuracy and seconds of fits, each (seconds, accuracy)."""
    value, each = mean_of([right for _, right in runs])
    took = statistics.median(one for one, _ in runs)
    yield Result(case, "test accuracy, mean of three seeds", value, "%", least, True, each)
    yield Result(case, "seconds of training, median", took, "s", most)


def many_digits(smoke):
    import torch

    from benchmarks import gpu_sets
    from nearlinear import LLCSAPLClassifier

    n_rows = 200_000 if smoke else _ROWS
    X, y, X_test, y_test = gpu_sets.digits()
    rate, copy = ceilings()
    yield Result("one large product", "bfloat16", rate / 1e12, "TFLOP/s")
    yield Result("one large copy", "read and written", copy / 1e12, "TB/s")
    rows = torch.empty(n_rows, 784, dtype=torch.uint8, device="cuda")
    gpu_sets.deformed(X, y, n_rows // 100, 0, "cuda")
    made, (_, labels) = seconds(lambda: gpu_sets.deformed(X, y, n_rows, 0, "cuda", out=rows))
    yield Result("deformed digits", "rows a second", n_rows / made / 1e6, "million", 17.0, True)
    yield from epochs(rows, labels, rate)
    runs = []
    for seed in _SEEDS:
        _, labels = gpu_sets.deformed(X, y, n_rows, seed, "cuda", out=rows)
        model = LLCSAPLClassifier(**_DIGITS, random_state=seed)
        took, _ = seconds(lambda model=model, labels=labels: model.fit(rows, labels))
        runs.append((took, accuracy(model, X_test, y_test)))
    yield from fits(f"MNIST, {n_rows:,} deformed digits, 20 epochs", runs, 99.1, 5.0)
    yield from predictions(model, rows, copy)
    own = torch.as_tensor(X, device="cuda")
    labels = torch.as_tensor(y.astype(np.int64), device="cuda")
    for n_epochs, least, most in ((60, 98.2, 1.0), (150, 98.5, 2.0)):
        runs = []
        for seed in _SEEDS:
            model = LLCSAPLClassifier(**_REAL, max_iter=n_epochs, random_state=seed)
            took, _ = seconds(lambda model=model: model.fit(own, labels))
            runs.append((took, accuracy(model, X_test, y_test)))
        yield from fits(f"MNIST, the 60,000 digits alone, {n_epochs} epochs", runs, least, most)


def predictions(model, rows, copy):
    """Rows a second of scores, beside ONNX Runtime on whatever it has here."""
    case = f"prediction, LLC-SAPL, {model.n_neighbors} of 100 anchors a row, 784 columns"
    speeds, memory = {}, {"bytes": copy / 784.0, "float32": copy / 4.0 / 784.0}
    for kind, some in (("bytes", rows[:2_000_000]), ("float32", rows[:500_000].float())):
        model.decision_function(some)
        took, _ = seconds(lambda some=some: model.decision_function(some))
        speeds[kind] = len(some) / took
        yield Result(case, f"rows of {kind} a second", speeds[kind] / 1e6, "million",
                     note=f"memory alone: {memory[kind] / 1e6:.0f} million")  # fmt: skip
    for provider, beside in onnx_speeds(model, rows[:50_000].float()):
        for kind, speed in speeds.items():
            yield Result(case, f"{kind}, times ONNX Runtime, {provider}", speed / beside, "x", 5.0,
                         True, note=f"{beside / 1e6:.3f} million rows a second")  # fmt: skip


def onnx_speeds(model, rows):
    """Rows a second of ONNX Runtime's own providers; rows and scores lie where they compute."""
    try:
        import onnxruntime

        from nearlinear import to_onnx
    except ImportError:
        return
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        to_onnx(model, path)
        for name, device, settings in _PROVIDERS:
            provider = f"{device.upper()}ExecutionProvider"
            if provider not in onnxruntime.get_available_providers():
                continue
            session = onnxruntime.InferenceSession(
                str(path), providers=[provider], provider_options=[settings]
            )
            if provider not in session.get_providers():
                continue
            given = rows.to(device).contiguous()
            binding = session.io_binding()
            binding.bind_input(
                session.get_inputs()[0].name, device, 0, np.float32, tuple(given.shape),
                given.data_ptr(),
            )  # fmt: skip
            for output in session.get_outputs():
                # labels may be text, which stays on the CPU
                kind = device if "float" in output.type else "cpu"
                binding.bind_output(output.name, kind)
            took = []
            for _ in range(4):  # the first one plans
                took.append(seconds(lambda s=session, b=binding: s.run_with_iobinding(b))[0])
            yield name, len(rows) / statistics.median(took[1:])


def trees(smoke):
    if smoke:  # the trees take all rows
        return
    from benchmarks import gpu_sets
    from nearlinear import LDKLClassifier

    rows, labels, held, wanted = gpu_sets.covertype("cuda")
    compiling, _ = seconds(lambda: LDKLClassifier(**_FOREST | {"max_iter": 4}).fit(rows, labels))
    case = f"covertype, 16 LDKL trees of 7 levels, {rows.shape[1]} columns"
    for n_epochs, least, most in ((20, 97.0, 5.0), (40, 97.5, 10.0)):
        runs = []
        for seed in _SEEDS:
            model = LDKLClassifier(**_FOREST | {"max_iter": n_epochs}, random_state=seed)
            took, _ = seconds(lambda model=model: model.fit(rows, labels))
            runs.append((took, 100.0 * float((model.predict(held) == wanted).float().mean())))
        yield from fits(f"{case}, {n_epochs} epochs", runs, least, most)
    again, _ = seconds(lambda: LDKLClassifier(**_FOREST | {"max_iter": 4}).fit(rows, labels))
    yield Result(case, "first fit less a later one", compiling - again, "s", 20.0)
    scored, _ = seconds(lambda: model.decision_function(rows))
    yield Result(case, "rows scored a second", len(rows) / scored / 1e6, "million")


def _best_of(n_times, work):
    work()
    return min(seconds(work)[0] for _ in range(n_times))


def scores_beside_cpu(smoke):
    """Rows a second of kernel machines, from tensors and from arrays."""
    import torch

    from benchmarks import gpu_machines

    n_rows = 1000 if smoke else 20_000
    X, y = gpu_machines.taken("covertype", 5 * n_rows)
    n_fit = n_rows // 4
    for model in gpu_machines.methods(device="cuda"):
        model.fit(X[:n_fit].astype(np.float32), y[:n_fit])
        rows = X.astype(np.float32)
        there, few = torch.as_tensor(rows, device="cuda"), rows[:n_rows]
        case = f"scores, {type(model).__name__}, covertype, {n_fit:,} training rows"
        took = _best_of(3, lambda model=model, there=there: model.decision_function(there))
        yield Result(case, "rows a second, cuda", len(rows) / took / 1e6, "million")
        took = _best_of(1, lambda model=model, few=few: model.decision_function(few))
        yield Result(case, "rows a second, CPU beside it, one thread", len(few) / took / 1e6,
                     "million")  # fmt: skip


def crossover(smoke):
    """Seconds of ten epochs by rows and features, from tensors on the device."""
    import torch

    from nearlinear import LLCSAPLClassifier

    for n_rows in (1000,) if smoke else (1000, 10_000, 100_000, 1_000_000):
        for n_features in (20, 100, 784):
            X = torch.randn(n_rows, n_features, device="cuda")
            y = (X[:, 0] * X[:, 1] > 0).long() + 2 * (X[:, 2] > 0).long()
            model = LLCSAPLClassifier(100, max_iter=10, jitter=0.1, random_state=0)
            model.fit(X, y)
            took, _ = seconds(lambda model=model, X=X, y=y: model.fit(X, y))
            case = "LLC-SAPL, 100 anchors, four classes, ten epochs"
            yield Result(case, f"{n_rows:,} x {n_features}", took, "s")


def _beside_earlier(found, folder):
    """What other runs have found stays."""
    new = {(one.case, one.quantity) for one in found}
    kept = earlier("gpu", folder, None)
    return [*(one for one in kept if (one.case, one.quantity) not in new), *found]


def _fast_digits(smoke):
    """Predictions alone: what they cost does not depend on how long a model has learned."""
    from benchmarks import gpu_sets
    from nearlinear import LLCSAPLClassifier

    X, y, *_ = gpu_sets.digits()
    rows, labels = gpu_sets.deformed(X, y, 200_000 if smoke else 2_000_000, 0, "cuda")
    for k in (8, 16):
        settings = _DIGITS | {"max_iter": 1, "n_neighbors": k}
        model = LLCSAPLClassifier(**settings, random_state=0).fit(rows, labels)
        yield from predictions(model, rows, ceilings()[1])


def _parts():
    """By name: what needs a GPU, in which order, and after it what is measured when asked for."""
    from benchmarks import gpu_machines

    usual = {
        "digits": many_digits, "trees": trees, "mkl": gpu_machines.on_gpu,
        "scores": scores_beside_cpu, "crossover": crossover,
    }  # fmt: skip
    asked = {"predict": _fast_digits, "mkl-cpu": gpu_machines.on_cpu}
    return usual, asked


def run(smoke=False, folder=FOLDER, only=None):
    """``only`` names parts; without it, all that is usual.

    "digits" is LLC-SAPL on MNIST, "trees" is LDKL on covertype, "mkl" kernel machines, "scores"
    predictions of kernel machines, "crossover" fits by rows and columns; "predict" scores beside
    ONNX Runtime, "mkl-cpu" the machines on the CPU.
    """
    usual, asked = _parts()
    names = only or list(usual)
    if names != ["mkl-cpu"]:
        try:
            import torch
        except ImportError:
            print("  torch is not installed: nothing to measure")
            return []
        if not torch.cuda.is_available():
            print("  there is no CUDA device: nothing to measure")
            return []
    if not all(map(datasets.is_available, ("mnist", "covertype"))):
        print("  mnist and covertype are not there: nothing to measure")
        return []
    found = [one for name in names for one in (usual | asked)[name](smoke)]
    return _beside_earlier(found, folder)
