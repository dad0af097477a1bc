"""What a command must not be able to do, by effect; where it is not plain, a control shows that the attack works."""

import os
import signal
import socket
import stat
import subprocess
import time
from pathlib import Path

import pytest

from spear.sandbox.runner import CommandRunner
from tests.two_users import SECRET

LIBC = "import ctypes\nl = ctypes.CDLL(None, use_errno=True)\n"


def gone(marker: str) -> bool:
    """Whether, within a bound, no process of the machine has `marker` in its command line."""
    limit = time.monotonic() + 5
    while time.monotonic() < limit:
        if subprocess.run(["pgrep", "-f", marker], capture_output=True, check=False).returncode == 1:
            return True
    return False


def alive(marker: str) -> bool:
    """Whether a process with `marker` in its command line lives at this instant."""
    return subprocess.run(["pgrep", "-f", marker], capture_output=True, check=False).returncode == 0


def python(code: str) -> str:
    return f"/usr/bin/python3 - <<'END'\n{code}\nEND\n"


def plainly(code: str) -> str:
    return subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def test_writes_land_in_the_upper_layer_and_never_in_the_tree(host):
    tree = host.tree(a="one\n", d__b="two\n")
    done = host.run("echo x >> a; rm d/b; mkdir new; echo y > new/c; chmod 600 a", tree)
    assert done.exit_code == 0, done
    assert (tree / "a").read_text() == "one\n"
    assert (tree / "d/b").exists()
    assert done.upper == {"a": "file", "d": "dir", "d/b": "gone", "new": "dir", "new/c": "file"}


def test_a_root_without_an_upper_layer_is_read_only(host):
    tree = host.tree(a="one\n")
    done = host.run("echo x > a; touch b", tree, writes=False)
    assert "Read-only file system" in done.output
    assert sorted(path.name for path in tree.iterdir()) == ["a"]


@pytest.mark.parametrize("place", ["/usr", "/etc", "/", "/run", "/root", "/proc/sys/kernel", "/sys"])
def test_the_system_cannot_be_written(host, place):
    done = host.run(f"touch {place}/spear-probe")
    assert done.exit_code == 1
    assert not Path(place, "spear-probe").exists()


def test_kernel_settings_cannot_be_opened_for_writing(host):
    code = "import os\nfor n in ('sys/kernel/core_pattern', 'sysrq-trigger'):\n os.open('/proc/' + n, os.O_WRONLY)"
    assert "Error" in host.run(python(code)).output


def test_a_read_only_mount_cannot_be_made_writable(host, tmp_path):
    probe = tmp_path / "escaped"
    attack = f"mount -o remount,rw,bind {tmp_path} && touch {probe}"
    if os.geteuid() == 0:
        base = ["bwrap", "--ro-bind", "/", "/", "--ro-bind", str(tmp_path), str(tmp_path)]
        subprocess.run([*base, "sh", "-c", attack], check=True)
        probe.unlink()
    done = host.run("mount -o remount,rw,bind /usr 2>&1 && touch /usr/spear-probe; umount /usr; true")
    assert not Path("/usr/spear-probe").exists()
    assert "denied" in done.output or "not permitted" in done.output or "superuser" in done.output


def test_there_are_no_capabilities_no_new_privileges_and_a_filter(host):
    status = host.run("cat /proc/self/status").output
    assert "CapEff:\t0000000000000000" in status
    assert "CapBnd:\t0000000000000000" in status
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status


def test_no_further_user_namespace_can_be_made(host):
    assert host.run("unshare -Ur true").exit_code != 0
    # The filter's own answer is EPERM; where it is not there, --disable-userns lets the kernel answer ENOSPC.
    code = LIBC + "l.unshare(0x10000000)\nprint(ctypes.get_errno())"
    assert host.run(python(code)).output == "1\n"


def test_a_link_planted_under_a_mount_destination_is_not_followed(host):
    victim = host.tree()
    tree = host.tree(a="one\n")
    top = f"/tmp/{host.base.relative_to('/tmp').parts[0]}"
    first = host.run(f"mv {top} /tmp/moved; mkdir /tmp/keep; ln -s {victim} {top}; ls -ld {top}", tree)
    assert f"-> {victim}" in first.output, first.output
    second = host.run("cat a", tree)
    assert second.output == "one\n", second
    assert list(victim.iterdir()) == []


