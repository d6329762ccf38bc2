"""The C source on this machine, and on an ARM Cortex-M4F in QEMU, where both are installed."""

import re
import shutil
import subprocess
from pathlib import Path

from benchmarks.deploy_model import c_sources, scores_of, shared_library
from benchmarks.report import Result

BOARD = Path(__file__).parents[1] / "examples" / "microcontroller"
# What is compiled for, and the board of QEMU that has it.
CHIPS = {
    "Cortex-M4F": ("mps2-an386", "-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -mthumb"),
    "Cortex-M3": ("mps2-an385", "-mcpu=cortex-m3 -mthumb"),
}


def c_results(task, folder):
    for dtype in ("float32", "int8"):
        written = c_sources(task, folder, dtype)
        if shutil.which("gcc"):
            yield from _host(task, written, dtype)
        if shutil.which("arm-none-eabi-gcc"):
            for chip in CHIPS:
                yield from _chip(written, chip, dtype)


def _host(task, written, dtype):
    library = shared_library(written)
    scores = scores_of(library, task.rows, task.scores.shape[1])
    case = f"C, {dtype}"
    yield Result(case, "size", library.stat().st_size / 1e3, "kB", note="shared library")
    yield Result(case, "difference", task.difference(scores), "%", note="of the largest score")
    yield Result(case, "labels", task.agreement(scores.argmax(axis=1)), "%")
    program, speed = written.source.with_name("speed"), Path(__file__).with_name("deploy_speed.c")
    words = ["gcc", "-O2", "-std=c99", f"-I{written.source.parent}", "-o", program]
    subprocess.run([*words, written.source, speed, "-lm"], check=True)
    nanoseconds = _printed([program]).splitlines()[-1]
    yield Result(case, "one row", float(nanoseconds) / 1e3, "µs")


def _chip(written, chip, dtype):
    board, options = CHIPS[chip]
    folder, case = written.source.parent, f"{chip}, {dtype}"
    compiler = ["arm-none-eabi-gcc", *options.split(), "-Os", "-std=c99", "-ffunction-sections"]
    made = folder / "model.o"
    subprocess.run([*compiler, "-c", written.source, "-o", made], check=True)
    sections = re.findall(r"^\.(text|rodata|data|bss)\S*\s+(\d+)", _printed(
        ["arm-none-eabi-size", "-A", made]), re.M)  # fmt: skip
    for name in ("text", "rodata", "data", "bss"):
        n_bytes = sum(int(size) for section, size in sections if section == name)
        yield Result(case, f".{name}", n_bytes, "bytes", note=f"to_c says {written.flash_bytes}")
    if shutil.which("qemu-system-arm") is None:
        return
    image = folder / "model.elf"
    libraries = ["--specs=rdimon.specs", "-nostartfiles", "-Wl,--gc-sections"]
    sources = [BOARD / "startup.c", written.source, BOARD / "count.c", "-lm"]
    where = [f"-I{folder}", "-T", BOARD / "cortex_m.ld", "-o", image]
    subprocess.run([*compiler, *libraries, *where, *sources], check=True)
    qemu = ["qemu-system-arm", "-M", board, "-nographic", "-semihosting", "-icount", "shift=0"]
    agree, count = _printed([*qemu, "-kernel", image]).splitlines()
    yield Result(case, "one row", int(count.split()[0]), "instructions", note=agree)


def _printed(words):
    done = subprocess.run(
        words, check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
    )
    return done.stdout
