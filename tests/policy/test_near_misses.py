"""Refused commands, each with the near miss beside it that is not refused, and ordinary work that never is."""

from __future__ import annotations

import pytest

from spear.events.names import Mode
from spear.policy import target_policy
from spear.policy.command_class import CommandClass
from spear.policy.command_policy import Assessment, Decision
from spear.policy.destination_policy import PolicyView
from spear.policy.modes import grants
from spear.policy.places import Root, TreeFacts
from spear.policy.write_scope import WriteScope

WIDE = WriteScope(workspace_wide=True)
RING = WriteScope(("src/ring.c",), created=frozenset())
DIRECTORIES = frozenset({"", "src", "tests", "docs"})
FACTS = TreeFacts(is_directory=lambda path: path in DIRECTORIES)


def view(scope: WriteScope = WIDE, *, read_only: bool = False, mode: Mode = Mode.AUTO, cwd: str = "") -> PolicyView:
    return PolicyView(
        roots=(Root("/home/dev/ws"), Root("/home/dev/lib", "/workspaces/lib")),
        grants=grants(mode, read_only=read_only),
        scope=scope,
        cwd=cwd,
        facts=FACTS,
    )


def code(assessment: Assessment) -> str:
    return "" if assessment.refusal is None else str(assessment.refusal.code)


