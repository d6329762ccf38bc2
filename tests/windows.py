"""A process in which the package sees the standard library as it is on Windows.

``simulate()`` concerns the code of ``nearlinear`` alone: third-party packages and the standard
library keep the names that they need on this system. What is simulated:

* names that exist on Unix only are missing, modules as well as attributes;
* text files are opened with cp1252 unless an encoding is given, and relying on that is an error;
* lines of text files and of the standard output end with \\r\\n unless ``newline`` is given;
* a file cannot be renamed, replaced or removed while this process has it open;
* CPU time is counted in ticks of a 64th of a second;
* a folder cannot be opened, and ``TemporaryFile`` gives a wrapper instead of a file.

Standard output is set to cp1252 by ``PYTHONIOENCODING``, which is read at the start of a process.
"""

import builtins
import ctypes
import io
import math
import os
import signal
import sys
import tempfile
import time
import warnings
from contextlib import suppress

# The availability notes of Python's documentation, for 3.11.
MISSING_MODULES = {
    "crypt", "curses", "fcntl", "grp", "nis", "posix", "pty", "pwd", "readline", "resource",
    "spwd", "syslog", "termios", "tty",
}  # fmt: skip
MISSING_NAMES = {
    os: """
        O_ACCMODE O_ASYNC O_CLOEXEC O_DIRECT O_DIRECTORY O_DSYNC O_NDELAY O_NOATIME O_NOCTTY
        O_NOFOLLOW O_NONBLOCK O_PATH O_RSYNC O_SYNC O_TMPFILE P_ALL P_PGID P_PID PRIO_PROCESS
        WCONTINUED WEXITED WNOHANG WNOWAIT WUNTRACED
        chown chroot confstr confstr_names copy_file_range ctermid eventfd fchdir fchmod fchown
        fdatasync fork forkpty fpathconf fstatvfs getegid geteuid getgid getgrouplist getgroups
        getloadavg getpgid getpgrp getpriority getresgid getresuid getsid getuid getxattr
        initgroups killpg lchmod lchown listxattr lockf major makedev memfd_create minor mkfifo
        mknod nice openpty pathconf pathconf_names pidfd_open pipe2 posix_fadvise posix_fallocate
        posix_openpt posix_spawn posix_spawnp pread preadv pwrite pwritev readv register_at_fork
        removexattr sched_get_priority_max sched_get_priority_min sched_getaffinity
        sched_getparam sched_getscheduler sched_rr_get_interval sched_setaffinity sched_setparam
        sched_setscheduler sched_yield sendfile set_blocking get_blocking setegid seteuid setgid
        setgroups setns setpgid setpriority setregid setresgid setresuid setreuid setsid setuid
        setxattr splice statvfs sync sysconf sysconf_names tcgetpgrp tcsetpgrp ttyname umount
        uname unshare wait wait3 wait4 waitid writev
    """,
    signal: """
        ITIMER_PROF ITIMER_REAL ITIMER_VIRTUAL ItimerError SIGALRM SIGBUS SIGCHLD SIGCLD SIGCONT
        SIGHUP SIGIO SIGIOT SIGKILL SIGPIPE SIGPOLL SIGPROF SIGPWR SIGQUIT SIGRTMAX SIGRTMIN
        SIGSTKFLT SIGSTOP SIGSYS SIGTRAP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGUSR1 SIGUSR2 SIGVTALRM
        SIGWINCH SIGXCPU SIGXFSZ SIG_BLOCK SIG_SETMASK SIG_UNBLOCK Sigmasks alarm getitimer pause
        pidfd_send_signal pthread_kill pthread_sigmask setitimer siginterrupt sigpending
        sigtimedwait sigwait sigwaitinfo
    """,
}
_LINE_ENDS = {None: "\r\n"}  # of text files that are written
MEMORY = 8 << 30  # bytes that the simulated machine has


def is_ours(frame):
    name = frame.f_globals.get("__name__", "")
    return name == "nearlinear" or name.startswith("nearlinear.")


def simulate():
    """Take away what Windows does not have; third-party packages are imported before."""
    warnings.filterwarnings("error", category=EncodingWarning, module=r"nearlinear(\.|$)")
    warnings.filterwarnings("error", category=EncodingWarning, module="subprocess$")
    if os.name == "nt":  # nothing needs to be simulated
        return
    for module, names in MISSING_NAMES.items():
        _hide(module, names.split())
    builtins.__import__ = _importer(builtins.__import__)
    builtins.open = io.open = _opener(io.open)
    sys.stdout.reconfigure(newline="\r\n")
    for name in ("thread_time", "process_time"):
        setattr(time, name, _in_ticks(getattr(time, name)))
    os.open = _folders_refused(os.open)
    for name in ("replace", "rename", "unlink", "remove"):
        setattr(os, name, _open_files_refused(getattr(os, name)))
    tempfile.TemporaryFile = tempfile.NamedTemporaryFile
    ctypes.windll = type("windll", (), {"kernel32": Kernel32})


class Kernel32:
    @staticmethod
    def GlobalMemoryStatusEx(reference):
        reference._obj.ullTotalPhys = MEMORY
        return 1


def _hide(module, names):
    hidden = {name: vars(module).pop(name) for name in names if name in vars(module)}

    def missing(name):
        if name in hidden and not is_ours(sys._getframe(1)):
            return hidden[name]
        raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

    module.__getattr__ = missing


def _importer(original):
    def import_module(name, scope=None, *more, **options):
        if name in MISSING_MODULES and is_ours(sys._getframe(1)):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return original(name, scope, *more, **options)

    return import_module


def _opener(original):
    def open_file(file, mode="r", buffering=-1, encoding=None, *more, **options):
        if "b" not in mode and encoding in (None, "locale"):
            io.text_encoding(encoding, 3)  # warns whoever has called us
            encoding = "cp1252"
        if "b" not in mode and "r" not in mode and len(more) < 2:
            options["newline"] = _LINE_ENDS.get(options.get("newline"), options.get("newline"))
        return original(file, mode, buffering, encoding, *more, **options)

    return open_file


def _in_ticks(clock):
    return lambda: math.floor(64.0 * clock()) / 64.0


def _folders_refused(original):
    def open_handle(path, *arguments, **options):
        if is_ours(sys._getframe(1)) and os.path.isdir(path):
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return original(path, *arguments, **options)

    return open_handle


def _open_files_refused(original):
    def change(*paths, **options):
        for path in paths:
            if os.path.isfile(path) and _is_open(os.stat(path)):
                raise PermissionError(
                    13, "The process cannot access the file because it is being used", str(path)
                )
        return original(*paths, **options)

    return change


def _is_open(status):
    """Whether this process has a file open."""
    for number in os.listdir("/dev/fd"):
        with suppress(OSError):  # the folder itself is open while it is listed
            if os.path.samestat(status, os.fstat(int(number))):
                return True
    return False
