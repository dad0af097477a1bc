"""Targets no turn changes: generated, kept copies, third party, credentials, git's own, run later (spec 2.2, 2.4)."""

from __future__ import annotations

import pytest

from spear.agent.host import Outcome
from spear.workspace.projects import Declaration, Project
from tests.host_bench import Workbench

HEADER = "/* DO NOT EDIT: generated from proto/ring.proto by gen.py */\nint table[4];\n"
WAYS = {
    "write_file": lambda turn, path: turn.write(path, "x"),
    "patch": lambda turn, path: turn.patch(path, "int", "long"),
    "delete_file": lambda turn, path: turn.delete(path),
    "redirection": lambda turn, path: turn.run(f"echo x > {path}"),
    "cp": lambda turn, path: turn.run(f"cp Makefile {path}"),
    "tee": lambda turn, path: turn.run(f"echo x | tee -a {path}"),
    "truncate": lambda turn, path: turn.run(f"truncate -s0 {path}"),
    "ln": lambda turn, path: turn.run(f"ln -sf Makefile {path}"),
    "rm": lambda turn, path: turn.run(f"rm {path}"),
    "sed": lambda turn, path: turn.run(f"sed -i s/int/long/ {path}"),
    "opaque": lambda turn, path: turn.run(f"python3 -c \"import sys; open(sys.argv[1], 'w')\" $(printf %s {path})"),
    "rename": lambda turn, path: turn.run(f"python3 -c \"import os, sys; os.rename('Makefile', sys.argv[1])\" $(echo {path})"),
}  # fmt: skip
TARGETS = {
    "src/table.c": "generated",
    "out/generated/x.c": "generated",
    "build/tmp/x.c": "generated",
    "src/ring.c.back": "snapshot",
    "tree.0/a.c": "snapshot",
    "third_party/z/z.c": "third_party",
    "u-boot/main.c": "third_party",
    "sealed/key.c": "protected",
    "id_ed25519": "credentials",
}


@pytest.fixture
def kept(ring):
    for path in TARGETS:
        ring.put(path, HEADER if path == "src/table.c" else "int old;\n")
    ring.put(".gitignore", "build/test_ring\n")
    ring.project = Project("demo", ring.root, Declaration(protected=("sealed/",)))
    ring.git("add", "-A", "-f")
    ring.git("commit", "-qm", "kept")
    return ring


@pytest.mark.parametrize("how", list(WAYS))
@pytest.mark.parametrize("path", list(TARGETS))
def test_a_protected_target_is_refused_to_every_tool(kept, path, how):
    before, makefile = (kept.root / path).read_bytes(), kept.text("Makefile")
    result = WAYS[how](kept.turn(), path)
    if TARGETS[path] == "credentials" and how in ("opaque", "rename"):
        assert result.outcome is Outcome.FAILED, "a masked file is not there to be written"
    else:
        assert result.outcome is Outcome.REFUSED
        assert result.refusal.code == TARGETS[path]
        assert result.refusal.remedy
    assert not (kept.root / path).is_symlink()
    assert (kept.root / path).read_bytes() == before
    assert how == "rename" or kept.text("Makefile") == makefile


@pytest.mark.parametrize("how", ["write_file", "redirection", "opaque", "sed", "truncate"])
def test_a_protected_target_is_refused_as_resolved_too(kept, how):
    (kept.root / "alias.c").symlink_to("src/table.c")
    (kept.root / "elsewhere").symlink_to("src")
    for path in ("alias.c", "elsewhere/table.c"):
        result = WAYS[how](kept.turn(), path)
        assert result.outcome is Outcome.REFUSED, path
        assert kept.text("src/table.c") == HEADER


@pytest.mark.parametrize("how", ["redirection", "opaque", "sed"])
def test_a_hard_link_to_a_protected_target_does_not_reach_it(kept, how):
    (kept.root / "hard.c").hardlink_to(kept.root / "src/table.c")
    WAYS[how](kept.turn(), "hard.c")
    assert kept.text("src/table.c") == HEADER


def test_the_refusal_of_a_generated_file_names_its_source(kept):
    assert "proto/ring.proto" in kept.turn().write("src/table.c", "x").text


