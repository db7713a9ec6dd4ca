"""The gate between processes: whoever holds it may write.

SQLite's own lock has no queue: eight processes with only a busy timeout starved one of them (1 commit against 7,469).
So a write transaction is begun only under an advisory lock on a file of its own, where the kernel keeps the queue.
Waiting here has no time limit: the writer thread may wait as long as it must, its callers give up by themselves
(`StoreBusy`), and the kernel releases the lock of a process that dies.
"""

from __future__ import annotations

import os
import sys
import time

from ..errors import StoreBusy

if sys.platform == "win32":
    import msvcrt

    def _try(fd: int) -> bool:
        os.lseek(fd, 0, os.SEEK_SET)
        try:
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock(fd: int) -> None:
        while not _try(fd):
            time.sleep(0.001)  # LK_LOCK would sleep a whole second between tries

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
else:
    import fcntl

    def _try(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


class Gate:
    """An inter-process lock. Not for threads: one Gate belongs to one writer."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)

    def __enter__(self) -> Gate:
        _lock(self._fd)
        return self

    def within(self, seconds: float) -> Gate:
        """`with gate.within(10):` for those who wait in the caller's own thread: StoreBusy when the time is over."""
        until = time.monotonic() + seconds
        while not _try(self._fd):
            if time.monotonic() > until:
                raise StoreBusy(
                    f"{self.path.removesuffix('.lock')} is held by another process, for longer than {seconds:g} s. Nothing "
                    "was written. See which program has it open (it may be stopped), or raise busy_timeout_ms."
                )
            time.sleep(0.002)
        return self

    def __exit__(self, *exc: object) -> None:
        _unlock(self._fd)

    def note(self, words: bytes) -> None:
        """Keep a few bytes in the lock's own file, nothing if there are none."""
        if os.fstat(self._fd).st_size != len(words):
            os.ftruncate(self._fd, 0)
        if words and os.lseek(self._fd, 0, os.SEEK_SET) == 0 and os.read(self._fd, len(words)) != words:
            os.lseek(self._fd, 0, os.SEEK_SET)
            os.write(self._fd, words)

    def close(self) -> None:
        os.close(self._fd)


_NETWORK = frozenset(
    "9p afs afpfs beegfs ceph cifs coda davfs fuse.glusterfs fuse.rclone fuse.s3fs fuse.sshfs glusterfs gfs gfs2 "
    "gpfs lustre ncpfs nfs nfs4 ocfs2 smb2 smb3 smbfs webdav".split()
)


def network_filesystem(path: str, mountinfo: str | None = None) -> str | None:
    """The kind of network file system `path` lies on, or None. Locks and shared memory do not hold there."""
    path = os.path.realpath(path)
    if sys.platform == "win32":
        import ctypes

        remote = 4
        return (
            "network drive"
            if ctypes.windll.kernel32.GetDriveTypeW(os.path.splitdrive(path)[0] + "\\") == remote
            else None
        )
    if sys.platform == "darwin":
        import subprocess

        table = subprocess.run(["/sbin/mount"], capture_output=True, text=True, check=False).stdout
        mounts = [
            (line.split(" on ", 1)[1].rsplit(" (", 1)[0], line.rsplit(" (", 1)[1].split(",")[0].rstrip(")"))
            for line in table.splitlines()
            if " on " in line and " (" in line
        ]
    else:
        if mountinfo is None:
            try:
                with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as f:
                    mountinfo = f.read()
            except OSError:
                return None
        mounts = []
        for line in mountinfo.splitlines():
            left, _, right = line.partition(" - ")
            point = left.split(" ")[4].replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
            mounts.append((point, right.split(" ")[0]))
    # The longest mount point above the path holds it; of two on the same point, the later one hides the other.
    kind, depth = "", -1
    for point, fstype in mounts:
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= depth:
            kind, depth = fstype, len(point)
    return kind if kind in _NETWORK else None
