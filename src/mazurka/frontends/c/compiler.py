"""From source files to LLVM's text: with the clang inside the `ziglang` wheel, or with one that the user names.

Nothing is optimised: every access to memory must stay as the programmer wrote it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from mazurka.errors import InputError

C_SUFFIXES = frozenset({".c", ".i"})
CPP_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C", ".ii"})
LLVM_SUFFIXES = frozenset({".ll", ".bc"})

# The target makes the result independent of the machine, and brings the headers of the wheel along.
_BEFORE = (
    "-target", "x86_64-linux-gnu", "-w", "-g", "-UNDEBUG", "-fno-discard-value-names", "-fno-math-errno",
)  # fmt: skip
# After the user's own options, so that they hold whatever those say.
_AFTER = ("-O0", "-fno-sanitize=all", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-S", "-emit-llvm")
# Exceptions and run-time types have no model; without them the compiler itself points at every use.
_CPP = ("-fno-exceptions", "-fno-rtti")

# How types lie in memory on that target.
_LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"


class CompileError(InputError):
    """The compiler rejects a file. The message is what it said."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A clang: the command that compiles C, the one that compiles C++, and whether it is the one of the wheel."""

    c: tuple[str, ...]
    cpp: tuple[str, ...]
    bundled: bool

    def compile(self, source: Path, arguments: Sequence[str] = (), directory: Path | None = None) -> str:
        """The LLVM text of a C or C++ file."""
        is_cpp = source.suffix in CPP_SUFFIXES
        command = [*(self.cpp if is_cpp else self.c), *_BEFORE, *arguments, *_AFTER, *(_CPP if is_cpp else ())]
        with _workplace(repr((os.getcwd(), str(directory), command, str(source)))) as place:
            output = place / "output.ll"
            try:
                done = subprocess.run(
                    [*command, "-o", str(output), str(source)],
                    capture_output=True,
                    cwd=directory,
                    env=_environment(place),
                    text=True,
                    errors="replace",
                    check=False,
                )
            except OSError as error:
                raise InputError(f"cannot run the compiler {command[0]}: {error.strerror}") from None
            if done.returncode != 0 or not output.exists():
                message = (done.stderr or done.stdout).strip()
                raise CompileError(message or f"{source}: the compiler failed without a message")
            text = output.read_text(errors="surrogateescape")
        # The wheel's clang prints LLVM in the form that we read; other versions print other forms.
        return text if self.bundled else read_llvm(text, str(source))

    def version(self) -> str:
        """What distinguishes its output from that of others."""
        if self.bundled:
            binary = os.stat(self.c[0])
            return f"{self.c[0]} {binary.st_size} {binary.st_mtime_ns}"
        done = subprocess.run([*self.c, "--version"], capture_output=True, text=True, check=False)
        return f"{self.c[0]} {done.stdout}"


def _environment(place: Path) -> dict[str, str]:
    """The compiler in the wheel does not work without a cache: where there can be none, it gets one for this time."""
    environment = dict(os.environ)
    try:
        _cache_directory().mkdir(parents=True, exist_ok=True)
        writable = os.access(_cache_directory(), os.W_OK)
    except OSError:
        writable = False
    if not writable:
        environment.setdefault("ZIG_GLOBAL_CACHE_DIR", str(place / "cache"))
    return environment


@contextmanager
def _workplace(purpose: str) -> Iterator[Path]:
    """A directory of our own for a while. For the same purpose it is the same one, if nobody uses it at the moment: the
    compiler in the wheel remembers what it compiled, but only by the name of its output."""
    name = f"mazurka-{hashlib.sha256(purpose.encode(errors='surrogateescape')).hexdigest()[:32]}"
    place = Path(tempfile.gettempdir()) / name
    try:
        place.mkdir(mode=0o700)
    except OSError:
        place = Path(tempfile.mkdtemp(prefix="mazurka-"))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


@cache
def bundled_compiler() -> Compiler:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise InputError("no compiler: install the package 'ziglang', or name a clang with --cc")
    zig = Path(spec.origin).parent / "zig"
    return Compiler((str(zig), "cc"), (str(zig), "c++"), bundled=True)


def named_compiler(name: str) -> Compiler:
    """A clang that the user names; C++ is compiled by the same program, which goes by the suffix of the file."""
    path = shutil.which(name)
    if path is None:
        raise InputError(f"--cc {name}: no such compiler; name an installed clang, or leave --cc out")
    return Compiler((path,), (path,), bundled=False)


def system_directories(compiler: Compiler) -> list[str]:
    """Where the headers of the system and of the compiler are."""
    return ["/usr/include", "/usr/lib", *([str(Path(compiler.c[0]).parent)] if compiler.bundled else [])]


def read_llvm(content: str | bytes, origin: str) -> str:
    """LLVM text or bitcode of any version that can be read, in the form of the LLVM inside llvmlite."""
    import llvmlite.binding as llvm

    if isinstance(content, str) and "target datalayout" not in content:
        content = f'target datalayout = "{_LAYOUT}"\n{content}'  # LLVM's own default aligns differently
    try:
        parse = llvm.parse_bitcode if isinstance(content, bytes) else llvm.parse_assembly
        module = parse(content)
        module.verify()
    except (RuntimeError, UnicodeError) as error:
        raise InputError(f"{origin}: not valid LLVM: {str(error).strip()}") from None
    return str(module)


def load_text(path: str | Path, compiler: Compiler, arguments: Sequence[str]) -> str:
    """The LLVM text of any input file."""
    source = Path(path)
    suffix = source.suffix
    if suffix not in C_SUFFIXES | CPP_SUFFIXES | LLVM_SUFFIXES:
        raise InputError(f"{path}: not a C, C++ or LLVM file; its name should end in .c, .cc, .cpp, .cxx, .ll or .bc")
    if source.is_dir():
        raise InputError(f"{path}: is a directory; name the source files in it")
    if suffix not in LLVM_SUFFIXES:
        if not source.exists():
            raise InputError(f"{path}: no such file")
        return compiler.compile(source, arguments)
    try:
        content = source.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    return read_llvm(content if suffix == ".bc" else content.decode("utf-8", "replace"), str(path))


# -------------------------------------------------------------------------------- models of the C library


def library_texts(compiler: Compiler) -> dict[str, str]:
    """The LLVM texts of the models of the C library, by file name; compiled once and kept in the user's cache."""
    folder = Path(str(files("mazurka.frontends.c") / "library"))
    sources = sorted(folder.glob("*.c"))
    digest = hashlib.sha256(repr((compiler.version(), _BEFORE, _AFTER)).encode())
    for part in [*sources, *sorted(folder.glob("*.h"))]:
        digest.update(part.name.encode() + b"\0" + part.read_bytes() + b"\0")
    kept = _cache_directory() / f"library-{digest.hexdigest()[:32]}"
    texts = {}
    for source in sources:
        path = kept / f"{source.stem}.ll"
        try:
            texts[source.name] = path.read_text()
        except OSError:
            texts[source.name] = compiler.compile(Path(source.name), directory=folder)
            _keep(path, texts[source.name])
    return texts


def _cache_directory() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "mazurka"


def _keep(path: Path, text: str) -> None:
    """Write a file as a whole, whoever else does the same; without a place to write to, it is compiled again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
    except OSError:
        return
