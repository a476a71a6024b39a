"""From source files to LLVM's text: with the clang inside the `ziglang` wheel, or with one that the user names.

Nothing is optimised: every access to memory must stay as the programmer wrote it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

from mazurka.errors import InputError
from mazurka.frontends.c import flags
from mazurka.frontends.c.sources import is_bitcode
from mazurka.machine import layout

C_SUFFIXES = frozenset({".c", ".i"})
CPP_SUFFIXES = frozenset({".cc", ".cpp", ".cxx", ".c++", ".C", ".ii"})
LLVM_SUFFIXES = frozenset({".ll", ".bc", ".o"})
ARCHIVE_SUFFIX = ".a"

# The target makes the result independent of the machine.
_BEFORE = (
    "-target", "x86_64-linux-gnu", "-w", "-UNDEBUG", "-D__MAZURKA__", "-fno-discard-value-names", "-fno-math-errno",
    "-fPIC",
)  # fmt: skip
# After the user's own options, so that they hold whatever those say.
_AFTER = (
    "-O0", "-g", "-gdwarf-4", "-fno-sanitize=all", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-S", "-emit-llvm",
)  # fmt: skip

# What `zig cc` tells the clang inside it about its headers. It is left out here, because it does not always notice when
# what it has compiled before has changed: a new header in front of an old one, `__has_include`, CPATH.
_C_HEADERS = (
    "include", "libc/include/x86-linux-gnu", "libc/include/generic-glibc", "libc/include/x86-linux-any",
    "libc/include/any-linux-any",
)  # fmt: skip
_CPP_HEADERS = ("libcxx/include", "libcxxabi/include", *_C_HEADERS, "libunwind/include")
_SYSTEM = "/usr/include"
_FRAMEWORKS = ("catch2", "doctest", "gmock", "gtest")  # for tests, with directories of their own in /usr/include
_RUST = "/rustc"  # where Rust says that its own sources are
# In place of headers of libc++ that are about the system.
_OWN_HEADERS = Path(str(files("mazurka.frontends.c") / "include"))
_C_MACROS = ("__GLIBC_MINOR__=31",)
_CPP_MACROS = (
    "_LIBCPP_ABI_VERSION=1", "_LIBCPP_ABI_NAMESPACE=__1", "_LIBCPP_HAS_THREADS=1", "_LIBCPP_HAS_MONOTONIC_CLOCK",
    "_LIBCPP_HAS_TERMINAL", "_LIBCPP_HAS_MUSL_LIBC=0", "_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS",
    "_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS", "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "_LIBCPP_HAS_FILESYSTEM=1", "_LIBCPP_HAS_RANDOM_DEVICE", "_LIBCPP_HAS_LOCALIZATION", "_LIBCPP_HAS_UNICODE",
    "_LIBCPP_HAS_WIDE_CHARACTERS", "_LIBCPP_HAS_NO_STD_MODULES", "_LIBCPP_HAS_TIME_ZONE_DATABASE",
    "_LIBCPP_PSTL_BACKEND_SERIAL",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=_LIBCPP_ASSERTION_SEMANTIC_ENFORCE", *_C_MACROS,
)  # fmt: skip
# The library says itself where a program breaks what a function of it asks for: what is undefined there need not be an
# access to memory that is not there (the last element of an empty vector that has had some). Users may say otherwise.
_CPP_BEFORE = ("-D_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE",)
_MODEL = tuple(f"-D{macro}" for macro in layout.MACROS)
# How the C++ standard library is compiled, from these folders. Of its insides, only the lines are ever told.
STANDARD_FOLDERS = ("libcxx/src", "libcxxabi/src")
_STANDARD = (
    "-std=c++23", "-D_LIBCPP_BUILDING_LIBRARY", "-DLIBCXX_BUILDING_LIBCXXABI", "-D_LIBCXXABI_BUILDING_LIBRARY",
    "-D_LIBCPP_ENABLE_CXX17_REMOVED_UNEXPECTED_FUNCTIONS", "-DLIBCXXABI_NON_DEMANGLING_TERMINATE",
)  # fmt: skip
# These are compiled without wide characters, and without the facets that the standard locale is not used for by
# streams that print and read numbers and text: what formats dates and money, or looks up messages.
_NARROW = ("ios.cpp", "ios.instantiations.cpp", "iostream.cpp", "locale.cpp")
_UNUSED_FACET = re.compile(
    r"^ *install\(&make<(?!std::ctype<char> |codecvt<char, char, mbstate_t> |num(punct|_get|_put)<char> ).*$", re.M
)
# They compute with an unsigned number and a signed one that is not negative, for which the compiler takes 65 bits.
_NARROW_AFTER = (
    "-U_LIBCPP_HAS_WIDE_CHARACTERS", "-D_LIBCPP_HAS_WIDE_CHARACTERS=0",
    "-D__builtin_mul_overflow(a,b,result)=__builtin_mul_overflow(a,(__typeof__(a))(b),result)",
    "-D__builtin_add_overflow(a,b,result)=__builtin_add_overflow(a,(__typeof__(a))(b),result)",
)  # fmt: skip
_STANDARD_AFTER = ("-gline-tables-only",)
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
        """The LLVM text of a C or C++ file. The arguments are flags as builds have them."""
        return self._run(source, flags.accepted(arguments, str(source)))

    def compile_model(self, source: Path) -> str:
        """The LLVM text of a model of the library, which is the same for all users, whatever their headers."""
        if source.suffix not in CPP_SUFFIXES:
            return self._run(Path(source.name), _MODEL, source.parent, _plain_environment())
        arguments = [*_MODEL, *self._standard_options()]
        return self._run(Path(source.name), arguments, source.parent, _plain_environment(), _STANDARD_AFTER)

    def compile_standard_library(self, source: Path) -> str:
        """The LLVM text of a source file of libc++ or libc++abi."""
        options = self._standard_options()
        if source.name not in _NARROW:
            return self._run(source, options, environment=_plain_environment(), last=_STANDARD_AFTER)
        try:
            text = source.read_text()
        except OSError as error:
            raise InputError(f"{source}: {error.strerror}") from None
        text = f'#line 1 "{source.name}"\n{_UNUSED_FACET.sub("", text)}'
        last = [*_STANDARD_AFTER, *_NARROW_AFTER]
        return self._run(source, options, environment=_plain_environment(), last=last, text=text)

    def _standard_options(self) -> list[str]:
        assert self.headers is not None
        return [*_STANDARD, *(f"-I{self.headers / folder}" for folder in (*STANDARD_FOLDERS, "libcxx/libc"))]

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
        last: Sequence[str] = (),
        text: str | None = None,
    ) -> str:
        """What the compiler makes of a file, or of a text that takes the place of a file of C++."""
        is_cpp = _is_cpp(source, arguments)
        before = (*_BEFORE, *_CPP_BEFORE) if is_cpp and self.headers else _BEFORE
        options = [*before, *arguments, *_AFTER, *self.header_options(is_cpp), *last]
        options += ["-o", "-", *([str(source)] if text is None else ["-x", "c++", "-"])]
        try:
            done = subprocess.run(
                [*self.command, *options],
                capture_output=True,
                cwd=directory,
                env=environment,
                input=b"" if text is None else text.encode(),
                check=False,
            )
        except OSError as error:
            raise InputError(f"cannot run the compiler {self.command[0]}: {error.strerror}") from None
        if done.returncode != 0 or not done.stdout:
            message = done.stderr.decode(errors="replace").strip()
            message = _with_hints(message) + self._advice(message)
            raise CompileError(message or f"{source}: the compiler failed without a message")
        text = done.stdout.decode(errors="surrogateescape")
        # The wheel's clang prints LLVM in the form that we read; other versions print other forms.
        return text if self.headers else read_llvm(text, str(source))

    def _advice(self, message: str) -> str:
        """What to do about a header that is there, but not looked for."""
        missing = re.search(r"'([^']+)' file not found", message)
        if self.headers is None or missing is None or not Path(_SYSTEM, missing[1]).is_file():
            return ""
        return f"\n{_SYSTEM} has {missing[1]}: with -idirafter {_SYSTEM}, it is found"

    def header_options(self, is_cpp: bool) -> Iterator[str]:
        """The headers of the wheel come after those that the user names."""
        if self.headers is None:
            return
        yield "-nostdinc"
        yield from (f"-D{macro}" for macro in (_CPP_MACROS if is_cpp else _C_MACROS))
        if is_cpp:
            yield from ("-isystem", str(_OWN_HEADERS))
        for folder in _CPP_HEADERS if is_cpp else _C_HEADERS:
            yield from ("-isystem", str(self.headers / folder))


# Where functions are declared that older programs call without a declaration.
_HEADERS_OF = {
    "assert.h": "assert static_assert",
    "pthread.h": "pthread_create pthread_join pthread_mutex_lock pthread_mutex_unlock pthread_exit",
    "stdio.h": "printf fprintf puts putchar scanf sprintf getchar perror",
    "stdlib.h": "malloc calloc free exit abort rand srand atoi",
    "string.h": "memset memcpy strlen strcmp strcpy",
    "unistd.h": "sleep usleep getpid write read close",
}
_HEADER_OF = {name: header for header, names in _HEADERS_OF.items() for name in names.split()}
_UNDECLARED = re.compile(r"undeclared (?:library )?function '(\w+)'")


def _with_hints(message: str) -> str:
    """A compiler's complaint, and what to do about functions that C no longer lets be called without a declaration."""
    names = [name for name in dict.fromkeys(_UNDECLARED.findall(message)) if name in _HEADER_OF]
    hints = [
        f"hint: '{name}' is declared in <{_HEADER_OF[name]}>: include it, or give -include {_HEADER_OF[name]}"
        for name in names
    ]
    return "\n".join([message, *hints]) if hints else message


