"""The only place where names become C: whatever a model calls its parts, C, shell and file system see plain words."""

from __future__ import annotations

import re

LONGEST = 32

#: Stems of files and headers that a model's NAME.h / NAME.c must not shadow, and words that are no good as a name.
_RESERVED = frozenset(
    re.findall(
        r"[a-z0-9_]+",
        "assert complex ctype err errno error fenv float inttypes iso646 limits locale math setjmp signal stdarg "
        "stdbool stddef stdint stdio stdlib string tgmath time wchar wctype stdatomic stdalign stdnoreturn threads "
        "uchar memory new unistd strings malloc alloca fcntl dirent poll sched semaphore pthread endian elf dlfcn "
        "termios syslog utime aio cpio ftw glob grp iconv langinfo libgen monetary netdb nl_types pwd regex search "
        "spawn tar ulimit utmpx wordexp sys auto break case char const continue default do double else enum extern "
        "for goto if inline int long register restrict return short signed sizeof static struct switch typedef "
        "union unsigned void volatile while and and_eq asm bitand bitor bool catch class compl const_cast delete "
        "dynamic_cast explicit export false friend mutable namespace not not_eq operator or or_eq private "
        "protected public reinterpret_cast static_cast template this throw true try typeid typename using virtual "
        "wchar_t xor xor_eq alignas alignof constexpr decltype noexcept nullptr main con prn aux nul runtime build "
        "manifest startup semihosting gauge arm_math cmsis_gcc core_cm4",
    )
)


def mangle(text: str, empty: str = "x") -> str:
    """Letters, digits and single underscores of ``text``, at most 32 characters; ``empty`` where nothing is left.

    Not unique and perhaps with a digit in front: see `Namer` and `model_name`.
    """
    plain = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_")
    return plain[:LONGEST].rstrip("_") or empty


def model_name(text: str) -> str:
    """A C identifier for a model: prefix of all its symbols, stem of its files and of its macros in capitals."""
    name = mangle(text, "model")
    if name[0].isdigit():
        name = f"model_{name}"
    lower = name.lower()
    if lower in _RESERVED or lower == "td" or lower.startswith(("td_", "tinydeploy", "com1", "lpt1")):
        name = f"model_{name}"
    return name


class Namer:
    """Hands out names that are unique without regard to case, so that their macros are unique as well."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def give(self, text: str, empty: str = "x") -> str:
        """Mangle ``text``; a name that was given before, or that is all digits, is changed."""
        stem = mangle(text, empty)
        if stem.isdigit():
            stem = f"t{stem}"
        name, number = stem, 2
        while name.lower() in self._taken:
            name, number = f"{stem}_{number}", number + 1
        self._taken.add(name.lower())
        return name


def comment(text: str, longest: int = 80) -> str:
    """``text`` as it may stand inside a C comment or a line of Markdown: printable ASCII that ends nothing."""
    plain = "".join(c if " " <= c <= "~" and c not in "\\`<>[]|*" else "?" for c in text)
    plain = plain.replace("??", "? ?").replace("??", "? ?").replace("//", "/ /")
    return plain if len(plain) <= longest else plain[: longest - 3] + "..."
