"""From source files to LLVM's text: with the clang inside the `ziglang` wheel, or with one that the user names.

Nothing is optimised: every access to memory must stay as the programmer wrote it.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from mazurka.errors import InputError

C_SUFFIXES = frozenset({".c", ".i"})
CPP_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C", ".ii"})
LLVM_SUFFIXES = frozenset({".ll", ".bc"})

# The target makes the result independent of the machine.
_BEFORE = (
    "-target", "x86_64-linux-gnu", "-w", "-UNDEBUG", "-D__MAZURKA__", "-fno-discard-value-names", "-fno-math-errno",
    "-fPIC",
)  # fmt: skip
# After the user's own options, so that they hold whatever those say.
_AFTER = (
    "-O0", "-g", "-gdwarf-4", "-fno-sanitize=all", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-S", "-emit-llvm",
)  # fmt: skip
# Exceptions and run-time types have no model; without them the compiler itself points at every use.
_CPP = ("-fno-exceptions", "-fno-rtti")

# What `zig cc` tells the clang inside it about its headers. It is left out here, because it does not always notice when
# what it has compiled before has changed: a new header in front of an old one, `__has_include`, CPATH.
_C_HEADERS = (
    "include", "libc/include/x86-linux-gnu", "libc/include/generic-glibc", "libc/include/x86-linux-any",
    "libc/include/any-linux-any",
)  # fmt: skip
_CPP_HEADERS = ("libcxx/include", "libcxxabi/include", *_C_HEADERS, "libunwind/include")
_C_MACROS = ("__GLIBC_MINOR__=31",)
_CPP_MACROS = (
    "_LIBCPP_ABI_VERSION=1", "_LIBCPP_ABI_NAMESPACE=__1", "_LIBCPP_HAS_THREADS=1", "_LIBCPP_HAS_MONOTONIC_CLOCK",
    "_LIBCPP_HAS_TERMINAL", "_LIBCPP_HAS_MUSL_LIBC=0", "_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS",
    "_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS", "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "_LIBCPP_HAS_FILESYSTEM=1", "_LIBCPP_HAS_RANDOM_DEVICE", "_LIBCPP_HAS_LOCALIZATION", "_LIBCPP_HAS_UNICODE",
    "_LIBCPP_HAS_WIDE_CHARACTERS", "_LIBCPP_HAS_NO_STD_MODULES", "_LIBCPP_HAS_TIME_ZONE_DATABASE",
    "_LIBCPP_PSTL_BACKEND_SERIAL", "_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_NONE",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_IGNORE", *_C_MACROS,
)  # fmt: skip
# Where a compiler looks for headers besides what its command line says.
_HEADER_VARIABLES = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "OBJCPLUS_INCLUDE_PATH")

# How types lie in memory on that target.
_LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"


class CompileError(InputError):
    """The compiler rejects a file. The message is what it said."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """A clang: the command that runs it and, for the one in the wheel, the directory of the wheel's headers."""

    command: tuple[str, ...]
    headers: Path | None = None

    def compile(self, source: Path, arguments: Sequence[str] = ()) -> str:
        """The LLVM text of a C or C++ file."""
        return self._run(source, [argument for argument in arguments if not argument.startswith("-O")])

    def compile_model(self, source: Path) -> str:
        """The LLVM text of a model of the library, which is the same for all users, whatever their headers."""
        environment = {name: value for name, value in os.environ.items() if name not in _HEADER_VARIABLES}
        return self._run(Path(source.name), (), source.parent, environment)

    def version(self) -> str:
        """What distinguishes its output from that of others."""
        binary = os.stat(self.command[0])
        identity = repr((self.command, binary.st_size, binary.st_mtime_ns))
        if self.headers is None:  # it may be a script that runs another one
            done = subprocess.run([*self.command, "--version"], capture_output=True, check=False)
            identity += repr(done.stdout)
        return identity

    def _run(
        self,
        source: Path,
        arguments: Sequence[str],
        directory: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> str:
        is_cpp = source.suffix in CPP_SUFFIXES
        options = [*_BEFORE, *arguments, *_AFTER, *(_CPP if is_cpp else ()), *self.header_options(is_cpp)]
        try:
            done = subprocess.run(
                [*self.command, *options, "-o", "-", str(source)],
                capture_output=True,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except OSError as error:
            raise InputError(f"cannot run the compiler {self.command[0]}: {error.strerror}") from None
        if done.returncode != 0 or not done.stdout:
            message = done.stderr.decode(errors="replace").strip()
            raise CompileError(message or f"{source}: the compiler failed without a message")
        text = done.stdout.decode(errors="surrogateescape")
        # The wheel's clang prints LLVM in the form that we read; other versions print other forms.
        return text if self.headers else read_llvm(text, str(source))

    def header_options(self, is_cpp: bool) -> Iterator[str]:
        """The headers of the wheel come after those that the user names."""
        if self.headers is None:
            return
        yield "-nostdinc"
        yield from (f"-D{macro}" for macro in (_CPP_MACROS if is_cpp else _C_MACROS))
        for folder in _CPP_HEADERS if is_cpp else _C_HEADERS:
            yield from ("-isystem", str(self.headers / folder))


@cache
def bundled_compiler() -> Compiler:
    spec = find_spec("ziglang")
    if spec is None or spec.origin is None:
        raise InputError("no compiler: install the package 'ziglang', or name a clang with --cc")
    wheel = Path(spec.origin).parent
    return Compiler((str(wheel / "zig"), "clang", "--no-default-config"), wheel / "lib")


def named_compiler(name: str) -> Compiler:
    """A clang that the user names, with the headers of the system."""
    path = shutil.which(name)
    if path is None:
        raise InputError(f"--cc {name}: no such compiler; name an installed clang, or leave --cc out")
    return Compiler((path,))


def system_directories(compiler: Compiler) -> list[str]:
    """Where the headers of the system and of the compiler are."""
    return ["/usr/include", "/usr/lib", *([str(compiler.headers)] if compiler.headers else [])]


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
    digest = hashlib.sha256(repr((compiler.version(), _BEFORE, _AFTER, _C_HEADERS, _C_MACROS)).encode())
    for part in [*sources, *sorted(folder.glob("*.h"))]:
        digest.update(part.name.encode() + b"\0" + part.read_bytes() + b"\0")
    cache = cache_directory()
    kept = cache / f"library-{digest.hexdigest()[:32]}" if cache else None
    return {source.name: _model(source, compiler, kept) for source in sources}


def _model(source: Path, compiler: Compiler, kept: Path | None) -> str:
    path = kept / f"{source.stem}.ll" if kept else None
    text = _recall(path) if path else None
    if text is None:
        text = compiler.compile_model(source)
        if path:
            _keep(path, text)
    return text


def cache_directory() -> Path | None:
    """The user's, if there is a place for one."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # others are to be ignored
        return Path(base) / "mazurka"
    try:
        return Path.home() / ".cache" / "mazurka"
    except RuntimeError:
        return None


def _recall(path: Path) -> str | None:
    """What `_keep` wrote, if it is all there."""
    try:
        digest, _, text = path.read_text().partition("\n")
    except (OSError, UnicodeError):
        return None
    return text if digest == _digest(text) else None


def _keep(path: Path, text: str) -> None:
    """Write a file as a whole, whoever else does the same; without a place to write to, it is compiled again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".tmp", delete=False) as file:
            file.write(f"{_digest(text)}\n{text}")
        os.replace(file.name, path)
    except OSError:
        return


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