def test_a_build_regenerates_what_an_edit_may_not_touch(kept):
    kept.put(
        "Makefile",
        "gen: \n\techo '/* DO NOT EDIT: generated */' > src/table.c\n\tmkdir -p build/tmp; echo x > build/tmp/x.c\n",
    )
    turn = kept.turn("src/ring.c")
    result = turn.run("make gen")
    assert result.outcome is Outcome.OK, result.text
    assert kept.text("src/table.c") == "/* DO NOT EDIT: generated */\n"
    assert turn.write("src/table.c", "x").outcome is Outcome.REFUSED


def test_a_generator_of_the_tree_regenerates_and_a_script_of_the_turn_does_not(kept):
    kept.put("tools/gen.py", "open('src/table.c', 'w').write('/* @generated */ int table[8];')\n")
    turn = kept.turn()
    assert turn.run("python3 tools/gen.py").outcome is Outcome.OK
    assert kept.text("src/table.c").endswith("table[8];")
    assert turn.write("mine.py", "open('src/' + 'table.c', 'w').write('x')\n").outcome is Outcome.OK
    result = turn.run("python3 mine.py")
    assert result.refusal.code == "generated"
    assert kept.text("src/table.c").endswith("table[8];")


def test_even_a_build_does_not_change_what_the_request_excludes(kept):
    kept.put("Makefile", "gen: \n\techo '/* DO NOT EDIT */' > src/table.c\n")
    result = kept.turn(exclusions=("src/table.c",)).run("make gen")
    assert result.refusal.code == "excluded"
    assert kept.text("src/table.c") == HEADER


def test_a_file_the_turn_creates_may_say_of_itself_that_it_is_generated(ring):
    turn = ring.turn()
    assert turn.write("templates/head.txt", "// DO NOT EDIT: generated\n").outcome is Outcome.OK
    assert turn.patch("templates/head.txt", "EDIT", "MODIFY").outcome is Outcome.OK
    assert turn.run("echo '# end' >> templates/head.txt").outcome is Outcome.OK


@pytest.mark.parametrize("path", ["third_party/z/z.c", "node_modules/left/index.js"])
def test_third_party_code_may_be_changed_when_the_request_names_it(ring, path):
    ring.put(path, "int old;\n")
    turn = ring.turn(path)
    assert turn.write(path, "int new;\n").outcome is Outcome.OK
    assert turn.run(f"echo '//' >> {path}").outcome is Outcome.OK


def test_installed_packages_stay_where_a_package_manager_puts_them(ring):
    ring.put(".gitignore", "node_modules/\n")
    turn = ring.turn("src/ring.c")
    result = turn.run("node -e \"const f = require('fs'); f.mkdirSync('node_modules/left', {recursive: true});"
                      " f.writeFileSync('node_modules/left/index.js', 'x')\"")  # fmt: skip
    assert result.outcome is Outcome.OK, result.text
    assert (ring.root / "node_modules/left/index.js").exists()


LOCKS = {
    "cargo": "Cargo.lock", "npm": "package-lock.json", "go": "go.sum", "uv": "uv.lock", "poetry": "poetry.lock",
}  # fmt: skip


@pytest.mark.parametrize(("tool", "lock"), LOCKS.items())
def test_a_lock_file_its_own_tool_rewrites_is_an_artefact_of_the_command(ring, tool, lock):
    ring.put(lock, "old\n")
    # The tools themselves are not all installed where tests run; what decides is the name of the program.
    ring.put(f"bin/{tool}", f"#!/bin/sh\necho resolved > {lock}\n", 0o755)
    turn = ring.turn("src/ring.c")
    result = turn.run(f"PATH=$PWD/bin:$PATH {tool} install")
    assert result.outcome is Outcome.OK, result.text
    assert ring.text(lock) == "resolved\n"
    assert turn.run(f"echo x > {lock}").outcome is Outcome.REFUSED
    assert turn.write(lock, "x").outcome is Outcome.REFUSED
    assert turn.run(f"python3 -c \"open('{lock[:2]}' + '{lock[2:]}', 'w')\"").outcome is Outcome.REFUSED
    assert ring.text(lock) == "resolved\n"