SCOPED = [
    ("echo x > src/uart.c", "echo x > src/ring.c"),
    ("cp src/ring.c src/ring2.c", "cp src/ring2.c src/ring.c"),
    ("cp src/ring2.c src", "cp /tmp/ring.c src"),
    ("mv src/ring.c src/gone.c", "mv /tmp/ring.c src/ring.c"),
    ("rm src/uart.c", "rm src/ring.c"),
    ("rm -rf src", "rm -rf build"),
    ("touch src/new.c", "touch src/ring.h"),
    ("mkdir src/deep", "mkdir -p src"),
    ("sed -i s/a/b/ src/uart.c", "sed -i s/a/b/ src/ring.c src/ring.h"),
    ("sed -i s/a/b/ src/uart.c", "sed s/a/b/ src/uart.c"),
    ("sed -n 'w src/uart.c' src/ring.c", "sed -n '/w src.uart.c/p' src/ring.c"),
    ("cd src && echo > uart.c", "cd src && echo > ring.c"),
    ("cd src; echo > ../notes", "cd src; echo > ../src/ring.c"),
    ("tee src/uart.c < x", "cat src/uart.c | tee /dev/null"),
    ("tee src/ring.c src/uart.c < x", "tee src/ring.c < x"),
    ("dd if=x of=src/uart.c", "dd if=src/uart.c of=/tmp/x"),
    ("truncate -s0 src/uart.c", "truncate -s0 src/ring.c"),
    ("ln -sf ring.c src/uart.c", "ln -s /home/dev/ws/src/ring.c /tmp/l"),
    ("install -m644 x src/uart.c", "install -m644 x src/ring.c"),
    ("chmod 600 src/uart.c", "chmod 644 src/ring.c"),
    ("perl -pi -e s/a/b/ src/uart.c", "perl -ne 'print if /a/' src/uart.c"),
    ("python3 -c \"open('src/uart.c','w')\"", "python3 -c \"open('src/uart.c')\""),
    ("python3 - <<'E'\nimport os\nos.remove('src/uart.c')\nE", "python3 - <<'E'\nprint('os.remove(src/uart.c)')\nE"),
    ("bash -c 'echo > src/uart.c'", "bash -c 'echo > src/ring.c'"),
    ("F=src/uart.c; echo > $F", "F=src/ring.c; echo > $F"),
    (
        "for f in src/ring.c src/uart.c; do sed -i s/a/b/ $f; done",
        "for f in src/ring.c src/ring.h; do sed -i s/a/b/ $f; done",
    ),
    ("find src -name 'uart*' -delete", "find src -name 'uart*' -print"),
    ("find src -name uart.c -exec rm {} \\;", "find src -name uart.c -exec cat {} \\;"),
    ("ls src/uart.c | xargs rm", "ls src/uart.c | xargs cat"),
    ("git checkout -- src/uart.c", "git checkout -- src/ring.c"),
    ("git checkout main", "git log main"),
    ("git reset --hard", "git reset"),
    ("git clean -fd", "git clean -nd"),
    ("git stash", "git stash list"),
    ("git diff --output=src/uart.c", "git diff src/uart.c"),
    ("git -c alias.x='!touch src/uart.c' x", "git -c color.ui=never status"),
    ("tar xf t.tar -C src", "tar tf t.tar"),
    ("tar xf t.tar", "tar xf t.tar -C /tmp/t"),
    ("unzip t.zip -d src", "unzip -l t.zip"),
    ("rsync -a /tmp/d/ src/", "rsync -a src/ /tmp/d/"),
    ("curl -o src/uart.c http://h/x", "curl -o /tmp/x http://h/x"),
    ("patch src/uart.c < p", "patch src/ring.c < p"),
    ("gcc -E src/ring.c -o src/uart.c", "gcc -c src/ring.c -o src/ring.o"),
    ("sort -o src/uart.c x", "sort src/uart.c"),
    ("split -b 2 x src/part", "split -b 2 x /tmp/part"),
    ("gzip -k src/uart.c", "gzip -c src/uart.c"),
    ("echo > src/[u]art.c", "sed -i s/a/b/ src/*.c"),
    ("echo > docs/x.md", "echo > tests/test_ring.c"),
    ("echo > src/ring_arm.c", "echo > include/ring.h"),
    ("echo > src/ring.c.orig", "echo > src/./ring.c"),
    ("eval 'rm src/uart.c'", "echo 'rm src/uart.c'"),
    ("cat <<E\n$(rm src/uart.c)\nE", "cat <<'E'\n$(rm src/uart.c)\nE"),
    ("diff <(rm src/uart.c) x", "diff <(cat src/uart.c) x"),
    ("f() { rm src/uart.c; }; f", "f() { cat src/uart.c; }; f"),
    ("trap 'rm src/uart.c' EXIT", "trap 'rm /tmp/x' EXIT"),
    ("env -C src rm uart.c", "env -C src rm ring.c"),
    ("ed -s src/uart.c <<< w", "ed -s src/ring.c <<< w"),
    ("clang-format -i src/uart.c", "clang-format src/uart.c"),
    ("black src/uart.py", "black ."),
    ("black docs", "ruff format . && pytest"),
    ("shfmt -w scripts", "gofmt -w ./src"),
    ("prettier --write 'docs/**/*.c'", "prettier --write 'src/**/*.c'"),
    ("sed -i s/a/b/ docs/*.c", "for f in src/*.c; do clang-format -i $f; done"),
    ("gcc -o t src/ring.c; rm -f u", "gcc -o t src/ring.c; ./t; rm -f t"),
    ("sed -i.bak s/a/b/ src/ring.c; rm src/uart.c.bak", "sed -i.bak s/a/b/ src/ring.c && rm src/ring.c.bak"),
    ("sqlite3 app.db 'delete from t'", "sqlite3 app.db 'select * from t where a > 1'"),
    ("[ 1 > src/uart.c ]", "[[ 1 > src/uart.c ]]"),
    ("exec 3> src/uart.c", "exec 3< src/uart.c"),
    ("awk '{print > \"src/uart.c\"}' x", "awk '$1 > 3' src/uart.c"),
]

OUTSIDE = [
    ("echo > /home/dev/other/x", "echo > /home/dev/ws/x"),
    ("echo > ../x", "cd src && echo > ../x"),
    ("echo > /home/dev/ws-evil/x", "echo > /workspace/x"),
    ("echo > /home/dev/ws/../x", "echo > /home/dev/ws/src/../x"),
    ("cp x /home/dev/other", "cp /home/dev/other x"),
    ("cp x ~/.bashrc", "cp x ~/scratch"),
    ("echo >> $HOME/.profile", "echo >> $TMPDIR/profile"),
    ("git config --global core.hooksPath /tmp/h", "git config --global user.name x"),
    ("tar xf t -C /home/dev", "tar xf t -C /home/dev/lib"),
    ("echo x > /etc/cron.d/x", "cat /etc/hosts"),
    ("mv x /usr/bin/x", "touch /usr/bin/x"),
    ("python3 -c \"open('/home/dev/x','w')\"", "python3 -c \"open('/tmp/x','w')\""),
    ("sed -i s/a/b/ /etc/hosts", "sed s/a/b/ /etc/hosts"),
]

