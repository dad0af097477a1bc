"""What the source of a compiled program says of what the program does to files (spec 3.3)."""

from __future__ import annotations

import re

COMPILED = (
    ".c", ".cc", ".cpp", ".cxx", ".C", ".m", ".mm", ".s", ".S", ".rs", ".go", ".zig", ".d", ".nim", ".f", ".f90", ".cu",
    ".java", ".kt", ".hs", ".ml", ".swift", ".pas", ".adb",
)  # fmt: skip
"""Suffixes of sources that compilers make programs of."""
RUNS_PROGRAMS = re.compile(
    r"\b(?:system|popen|exec[lv]\w*|execute\w*|posix_spawn\w*|fork|syscall|dlopen|asm|__asm__|exec\.Command|Command::new"
    r"|ProcessBuilder|Runtime\.getRuntime|callProcess|createProcess|Process)\b"
)
"""How it runs other programs, which may then do anything."""
_WRITES_FILES = re.compile(
    r"\bO_(?:WRONLY|RDWR|CREAT|TRUNC)\b|\bfopen\w*\s*\((?![^;]*,\s*\"r[bte]?\"\s*\))|\bfreopen\b|\bf?dopen\b|\bcreat\b"
    r"|\b(?:sym|hard_)?link(?:at)?\s*\(|\brename\w*\s*\(|\bcopy_file\w*|\bsendfile\b|\bmkn?s?temp\w*|\bstd::filesystem\b|\bo?fstream\b"
    r"|\bos\.(?:Create|OpenFile|WriteFile|Rename|Link|Symlink|Chtimes|Truncate|CopyFS)\b|\bioutil\.WriteFile\b"
    r"|\bfs::(?:write|copy|rename|hard_link|File)\b|\bFile::(?:create|options)\b|\bOpenOptions\b|\bsymlink\w*"
    r"|\bFiles\.\w+|\bFile(?:Output|Writer)\w*|\bRandomAccessFile\b|\bwriteFile\w*|\bcreateFile\w*|\bwrite_all\b|\bopen_out\w*"
)


def touches_files(text: str) -> bool:
    """Whether the program may write files, or run what does."""
    return _WRITES_FILES.search(text) is not None or RUNS_PROGRAMS.search(text) is not None