def _is_cpp(source: Path, arguments: Sequence[str]) -> bool:
    languages = [flag.value for flag in flags.read(arguments) if flag.name == "-x"]
    return "c++" in languages[-1] if languages and languages[-1] else source.suffix in CPP_SUFFIXES


def _plain_environment() -> dict[str, str]:
    """Without what the user has told compilers about headers."""
    return {name: value for name, value in os.environ.items() if name not in _HEADER_VARIABLES}


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
    """Where the headers are whose insides are nobody's business: those of C and C++, and of test frameworks. A compiler
    of the user's takes the former from /usr/include; to one that brings its own, what is there are other libraries.
    These are checked as the program is, so that threads can wait in their loops, and that traces show their lines."""
    if compiler.headers is None:
        return [_SYSTEM, "/usr/lib", _RUST]
    return [str(compiler.headers), str(_OWN_HEADERS), _RUST, *(f"{_SYSTEM}/{name}" for name in _FRAMEWORKS)]


def compat_arguments(tool: str | None) -> list[str]:
    """What lets a program find the headers of another tool, and what that tool declares without any."""
    if tool is None:
        return []
    folder = Path(str(files("mazurka.frontends.c") / "compat" / tool))
    return ["-isystem", str(folder), "-include", str(folder / "always.h")]


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


