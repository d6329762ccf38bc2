"""Memory that this process may use, in containers and on each system."""

import ctypes
import os
from contextlib import suppress

import numpy as np
import pytest

from nearlinear import UniformMKLClassifier
from nearlinear._resources import FALLBACK_MEMORY, available_memory

GB = 1 << 30
MACHINE = 64 * GB
NO_LIMIT_V1 = (1 << 63) - 4096


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A machine of 64 GB without a limit of the address space, on any system."""
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": MACHINE // 4096}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__, raising=False)
    with suppress(ImportError):
        import resource

        no_limit = resource.RLIM_INFINITY, resource.RLIM_INFINITY
        monkeypatch.setattr(resource, "getrlimit", lambda kind: no_limit)


def write(folder, texts):
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")


def v2(group="/", mounted="/", folder="/sys/fs/cgroup"):
    return {
        "proc/self/cgroup": f"0::{group}",
        "proc/self/mountinfo": "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        f"30 23 0:26 {mounted} {folder} rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate",
    }


def v1(group="/", mounted="/", controllers="memory"):
    return {
        "proc/self/cgroup": f"3:cpu,cpuacct:/other\n4:{controllers}:{group}\n1:name=systemd:/",
        "proc/self/mountinfo": "31 23 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
        f"35 31 0:32 {mounted} /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,{controllers}",
    }


def test_without_control_groups_the_memory_of_the_machine_counts(tmp_path):
    assert available_memory(tmp_path) == MACHINE


@pytest.mark.parametrize(
    ("group", "mounted"),
    [
        ("/", "/"),  # the usual container: its own group looks like the root
        ("/docker/abc", "/docker/abc"),  # the paths of the host are seen
        ("/../other", "/"),  # a group outside of what the container sees
        ("/elsewhere", "/docker/abc"),
    ],
)
def test_the_limit_of_a_container_counts(group, mounted, tmp_path):
    write(tmp_path, v2(group, mounted) | {"sys/fs/cgroup/memory.max": 2 * GB})
    assert available_memory(tmp_path) == 2 * GB
    write(tmp_path, v1(group, mounted) | {"sys/fs/cgroup/memory/memory.limit_in_bytes": GB})
    assert available_memory(tmp_path) == GB


@pytest.mark.parametrize("lowest", ["memory.max", "a/memory.max", "a/b/memory.max"])
def test_the_lowest_limit_of_a_group_and_its_ancestors_counts(lowest, tmp_path):
    limits = {f"sys/fs/cgroup/{one}memory.max": 8 * GB for one in ("", "a/", "a/b/")}
    others = {"sys/fs/cgroup/c/memory.max": GB, "sys/fs/cgroup/a/b/c/memory.max": GB}
    write(tmp_path, v2("/a/b") | limits | others | {f"sys/fs/cgroup/{lowest}": 3 * GB})
    assert available_memory(tmp_path) == 3 * GB


def test_version_1_counts_ancestors_too(tmp_path):
    folder = "sys/fs/cgroup/memory"
    limits = {
        f"{folder}/memory.limit_in_bytes": NO_LIMIT_V1,
        f"{folder}/a/memory.limit_in_bytes": 5 * GB,
        f"{folder}/a/b/memory.limit_in_bytes": 6 * GB,
    }
    write(tmp_path, v1("/a/b", controllers="hugetlb,memory") | limits)
    assert available_memory(tmp_path) == 5 * GB


def test_both_versions_may_be_mounted(tmp_path):
    old, new = v1("/a"), v2("/b", folder="/sys/fs/cgroup/unified")
    both = {name: f"{old[name]}\n{new[name]}" for name in old}
    limits = {
        "sys/fs/cgroup/memory/a/memory.limit_in_bytes": 4 * GB,
        "sys/fs/cgroup/unified/b/memory.max": "max",
    }
    write(tmp_path, both | limits)
    assert available_memory(tmp_path) == 4 * GB


def test_folders_may_have_spaces(tmp_path):
    files = v2(r"/a b", folder=r"/sys/my\040groups")
    write(tmp_path, files | {"sys/my groups/a b/memory.max": 2 * GB})
    assert available_memory(tmp_path) == 2 * GB


@pytest.mark.parametrize("limit", ["max", NO_LIMIT_V1, 0, -1, "", "2G", "2\x00", "é", 80 * GB])
def test_what_limits_nothing_is_ignored(limit, tmp_path):
    write(tmp_path, v2() | {"sys/fs/cgroup/memory.max": limit})
    assert available_memory(tmp_path) == MACHINE
    write(tmp_path, v1() | {"sys/fs/cgroup/memory/memory.limit_in_bytes": limit})
    assert available_memory(tmp_path) == MACHINE


@pytest.mark.parametrize("text", ["", "\n", ":", "0:", "0::", "4:memory", "0::/a\x00b", "30 23 - "])
@pytest.mark.parametrize("name", ["cgroup", "mountinfo"])
def test_damaged_files_of_the_system_are_ignored(name, text, tmp_path):
    write(tmp_path, v1("/a") | {f"proc/self/{name}": text})
    assert available_memory(tmp_path) == MACHINE


def test_a_folder_in_the_place_of_a_file_is_ignored(tmp_path):
    write(tmp_path, v2())
    (tmp_path / "sys/fs/cgroup/memory.max").mkdir(parents=True)
    assert available_memory(tmp_path) == MACHINE


def test_the_limit_of_the_address_space_counts(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    limits = {resource.RLIMIT_AS: (3 * GB, resource.RLIM_INFINITY)}
    monkeypatch.setattr(resource, "getrlimit", limits.__getitem__)
    assert available_memory(tmp_path) == 3 * GB


@pytest.fixture
def kernel32(monkeypatch):
    """Windows: no ``sysconf``, and a library that knows the memory."""

    class Kernel32:
        result = 1

        def GlobalMemoryStatusEx(self, reference):
            status = reference._obj
            assert ctypes.sizeof(status) == status.dwLength == 64  # what Windows demands
            ctypes.memset(ctypes.addressof(status) + 8, 0xFF, 56)
            ctypes.c_uint64.from_address(ctypes.addressof(status) + 8).value = 16 * GB
            return self.result

    library = Kernel32()
    monkeypatch.delattr(os, "sysconf")
    monkeypatch.setattr(ctypes, "windll", type("windll", (), {"kernel32": library}), raising=False)
    return library


def test_windows_reports_its_memory(tmp_path, kernel32):
    assert available_memory(tmp_path) == 16 * GB


def test_where_nothing_is_known_the_documented_constant_counts(tmp_path, kernel32):
    kernel32.result = 0
    assert available_memory(tmp_path) == FALLBACK_MEMORY == 4 * GB
    del ctypes.windll.kernel32
    assert available_memory(tmp_path) == FALLBACK_MEMORY


@pytest.mark.parametrize("answer", [-1, 0, ValueError, OSError])
def test_a_system_that_does_not_know_its_memory(answer, tmp_path, monkeypatch):
    def sysconf(name):
        if isinstance(answer, int):
            return answer if name == "SC_PHYS_PAGES" else 4096
        raise answer("unrecognized configuration name")

    monkeypatch.setattr(os, "sysconf", sysconf, raising=False)
    monkeypatch.delattr(ctypes, "windll", raising=False)
    assert available_memory(tmp_path) == FALLBACK_MEMORY


def test_a_fit_is_refused_that_the_machine_cannot_hold(monkeypatch, rng):
    pages = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__, raising=False)
    X = rng.standard_normal((100, 2))
    with pytest.raises(MemoryError, match="may use"):
        UniformMKLClassifier(C=1.0).fit(X, X[:, 0] > 0)
    monkeypatch.delattr(os, "sysconf")
    assert UniformMKLClassifier(C=1.0).fit(X, X[:, 0] > 0).predict(np.zeros((1, 2))).shape == (1,)