PROTECTED = [
    ("echo > .git/hooks/pre-commit", "cat .git/hooks/pre-commit"),
    ("git config core.fsmonitor x", "git config core.fsmonitor"),
    ("mv .git .git2", "git mv a b"),
    ("mkdir -p .git/hooks", "ls .git/hooks"),
    ("echo > .envrc", "cat .envrc"),
    ("echo > .vscode/tasks.json", "cat .vscode/tasks.json"),
    ("mkdir .husky", "ls .husky"),
    ("cp x out/generated/y.c", "cp out/generated/y.c /tmp/y.c"),
    ("echo > build/tmp/x.c", "echo > build/x.c"),
    ("echo > src/ring.c.back", "diff src/ring.c src/ring.c.back"),
    ("echo > id_rsa", "echo > id_map.c"),
    ("echo > vendor/lib/x.c", "cat vendor/lib/x.c"),
]

DANGEROUS = [
    ("rm -rf /", "rm -rf build"),
    ("rm -rf /*", "rm -rf ./build/*"),
    ("rm -rf .", "rm -rf ./src"),
    ("rm -rf *", "rm -f *.o"),
    ('rm -rf "$PWD"', 'echo rm -rf "$PWD"'),
    ("find . -delete", "find . -name '*.o' -delete"),
    ("sudo make install", "echo sudo make install"),
    ("env sudo ls", "grep -r sudo ."),
    ("ls; doas ls", "man doas"),
    ("docker run x", "cat docker/Dockerfile"),
    ("docker compose up", "docker --version"),
    ("podman ps", "ls podman"),
    ("systemctl restart x", "cat systemctl.txt"),
    ("systemd-run ls", "which systemd-run"),
    ("dbus-send --session x", "echo dbus-send"),
    (":(){ :|:& };:", "f() { ls | cat; }; f"),
    ("b() { b & b & }; b", "b() { ls & }; b"),
    ("kill -9 -1", "kill -9 %1"),
    ("kill 1", "kill -0 1"),
    ("dd if=x of=/dev/sda", "dd if=/dev/zero of=/tmp/x count=1"),
    ("echo > /dev/nvme0n1", "echo > /dev/null"),
    ("mkfs.ext4 /dev/sdb", "grep mkfs.ext4 x"),
    ("echo x > /dev/tty", "echo x > /dev/stdout"),
    ("echo x | wall", "echo wall"),
    ("shutdown now", "echo shutdown now"),
    ("at now", "date"),
    ("crontab x", "crontab -l"),
    ("sysctl -w kernel.x=1", "sysctl kernel.x"),
    ("sh -c 'sudo ls'", "sh -c 'echo sudo'"),
    ("nsenter -t 1 ls", "echo nsenter -t 1"),
]

READ_ONLY = [
    ("echo x > src/ring.c", "make test"),
    ("ls &> src/ring.c", "ls &> /tmp/x"),
    ("sed -i s/a/b/ src/ring.c", "sed s/a/b/ src/ring.c"),
    ("cp /tmp/x src/ring.c", "cp src/ring.c /tmp/x"),
    ("touch x", "touch /tmp/x"),
    ("rm src/ring.c", "rm -rf build"),
    ("mkdir x", "mkdir -p build && cd build && cmake .. && make"),
    ("git checkout main", "git diff main"),
    ("git stash", "git stash show"),
    ("tee x < y", "make 2>&1 | tee /tmp/log"),
    ("python3 -c \"open('x','w')\"", "python3 -m pytest -q"),
    ("ln -s a b", "gcc -o t src/ring.c && ./t"),
    ("truncate -s0 x", "black ."),
    ("patch -p1 <<'E'\n--- a/x\n+++ b/x\nE", "npm test"),
]


@pytest.mark.parametrize(("refused", "near_miss"), SCOPED)
def test_a_write_outside_the_scope_is_refused_and_its_near_miss_is_not(policy, refused, near_miss):
    bad = policy.assess(refused, view(RING))
    assert code(bad) == "out_of_scope"
    assert "src/ring.c" in bad.refusal.line()
    assert policy.assess(near_miss, view(RING)).decision is not Decision.REFUSE


