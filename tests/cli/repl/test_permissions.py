"""`/permissions` in the chat of `spear-chat` itself: what is saved holds in the next session, and in one-shot too."""

from __future__ import annotations

import subprocess
import sys
import tomllib

TOUCH = ("terminal", {"command": "touch made.txt"})
AGAIN = ("terminal", {"command": "touch made.txt again.txt"})
CHOOSE = "choose with a key, then Enter"


def test_a_prefix_is_saved_with_its_example_used_and_revoked(real, scripted, project):
    r = real([scripted.calls(TOUCH), scripted.text("Done one.")], "--ask", "--validation", "off")
    r.line("Touch made.txt.")
    r.wait(CHOOSE)
    r.settle(0.5)
    r.keys("p\r")
    r.wait("Done one")
    r.settle(0.5)
    r.line("/permissions")
    r.wait(r"1  prefix: touch made\.txt … \(session, \d{4}-\d\d-\d\d\)")
    r.line("/permissions save 2")
    r.wait("there is no approval 2")
    r.line("/permissions save 1")
    r.wait(r"kept in \.spear/config\.toml: prefix: touch made\.txt … \(project, ")
    r.line("/quit")
    assert r.end() == 0
    (kept,) = tomllib.loads((project / ".spear/config.toml").read_text())["permissions"]
    assert kept["kind"] == "prefix"
    assert kept["words"] == ["touch", "made.txt"]
    assert kept["examples"] == [["touch", "made.txt"]]

    again = real([scripted.calls(AGAIN), scripted.text("Done two.")], "--ask", "--validation", "off")
    again.line("Touch both.")
    again.wait("Done two")
    assert CHOOSE not in again.plain()
    assert (project / "again.txt").exists()
    again.settle(0.5)
    again.line("/permissions")
    again.wait(r"1  prefix: touch made\.txt … \(project, ")
    again.line("/permissions revoke 1")
    again.wait("revoked: prefix: touch made")
    again.line("/permissions")
    again.wait("nothing is approved for good here")
    again.line("/quit")
    assert again.end() == 0
    assert "permissions" not in (project / ".spear/config.toml").read_text()


def test_one_shot_asks_nobody_about_what_the_project_keeps(real, scripted, project, state, tmp_path):
    (project / ".spear").mkdir()
    (project / ".spear/config.toml").write_text(
        '[[permissions]]\nkind = "prefix"\nwords = ["touch", "made.txt"]\nexamples = [["touch", "made.txt"]]\n'
    )
    with scripted.ModelServer([scripted.calls(TOUCH), scripted.text("x")] * 2) as server:
        words = ["-p", "Touch made.txt.", "--ask", "--api-base", server.base_url, "--state-dir", str(state)]
        environment = {"PATH": sys.path[0], "HOME": str(tmp_path), "OPENAI_API_KEY": "k", "SPEAR_MODEL_NAME": "m"}
        environment["PATH"] = "/usr/bin:/bin"

        def run(*arguments):
            return subprocess.run(
                [sys.executable, "-m", "spear.cli.main", *arguments], cwd=project, env=environment, check=False,
                capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
            )  # fmt: skip

        untrusted = run(*words)
        assert "permissions in" in untrusted.stderr
        assert not (project / "made.txt").exists()
        assert run("trust", "--yes", "--state-dir", str(state)).returncode == 0
        run(*words)
        assert (project / "made.txt").exists()


def test_what_cannot_be_saved_says_why_and_stays_for_the_session(real, scripted, project):
    (project / ".spear").mkdir()
    (project / ".spear/config.toml").write_text("notify = false\n")
    r = real([scripted.calls(TOUCH), scripted.text("Done one.")], "--ask", "--validation", "off")
    r.line("Touch made.txt.")
    r.wait(CHOOSE)
    r.settle(0.5)
    r.keys("p\r")
    r.wait("Done one")
    r.settle(0.5)
    r.line("/permissions save 1")
    r.wait(r"is not trusted as it is now — look at it with `spear-chat trust`")
    r.line("/permissions")
    r.wait(r"1  prefix: touch made\.txt … \(session")
    assert (project / ".spear/config.toml").read_text() == "notify = false\n"
