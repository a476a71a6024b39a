"""Builds the package: scikit-build-core with two things added, so that Python and pip are all that it takes.

Where there is no C++ compiler (or CXX is `zig`), the one of the `ziglang` wheel compiles the native module, for a C
library as old as manylinux_2_28 promises. And a wheel's name says on which systems it works: `auditwheel` looks at
which versions of which libraries the module needs, and the wheel is tagged with the oldest system that has them.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from scikit_build_core import build as inner
from scikit_build_core.build import (
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

Settings = dict[str, list[str] | str] | None

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

OLDEST_GLIBC = "2.28"


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    return [*inner.get_requires_for_build_wheel(config_settings), *_compiler_requirement()]


def get_requires_for_build_editable(config_settings: Settings = None) -> list[str]:
    return [*inner.get_requires_for_build_editable(config_settings), *_compiler_requirement()]


def build_wheel(wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        wheel = Path(scratch) / inner.build_wheel(
            scratch, _with_compiler(config_settings, Path(scratch)), metadata_directory
        )
        tagged = Path(scratch) / "tagged"
        repair = ["repair", "--patcher", "none", "--wheel-dir", str(tagged), str(wheel)]
        if subprocess.run([sys.executable, "-m", "auditwheel", *repair], check=False).returncode == 0:
            (wheel,) = tagged.iterdir()
        else:
            print("The wheel is for systems like this one only: what it needs is too new for others.", file=sys.stderr)
        shutil.copy(wheel, wheel_directory)
        return wheel.name


def build_editable(
    wheel_directory: str, config_settings: Settings = None, metadata_directory: str | None = None
) -> str:
    # What an editable installation builds again later needs the compiler's scripts again: they stay.
    return inner.build_editable(
        wheel_directory, _with_compiler(config_settings, Path(tempfile.mkdtemp())), metadata_directory
    )


def _takes_zig() -> bool:
    chosen = os.environ.get("CXX")
    return chosen == "zig" or not (chosen or any(map(shutil.which, ("c++", "g++", "clang++"))))


def _compiler_requirement() -> list[str]:
    """The `ziglang` that the package itself depends on, if it has to compile."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    return [each for each in project["dependencies"] if each.startswith("ziglang")] if _takes_zig() else []


def _with_compiler(settings: Settings, folder: Path) -> Settings:
    """The settings, with scripts in the folder that are compiler and archiver: CMake wants a program for each."""
    if not _takes_zig():
        return settings
    package = importlib.util.find_spec("ziglang")
    assert package is not None and package.origin is not None
    zig = str(Path(package.origin).with_name("zig"))
    # Outside of an optimised build, zig adds checks of its own that need a library of its own.
    compile_ = ["c++", "-fno-sanitize=undefined"]
    if platform.libc_ver()[0] == "glibc":
        compile_ += ["-target", f"{platform.machine()}-linux-gnu.{OLDEST_GLIBC}"]
    tools = {"CXX_COMPILER": compile_, "AR": ["ar"], "RANLIB": ["ranlib"]}
    defines: dict[str, list[str] | str] = {}
    for tool, words in tools.items():
        script = folder / words[0]
        script.write_text(f'#!/bin/sh\nexec {shlex.join([zig, *words])} "$@"\n')
        script.chmod(0o755)
        defines[f"cmake.define.CMAKE_{tool}"] = str(script)
    return defines | (settings or {})