def test_control_bwrap_follows_a_planted_link(tmp_path):
    victim, tree, private = tmp_path / "victim", tmp_path / "tree", tmp_path / "private"
    for directory in (victim, tree, private):
        directory.mkdir()
    (private / "x").symlink_to(f"/oldroot{victim}")
    subprocess.run(
        ["bwrap", "--ro-bind", "/usr", "/usr", "--bind", str(private), "/tmp", "--bind", str(tree), "/tmp/x/y", "true"],
        capture_output=True, check=False,
    )  # fmt: skip
    version = subprocess.run(["bwrap", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    followed = (victim / "y").exists()
    assert followed or tuple(int(part) for part in version.split(".")) >= (0, 12, 0)


def test_the_environment_is_built_from_nothing(host):
    done = host.run("env; cat /proc/*/environ | tr '\\0' '\\n'")
    assert SECRET not in done.output
    assert "PYTHONPATH" not in done.output
    assert host.run("wc -c < /proc/1/environ").output.strip() == "0"


def test_an_exported_preload_never_reaches_bwrap_itself(host):
    tree = host.tree(e__c='#include <stdio.h>\n__attribute__((constructor)) void f(void) { fopen("loaded", "w"); }\n')
    marker = host.base / "preloaded"
    (tree / "e.c").write_text(
        f'#include <stdio.h>\n__attribute__((constructor)) void f(void) {{ fopen("{marker}", "w"); }}\n'
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", str(tree / "evil.so"), str(tree / "e.c")], check=True)
    host.base.chmod(0o777)
    subprocess.run(["true"], env={"LD_PRELOAD": str(tree / "evil.so")}, check=True)
    assert marker.exists(), "the control does not work"
    marker.unlink()
    done = host.run("true", tree, environment={"LD_PRELOAD": str(tree / "evil.so")})
    assert done.exit_code == 0
    assert not marker.exists()


def test_descriptors_do_not_leak(host):
    assert host.run("ls /proc/self/fd").output.split() == ["0", "1", "2", "3"]


def test_a_socket_of_the_host_cannot_be_reached(host):
    tree = host.tree()
    path = tree / "control.sock"
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as abstract:
        server.bind(str(path))
        server.listen()
        path.chmod(0o777)
        abstract.bind("\0spear-probe")
        abstract.listen()
        connect = "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({!r})\nprint('CONNECTED')"
        for address in (str(path), "\0spear-probe"):
            assert plainly(connect.format(address)) == "CONNECTED"
            assert "CONNECTED" not in host.run(python(connect.format(address)), tree).output
            assert "CONNECTED" not in host.run(python(connect.format(address)), tree, writes=False).output


@pytest.mark.parametrize(
    ("code", "refused"),
    [
        ("import socket\ntry:\n socket.socket(40, 1)\nexcept OSError as e: print(e.errno)", "1"),
        ("import socket\ntry:\n socket.socket(17, 3, 3)\nexcept OSError as e: print(e.errno)", "1"),
        ("import fcntl, os\ntry:\n fcntl.ioctl(0, 0x5412, b'x')\nexcept OSError as e: print(e.errno)", "1"),
        (LIBC + "l.syscall(425, 1, 0)\nprint(ctypes.get_errno())", "38"),
        (LIBC + "l.ptrace(0, 0, 0, 0)\nprint(ctypes.get_errno())", "1"),
        (LIBC + "l.syscall(250, 0, 0)\nprint(ctypes.get_errno())", "1"),
        (LIBC + "l.syscall(0x40000000 + 39)\nprint(ctypes.get_errno())", "1"),
    ],
    ids=["vsock", "packet", "TIOCSTI", "io_uring", "ptrace", "keyctl", "x32"],
)  # fmt: skip
def test_calls_no_build_needs_are_refused(host, code, refused):
    assert host.run(python(code)).output.strip() == refused
    assert plainly(code) != refused


def test_programs_still_work_under_the_filter(host):
    done = host.run(
        "diff <(echo a) <(echo a) && node -e 'console.log(1)' && git init -q x && "
        + python("import threading, subprocess, socket, multiprocessing as m\nt = threading.Thread(target=print)\n"
                 "t.start()\nt.join()\nsubprocess.run(['true'], check=True)\nsocket.socketpair()\n"
                 "socket.socket(socket.AF_UNIX).bind('/tmp/s')\nprint(m.Manager().list([1]))")
    )  # fmt: skip
    assert done.output == "1\n\n[1]\n", done.output


def test_a_closed_path_cannot_be_written_nor_moved_away(host):
    tree = host.tree()
    for name in ("hooks", "info"):
        (tree / ".git" / name).mkdir(parents=True)
    (tree / ".git/config").write_text("[core]\n")
    host.give(tree)
    closed = [".git/hooks", ".git/config"]
    attack = (
        "mv .git .g && mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; echo x > .git/config; rm -rf .git/hooks"
    )
    done = host.run(f"{attack}; echo fine > .git/index", tree, closed=closed)
    assert done.upper == {".git": "dir", ".git/index": "file"}, done
    assert done.output.count("Read-only file system") == 2, done.output
    assert "Device or resource busy" in done.output
    bare = host.run(attack, tree)
    assert bare.upper.get(".git/hooks/pre-commit") == "file" or ".g" in bare.upper


def test_a_closed_path_that_does_not_exist_yet_is_dropped_and_leaves_no_placeholder(host):
    tree = host.tree(keep="x")
    closed = [".envrc", ".vscode/tasks.json", ".husky"]
    assert host.run("ls -A", tree, closed=closed).output == "keep\n"
    done = host.run("echo x > .envrc; mkdir .vscode .husky; touch .vscode/{tasks,settings}.json .husky/x", tree,
                    closed=closed)  # fmt: skip
    assert done.upper == {".vscode": "dir", ".vscode/settings.json": "file"}
    assert any(".envrc is closed" in note for note in done.notes)


def test_a_link_on_the_way_to_a_closed_path_is_no_way_round(host):
    tree = host.tree(tools__husky__old="x")
    (tree / ".husky").symlink_to("tools/husky")
    host.give(tree)
    replaced = "rm .husky; mkdir .husky v; touch .husky/y v/tasks.json; ln -s v .vscode"
    closed = [".husky", ".vscode/tasks.json"]
    done = host.run(f"echo x > .husky/pre-commit; {replaced}", tree, closed=closed)
    assert done.upper == {"v": "dir", "v/tasks.json": "file"}, done
    assert (tree / ".husky").is_symlink()


def test_a_closed_link_that_leads_outside_is_not_mounted_on(host):
    outside = host.tree()
    tree = host.tree()
    (tree / ".envrc").symlink_to(outside / "made")
    (tree / ".git").symlink_to(outside)
    host.give(tree)
    done = host.run("echo x > .envrc; echo hello", tree, closed=[".envrc", ".git/hooks", ".git/config"])
    assert "hello" in done.output, done
    assert list(outside.iterdir()) == []


def test_hidden_paths_cannot_even_be_read(host):
    tree = host.tree(**{".netrc": "password z", ".ssh__id": "KEY"})
    for options in ({}, {"writes": False}):
        done = host.run("cat .netrc .ssh/id; ls .ssh", tree, hidden=[".netrc", ".ssh", "absent"], **options)
        assert "password z" not in done.output
        assert "KEY" not in done.output
        assert done.output.count("denied") == 3, done.output


def test_a_hard_link_made_before_does_not_carry_a_write_outside(host):
    tree = host.tree(inside="one\n")
    outside = host.base / f"linked-{tree.name}"
    os.link(tree / "inside", outside)
    assert host.run("echo two > inside; cat inside", tree).output == "two\n"
    assert outside.read_text() == "one\n"


def test_nothing_outlives_a_command(host):
    marker = f"sleep 31.{os.getpid()}"
    for script in (f"nohup {marker} >/dev/null 2>&1 & disown", f"setsid {marker} & (setsid sh -c '{marker}; true' &)"):
        done = host.run(script)
        assert done.duration_s < 10
        assert "sleep" in done.left_running
        assert not alive(marker)


def test_the_answer_comes_when_the_last_process_is_gone(own_host):
    assert own_host.run("sleep 60 & (setsid sleep 60 &); true").left_running == ["sleep"]
    pattern = ["pgrep", "-f", f"sandbox.supervisor .* {own_host.process.pid} "]
    supervisor = subprocess.run(pattern, capture_output=True, text=True, check=True).stdout.split()
    children = subprocess.run(["pgrep", "-P", ",".join(supervisor)], capture_output=True, text=True, check=False)
    assert children.stdout == ""


def test_a_background_child_does_not_hold_the_call(host):
    done = host.run("sleep 25 & echo done")
    assert done.output == "done\n"
    assert done.duration_s < 10


def test_killing_everything_stays_inside(host):
    # Guarded: were the namespace missing, the attack would end the whole session of whoever runs the tests.
    alone = '[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 10 ] && [ "$$" -lt 10 ]'
    done = host.run(f"if {alone}; then kill -9 -1; else echo NOT ALONE; fi")
    assert "NOT ALONE" not in done.output
    assert done.ending in ("exited", "signalled")
    assert host.run("echo alive").output == "alive\n"


def test_a_timeout_kills_the_whole_tree(host):
    marker = f"sleep 32.{os.getpid()}"
    done = host.run(f"({marker} &) ; setsid {marker} & trap '' TERM INT; {marker}", timeout=0.5)
    assert done.ending == "timed_out"
    assert done.exit_code is None
    assert not alive(marker)


def test_the_death_of_the_host_takes_everything_along(own_host):
    marker = f"sleep 33.{os.getpid()}"
    tree = own_host.tree()
    request = f'{{"script": "touch /tmp/on; {marker}", "tree": "{tree}", "timeout": 100}}\n'
    own_host.process.stdin.write(request)
    own_host.process.stdin.flush()
    limit = time.monotonic() + 20
    while (
        subprocess.run(["pgrep", "-f", marker], capture_output=True, check=False).returncode
        and time.monotonic() < limit
    ):
        pass
    supervisor = subprocess.run(
        ["pgrep", "-f", f"sandbox.supervisor .* {own_host.process.pid} "], capture_output=True, text=True, check=True
    )
    assert supervisor.stdout.split()
    own_host.process.send_signal(signal.SIGKILL)
    own_host.process.wait()
    assert gone(marker)
    assert gone(f"sandbox.supervisor .* {own_host.process.pid} ")
    assert str(own_host.base) not in Path("/proc/mounts").read_text(encoding="utf-8")
    session = own_host.base / "session"
    assert session.exists()
    assert CommandRunner.sweep(own_host.base) == (session,)
    assert not session.exists()


def test_device_nodes_cannot_be_made_and_no_terminal_is_there(host):
    done = host.run("mknod disk b 8 0; echo x > /dev/tty; ls /dev | sort | tr '\\n' ' '")
    assert "not permitted" in done.output
    assert "No such device" in done.output
    assert "kvm" not in done.output
    assert "disk" not in done.upper


def test_the_home_and_the_users_of_the_host_are_not_there(host):
    done = host.run("ls -A ~; cat /etc/shadow; cat /etc/passwd; ls /home; ls /root 2>/dev/null")
    assert "root:" not in done.output
    assert done.output.count("sandbox:x:") == 1
    assert "No such file" in done.output


def test_a_command_has_a_terminal_session_of_its_own(host):
    assert host.run("cut -d' ' -f6 /proc/self/stat").output.strip() != "0"


def test_the_death_of_the_supervisor_takes_the_command_along(own_host):
    marker = f"sleep 34.{os.getpid()}"
    tree = own_host.tree()
    own_host.process.stdin.write(f'{{"script": "{marker} & {marker}", "tree": "{tree}", "timeout": 100}}\n')
    own_host.process.stdin.flush()
    limit = time.monotonic() + 20
    found = ["pgrep", "-f", marker]
    while subprocess.run(found, capture_output=True, check=False).returncode and time.monotonic() < limit:
        pass
    pattern = ["pgrep", "-f", f"sandbox.supervisor .* {own_host.process.pid} "]
    pids = subprocess.run(pattern, capture_output=True, text=True, check=True).stdout.split()
    for pid in pids:
        os.kill(int(pid), signal.SIGKILL)
    assert gone(marker)
    assert "supervisor" in own_host.process.stdout.readline()


def test_processes_of_the_host_are_not_seen(host):
    assert host.run("ls /proc | grep -c '^[0-9]'").output.strip() in ("3", "4", "5")


def test_root_runs_a_command_as_the_owner_of_the_tree(foreign_host):
    tree = foreign_host.tree(a="one\n", private="x")
    (tree / "private").chmod(0o600)
    done = foreign_host.run(
        "id -u; echo two > a; touch b; cat private; echo; cat /etc/hostname; echo t > /tmp/t; cat ~/x", tree
    )
    owner = foreign_host.owner.pw_uid
    assert done.output.splitlines()[:3] == [str(owner), "x", "spear"], done
    assert done.upper == {"a": "file", "b": "file"}
    assert {Path(done.upper_path, name).stat().st_uid for name in ("a", "b")} == {owner}
    assert done.cwd == str(tree)


def test_a_special_file_left_behind_is_in_the_upper_layer_only(host):
    tree = host.tree()
    done = host.run("mkfifo pipe; cp /bin/true s; chmod 4755 s", tree)
    assert done.upper == {"pipe": "fifo", "s": "file"}
    assert list(tree.iterdir()) == []
    assert stat.S_ISREG(Path(done.upper_path, "s").lstat().st_mode)
