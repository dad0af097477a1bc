"""Operations beneath a root stay there, whatever is swapped while they run."""

import contextlib
import os
import threading

import pytest

from spear.workspace.beneath import Beneath
from spear.workspace.kernel import openat2_works

WAYS = [pytest.param(True, id="openat2"), pytest.param(False, id="walk")]


def test_this_kernel_has_openat2():
    assert openat2_works()


@pytest.mark.parametrize("openat2", WAYS)
def test_files_are_made_read_renamed_and_removed(root, openat2):
    with Beneath(root, use_openat2=openat2) as tree:
        assert tree.make_parents("a/b/c.txt") == ("a", "a/b")
        fd = tree.open("a/b/c.txt", os.O_CREAT | os.O_WRONLY)
        os.write(fd, b"x")
        os.close(fd)
        tree.rename("a/b/c.txt", "d.txt")
        tree.symlink("d.txt", "l")
        assert tree.readlink("l") == "d.txt"
        assert tree.lstat("a/b/c.txt") is None
        tree.chmod("d.txt", 0o600)
        assert (root / "d.txt").stat().st_mode & 0o777 == 0o600
        tree.unlink("l")
        tree.rmdir("a/b")
        tree.rmdir("a")
        assert sorted(tree.listdir(".")) == ["README.md", "d.txt", "src"]


@pytest.mark.parametrize("openat2", WAYS)
@pytest.mark.parametrize(
    "path", ["out/secret.txt", "leaf", "../outside/secret.txt", "src/../../outside/secret.txt", "/etc/passwd"]
)
def test_nothing_outside_opens(root, outside, openat2, path):
    (root / "out").symlink_to(outside)
    (root / "leaf").symlink_to(outside / "secret.txt")
    with Beneath(root, use_openat2=openat2) as tree:
        with pytest.raises(OSError):
            tree.open(path, os.O_RDONLY)
        with pytest.raises(OSError):
            tree.open(path, os.O_CREAT | os.O_WRONLY)
        with pytest.raises(OSError):
            tree.chmod(path, 0o777)


@pytest.mark.parametrize("openat2", WAYS)
def test_swapping_a_directory_for_a_link_never_leads_outside(root, outside, openat2):
    """A thread exchanges src/ and a link to the outside as fast as it can; no operation ever lands there."""
    (root / "evil").symlink_to(outside)
    stop = threading.Event()

    def swap():
        while not stop.is_set():
            with contextlib.suppress(OSError):
                os.rename(root / "src", root / "held")
                os.rename(root / "evil", root / "src")
                os.rename(root / "src", root / "evil")
                os.rename(root / "held", root / "src")

    swapper = threading.Thread(target=swap)
    swapper.start()
    done = failed = 0
    try:
        with Beneath(root, use_openat2=openat2) as tree:
            while (done < 300 or failed < 30) and done + failed < 60_000:
                try:
                    os.close(tree.open("src/planted", os.O_CREAT | os.O_WRONLY))
                    tree.unlink("src/planted")
                    done += 1
                except OSError:
                    failed += 1
    finally:
        stop.set()
        swapper.join()
    assert done
    assert failed
    assert sorted(os.listdir(outside)) == ["secret.txt"]


@pytest.mark.parametrize("openat2", WAYS)
def test_no_descriptor_is_left_open(root, openat2):
    before = len(os.listdir("/proc/self/fd"))
    with Beneath(root, use_openat2=openat2) as tree:
        for _ in range(50):
            tree.lstat("src/ring.c")
            with contextlib.suppress(OSError):
                tree.open("src/none/x", os.O_RDONLY)
    assert len(os.listdir("/proc/self/fd")) == before
