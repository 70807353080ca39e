"""A source distribution that depends on its files alone.

setuptools writes the time, the owner and the order of the files on the builder's machine into the archive, so two
builds of one commit differ. With ``SOURCE_DATE_EPOCH`` in the environment, this command writes that time everywhere
instead, and sorts the files. Wheels follow the variable by themselves.
"""

from __future__ import annotations

import gzip
import os
import tarfile
from pathlib import Path
from typing import Any

from setuptools.command.sdist import sdist  # type: ignore[import-untyped, unused-ignore]

__all__ = ["ReproducibleSdist", "write_archive"]


class ReproducibleSdist(sdist):  # type: ignore[misc, unused-ignore]  # setuptools has no types
    """The command ``sdist``, which follows ``SOURCE_DATE_EPOCH``."""

    def make_archive(self, base_name: Any, format: str, *args: Any, **options: Any) -> str:
        """Write the archive. Without the variable, or in another format, leave the work to setuptools."""
        epoch = os.environ.get("SOURCE_DATE_EPOCH")
        if epoch is None or format != "gztar":
            return str(super().make_archive(base_name, format, *args, **options))
        archive = Path(f"{base_name}.tar.gz")
        archive.parent.mkdir(parents=True, exist_ok=True)
        write_archive(archive, Path(options["base_dir"]), int(epoch))
        return str(archive)


def write_archive(archive: Path, folder: Path, epoch: int) -> None:
    """Pack `folder` into `archive`. Every entry gets the time `epoch`, no owner, and one of two modes."""

    def without_traces(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.mtime = epoch
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=epoch) as packed,
        # setuptools fills the folder with hard links; with `dereference`, every entry is a whole file.
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT, dereference=True) as tar,
    ):
        for path in [folder, *sorted(folder.rglob("*"))]:
            tar.add(path, path.relative_to(folder.parent).as_posix(), recursive=False, filter=without_traces)