def test_a_lock_file_the_request_excludes_is_left_alone(ring):
    ring.put("Cargo.lock", "old\n")
    ring.put("bin/cargo", "#!/bin/sh\necho resolved > Cargo.lock\n", 0o755)
    result = ring.turn(exclusions=("Cargo.lock",)).run("PATH=$PWD/bin:$PATH cargo build")
    assert result.refusal.code == "excluded"
    assert ring.text("Cargo.lock") == "old\n"


def test_a_real_cargo_test_locks_and_counts_as_a_check_of_the_state_it_left(ring):
    ring.put("Cargo.toml", '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n')
    ring.put("src/lib.rs", "pub fn one() -> i32 { 1 }\n#[test] fn is_one() { assert_eq!(one(), 1) }\n")
    turn = ring.turn("src/lib.rs")
    result = turn.run("cargo test --offline")
    assert result.outcome is Outcome.OK, result.text
    assert (ring.root / "Cargo.lock").exists()
    (check,) = turn.record.check.results
    assert (check.status, check.epoch) == ("passed", turn.epoch)


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".git/config", ".envrc", ".vscode/tasks.json", ".husky/pre-commit", ".spear/x.toml",
             ".mcp.json", ".claude/settings.json", ".pre-commit-config.yaml"],
)  # fmt: skip
@pytest.mark.parametrize("how", ["write_file", "redirection", "opaque"])
def test_what_other_programs_execute_later_is_closed_whether_it_exists_or_not(ring, path, how):
    before = (ring.root / path).read_bytes() if (ring.root / path).exists() else None
    turn = ring.turn()
    if how == "opaque":
        code = "import os, sys; os.makedirs(os.path.dirname(sys.argv[1]) or '.', exist_ok=True); open(sys.argv[1], 'w')"
        turn.run(f'python3 -c "{code}" $(echo {path})')
    else:
        assert WAYS[how](turn, path).outcome is Outcome.REFUSED
    assert ((ring.root / path).read_bytes() if (ring.root / path).exists() else None) == before


@pytest.mark.parametrize("path", [".git/hooks/pre-commit", ".git/config", ".envrc"])
def test_a_closed_path_is_read_only_to_a_program_while_it_runs(ring, path):
    """So that nothing of the same command, git above all, acts on what another part of it planted."""
    ring.put(".envrc", "use flake\n")
    result = ring.turn().run(f"python3 -c \"import sys; open(sys.argv[1], 'a')\" $(echo {path})")
    assert "Read-only file system" in result.text


def test_a_request_that_names_such_a_file_may_write_it(ring):
    turn = ring.turn(".envrc")
    assert turn.write(".envrc", "use flake\n").outcome is Outcome.OK
    assert turn.run("echo 'layout python' >> .envrc").outcome is Outcome.OK
    assert ring.text(".envrc") == "use flake\nlayout python\n"


@pytest.mark.parametrize("path", [".ssh/id_rsa", ".netrc", ".aws/credentials", "id_ed25519", ".git-credentials"])
def test_credentials_are_neither_read_nor_found_nor_written(ring, path):
    ring.put(path, "SECRET-MATERIAL\n")
    turn = ring.turn()
    assert turn.read(path).outcome is Outcome.REFUSED
    assert "MATERIAL" not in turn.call("search_files", pattern="SECRET-MAT").text
    assert "MATERIAL" not in turn.run(f"cat {path}; grep -r SECRET .").text
    assert turn.write(path, "x").outcome is Outcome.REFUSED
    assert ring.text(path) == "SECRET-MATERIAL\n"


def test_the_state_directory_inside_a_root_cannot_be_seen(tmp_path, probe):
    bench = Workbench(tmp_path, probe)
    try:
        bench.base = bench.root
        turn = bench.turn()
        turn.write("a.txt", "x\n")
        assert turn.read("state/audit/tool-actions.jsonl").refusal.code == "own_state"
        assert "tool-actions" not in turn.run("ls -R state 2>&1").text
        assert turn.run("touch state/x; echo x > state/y").outcome is not Outcome.OK
    finally:
        bench.close()
