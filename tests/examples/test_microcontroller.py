"""The start-up code and linker script of the example: a model agrees with Python in QEMU."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from nearlinear import LLSVMClassifier, to_c

BOARD = Path(__file__).parents[2] / "examples" / "microcontroller"
CHIP = ["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-mthumb", "-Os", "-std=c99"]


def test_a_model_runs_on_an_emulated_chip(tmp_path):
    if not (shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-system-arm")):
        pytest.skip("needs arm-none-eabi-gcc and qemu-system-arm")
    X = np.random.default_rng(0).standard_normal((80, 3)).astype(np.float32)
    written = to_c(LLSVMClassifier(4, random_state=0).fit(X, X[:, 0] * X[:, 1] > 0), tmp_path)
    link = [f"-I{tmp_path}", "-T", BOARD / "cortex_m.ld", "--specs=rdimon.specs", "-nostartfiles"]
    sources = [BOARD / "startup.c", written.source, BOARD / "count.c", "-lm"]
    image = tmp_path / "model.elf"
    subprocess.run(
        ["arm-none-eabi-gcc", *CHIP, "-Wall", "-Werror", *link, "-o", image, *sources], check=True
    )
    qemu = ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-semihosting"]
    done = subprocess.run(
        [*qemu, "-icount", "shift=0", "-kernel", image],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rows agree" in done.stdout
    assert "instructions a row" in done.stdout