@pytest.mark.parametrize(("refused", "near_miss"), OUTSIDE)
def test_a_write_outside_the_workspace_is_refused_and_its_near_miss_is_not(policy, refused, near_miss):
    assert code(policy.assess(refused, view())) in ("outside_workspace", "start_up_file")
    assert policy.assess(near_miss, view()).decision is not Decision.REFUSE


@pytest.mark.parametrize(("refused", "near_miss"), PROTECTED)
def test_a_protected_target_is_refused_and_its_near_miss_is_not(policy, refused, near_miss):
    assert code(policy.assess(refused, view())) in set(target_policy.TargetCode)
    assert policy.assess(near_miss, view()).decision is not Decision.REFUSE


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(("refused", "near_miss"), DANGEROUS)
def test_danger_is_refused_in_every_mode_and_its_near_miss_is_not(policy, refused, near_miss, mode):
    bad = policy.assess(refused, view(mode=mode))
    assert bad.decision is Decision.REFUSE
    assert bad.command_class is CommandClass.DANGEROUS
    good = policy.assess(near_miss, view(mode=mode))
    assert good.command_class is not CommandClass.DANGEROUS
    assert mode is Mode.SAFE or good.decision is not Decision.REFUSE


@pytest.mark.parametrize(("refused", "near_miss"), READ_ONLY)
def test_a_read_only_turn_refuses_known_writes_and_still_builds_and_tests(policy, refused, near_miss):
    for asked in (view(read_only=True), view(mode=Mode.SAFE)):
        assert code(policy.assess(refused, asked)) == "read_only"
        assert policy.assess(near_miss, asked).decision is not Decision.REFUSE


BENIGN = [
    "ls | head",
    "grep -rn 'a > b' src",
    "git log --format='%h > %s'",
    "cat <<'E'\na > b\nE",
    "echo 'rm -rf / > x'",
    "find . -name '*.c' | xargs wc -l",
    "awk 'NR > 1 {print $2}' x",
    "make -n 2>&1 | tail -5",
    "sort x > /tmp/y; wc -l < /tmp/y",
    "python3 -c 'print(1 > 0)'",
    "[ 1 -lt 2 ] && echo yes",
    "test -f x; echo $?",
    "cd src && ls",
    "for f in src/*.c; do echo $f; done",
    'while read -r l; do echo "$l"; done < x',
    "diff <(sort a) <(sort b)",
    "cp -r . /tmp/c && make -C /tmp/c",
    "tar cf - src | tar tf -",
    "git status --short && git diff --stat",
    "rg -n 'foo|bar' src || true",
    "make -j4 && ./build/t",
    "./configure && make check",
    "cargo test 2>&1 | tail -20",
    "npm run build",
    "go test ./...",
    "pytest -x -q 2>/dev/null",
    "cmake -S . -B build",
    "ctest --output-on-failure",
    "gdb -batch -ex bt ./t",
    "perl -ne 'print if $. > 1' x",
    "jq '.a > 1' x",
    "env | sort",
    "ps aux | grep x",
    "curl -s http://localhost:80",
    "touch /tmp/a; rm /tmp/a",
    "mktemp",
    "date +%s",
    "git commit -am 'a > b'",
    "git add -A",
    "sleep 1 & wait",
    "exit 0",
    "true",
    "echo ${x:-y} > /dev/null",
    "printf '%s\\n' a b | tee /dev/stderr",
    "bash -n x.sh",
    "python3 t.py > /tmp/out 2>&1",
    "strace -o /tmp/s ls",
    "objdump -d build/t | less",
    "head -c 16 x | xxd",
    "sed -n '/a/,/b/p' x",
    "(cd src; pwd)",
    "time make",
    "timeout 5 ./t || echo $?",
]


@pytest.mark.parametrize("asked", [view(), view(RING), view(read_only=True), view(mode=Mode.SAFE), view(mode=Mode.ASK)])
@pytest.mark.parametrize("command", BENIGN)
def test_ordinary_work_is_never_refused(policy, command, asked):
    assert policy.assess(command, asked).decision is not Decision.REFUSE


def test_the_table_is_large_enough():
    pairs = [*SCOPED, *OUTSIDE, *PROTECTED, *DANGEROUS, *READ_ONLY]
    assert len({text for pair in pairs for text in pair} | set(BENIGN)) >= 250