def load_text(path: str | os.PathLike[str], compiler: Compiler, arguments: Sequence[str]) -> str:
    """The LLVM text of any input file."""
    source = Path(path)
    suffix = source.suffix
    if suffix not in C_SUFFIXES | CPP_SUFFIXES | LLVM_SUFFIXES:
        raise InputError(
            f"{path}: not a C, C++ or LLVM file; its name should end in .c, .cc, .cpp, .cxx, .ll or .bc, or in .a"
        )
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
    if suffix == ".ll":
        return read_llvm(content.decode("utf-8", "replace"), str(path))
    return load_bitcode(content, str(path)) if suffix == ".o" else read_llvm(content, str(path))


def load_bitcode(content: bytes, origin: str) -> str:
    """The LLVM text of what a compiler has made for a linker."""
    if not is_bitcode(content):
        raise InputError(
            f"{origin}: not LLVM bitcode but, it seems, code of a machine; compile it with "
            "`clang -c -emit-llvm -O0 -g`, or give its source files"
        )
    return read_llvm(content, origin)


# ------------------------------------------------------------------------------------- what is compiled once


def library_texts(compiler: Compiler, cpp: bool = False) -> dict[str, str]:
    """The LLVM texts of the models of the C library, by file name; compiled once and kept in the user's cache. With
    `cpp`, also those of what the C++ library needs, which are written in C++ themselves."""
    folder = Path(str(files("mazurka.frontends.c") / "library"))
    sources = [path for path in sorted(folder.iterdir()) if path.suffix in (".c", ".cpp", ".h")]
    digest = hashlib.sha256(repr((compile_settings(compiler), _C_HEADERS, _C_MACROS, _MODEL)).encode())
    for part in sources:
        digest.update(part.name.encode() + b"\0" + part.read_bytes() + b"\0")
    kept = f"library-{digest.hexdigest()[:32]}"
    wanted = [source for source in sources if source.suffix == ".c" or (cpp and source.suffix == ".cpp")]

    def text(source: Path) -> str:
        return cached_text(kept, f"{source.name}.ll", partial(compiler.compile_model, source))

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip((source.name for source in wanted), pool.map(text, wanted), strict=True))


def compile_settings(compiler: Compiler) -> str:
    """What the texts of the C++ standard library depend on."""
    options = (_BEFORE, _CPP_BEFORE, _STANDARD, _AFTER, _STANDARD_AFTER, _CPP_HEADERS, _CPP_MACROS)
    settings = (compiler.version(), options, _NARROW, _NARROW_AFTER, _UNUSED_FACET.pattern)
    digest = hashlib.sha256(repr(settings).encode())
    for header in sorted(_OWN_HEADERS.rglob("*.h")):
        digest.update(header.read_bytes())
    return digest.hexdigest()[:32]


def cached_text(folder: str, name: str, make: Callable[[], str]) -> str:
    """A text that is made once, and kept in a folder of the user's cache."""
    cache = cache_directory()
    path = cache / folder / name if cache else None
    text = _recall(path) if path else None
    if text is None:
        text = make()
        if path:
            _keep(path, text)
    return text


def is_cached(folder: str, name: str) -> bool:
    """Whether there is such a text, complete or not."""
    cache = cache_directory()
    return cache is not None and (cache / folder / name).exists()


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
