"""Memory that this process may use: that of its container, else that of the machine."""

import os
import re
from contextlib import suppress
from pathlib import Path, PurePosixPath

FALLBACK_MEMORY = 4 << 30  # bytes, where no limit is known; docs/limits.md states the value
_UNLIMITED = 1 << 60  # bytes; cgroup v1 writes 2**63 less one page where there is no limit
_CGROUP_LIMITS = {"cgroup2": "memory.max", "cgroup": "memory.limit_in_bytes"}


def available_memory(root="/"):
    """Bytes of memory that this process may use.

    The lowest of the limits of its control groups (Linux, versions 1 and 2), the limit of its
    address space, and the physical memory of the machine. ``root`` is the folder that contains
    ``proc`` and the mounted control groups.
    """
    limits = [*_cgroup_limits(root), _address_space(), _physical_memory()]
    known = [limit for limit in limits if limit is not None and 0 < limit < _UNLIMITED]
    return min(known, default=FALLBACK_MEMORY)


def _cgroup_limits(root):
    """Limits of the control groups of this process and of the groups that contain them."""
    groups = dict(_cgroups(root))
    for version, mounted_group, mount_point in _cgroup_mounts(root):
        group = groups.get(version)
        if group is None:
            continue
        # A container may see a part of the hierarchy only, or paths that begin outside of it.
        relative = PurePosixPath("/")
        with suppress(ValueError):
            relative = PurePosixPath("/") / PurePosixPath(group).relative_to(mounted_group)
        if ".." in relative.parts:
            relative = PurePosixPath("/")
        for folder in (relative, *relative.parents):
            path = Path(f"{root}/{mount_point}/{folder}") / _CGROUP_LIMITS[version]
            with suppress(OSError, ValueError):  # "max" is no number either
                yield int(path.read_text(encoding="ascii"))


def _cgroups(root):
    """Pairs of a version and the path of the group that limits the memory of this process."""
    for line in _lines(f"{root}/proc/self/cgroup"):
        number, controllers, group = (*line.split(":", 2), "", "")[:3]
        if number == "0" and not controllers:
            yield "cgroup2", group
        elif "memory" in controllers.split(","):
            yield "cgroup", group


def _cgroup_mounts(root):
    """Version, group at the top, and folder of each mounted hierarchy that may limit memory."""
    for line in _lines(f"{root}/proc/self/mountinfo"):
        mount, _, source = line.partition(" - ")
        mount, source = mount.split(" "), source.split(" ")
        if len(mount) < 5 or len(source) < 3:
            continue
        has_memory = source[0] == "cgroup2" or "memory" in source[2].split(",")
        if source[0] in _CGROUP_LIMITS and has_memory:
            yield source[0], _unescaped(mount[3]), _unescaped(mount[4])


def _unescaped(path):
    """A path of mountinfo, in which spaces and backslashes are octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), path)


def _lines(path):
    try:
        return Path(path).read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # not on Linux, or hidden from this process
        return []


def _address_space():
    """Limit that ``ulimit -v`` sets; None where there is none."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    except (ImportError, AttributeError, OSError, ValueError):
        return None
    return None if limit == resource.RLIM_INFINITY else limit


def _physical_memory():
    """Memory of the machine; None where the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _physical_memory_of_windows()


def _physical_memory_of_windows():
    import ctypes

    class MemoryStatus(ctypes.Structure):  # MEMORYSTATUSEX of sysinfoapi.h
        _fields_ = [
            ("dwLength", ctypes.c_uint32),
            ("dwMemoryLoad", ctypes.c_uint32),
            ("ullTotalPhys", ctypes.c_uint64),
            ("ullAvailPhys", ctypes.c_uint64),
            ("ullTotalPageFile", ctypes.c_uint64),
            ("ullAvailPageFile", ctypes.c_uint64),
            ("ullTotalVirtual", ctypes.c_uint64),
            ("ullAvailVirtual", ctypes.c_uint64),
            ("ullAvailExtendedVirtual", ctypes.c_uint64),
        ]

    status = MemoryStatus(dwLength=ctypes.sizeof(MemoryStatus))
    try:
        succeeded = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
    except (AttributeError, OSError):  # not Windows
        return None
    return status.ullTotalPhys if succeeded else None
