"""`/remember never run …` in the real chat, and the scripted call of that command afterwards (spec 2.1)."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

DEPLOY = ("terminal", {"command": "make deploy"})
WRAPPED = ("terminal", {"command": "true && env A=b make -s deploy | cat"})
CHOOSE = "choose with a key, then Enter"
ASKED = "Refuse the command by a rule"


@pytest.fixture
def makefile(project):
    (project / "Makefile").write_text("deploy:\n\ttouch deployed\n")
    return project


def say(r, line, key):
    r.mark()
    r.line(line)
    r.wait(ASKED)
    r.settle(0.5)
    r.keys(f"{key}\r")


def ask(r, request, until):
    r.mark()
    r.line(request)
    return r.wait(until, 60)


@pytest.mark.parametrize("mode", ["--auto", "--ask"])
def test_the_rule_denies_the_command_and_is_listed_and_revoked(real, scripted, makefile, mode):
    script = [scripted.calls(DEPLOY), scripted.calls(WRAPPED), scripted.text("Done one."),
              scripted.calls(("terminal", {"command": "make -n deploy"})), scripted.text("Done two.")]  # fmt: skip
    r = real(script, mode, "--validation", "off")
    say(r, "/remember never run make deploy", "s")
    r.wait(r"rule 1: deny: make deploy … \(session, \d{4}-\d\d-\d\d\); /permissions revoke 1 takes it back")
    shown = ask(r, "Deploy it.", "Done one")
    assert CHOOSE not in shown
    assert not (makefile / "deployed").exists()
    told = [message["content"] for message in r.server.requests[-1]["messages"] if message["role"] == "tool"]
    assert len(told) == 2
    for text in told:
        assert "refused: `make deploy` — rule 1 of the operator forbids it in every mode: deny: make deploy …" in text
        assert "/permissions revoke 1" in text
    assert any('"denied_by_rule"' in log.read_text() for log in r.state.rglob("events.jsonl"))
    r.settle(0.5)
    r.mark()
    r.line("!run make deploy")
    r.wait(r"refused: `make deploy` — rule 1 of the\s+operator")
    r.settle(0.5)
    r.mark()
    r.line("/policy why cd . && make deploy")
    r.wait(r"(?s)refuse \(.*decided by the rule denied_by_rule: refused: `make deploy`")
    r.line("/permissions")
    r.wait(r"1  deny: make deploy … \(session")
    r.line("/permissions revoke 1")
    r.wait("revoked: deny: make deploy")
    r.mark()
    r.line("/policy why make deploy")
    r.wait(r"run_opaque \(")
    r.line("/quit")
    assert r.end() == 0


def test_a_rule_of_the_project_holds_in_the_next_chat_and_in_one_shot(real, scripted, makefile, state, tmp_path):
    r = real([], "--validation", "off")
    say(r, "/remember ne lance jamais `make deploy`.", "p")
    r.wait(r"rule 1: deny: make deploy … \(project, ")
    r.line("/quit")
    assert r.end() == 0
    (kept,) = tomllib.loads((makefile / ".spear/config.toml").read_text())["permissions"]
    assert (kept["kind"], kept["words"]) == ("deny", ["make", "deploy"])

    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OPENAI_API_KEY": "k", "SPEAR_MODEL_NAME": "m",
                   "SPEAR_STATE_DIR": str(state)}  # fmt: skip

    def run(*words):
        return subprocess.run(
            [sys.executable, "-m", "spear.cli.main", *words], cwd=makefile, env=environment, check=False,
            capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip

    assert "decided by the rule denied_by_rule" in run("policy", "explain", "--", "make", "deploy").stdout
    with scripted.ModelServer([scripted.calls(DEPLOY), scripted.text("x")]) as server:
        run("-p", "Deploy it.", "--auto", "--api-base", server.base_url)
        assert "refused: `make deploy` — rule 1 of the operator" in server.requests[-1]["messages"][-1]["content"]
    assert not (makefile / "deployed").exists()

    again = real([], "--auto")
    again.line("/permissions revoke 1")
    again.wait("revoked: deny: make deploy")
    again.line("/quit")
    assert again.end() == 0
    with scripted.ModelServer([scripted.calls(DEPLOY), scripted.text("x")]) as server:
        run("-p", "Deploy it.", "--auto", "--api-base", server.base_url)
    assert (makefile / "deployed").exists()


def test_a_command_the_host_answers_itself_is_denied_too(real, scripted, makefile):
    r = real([scripted.calls(("terminal", {"command": "spear-knowledge list"})), scripted.text("Done one.")], "--auto")
    say(r, "/remember never run spear-knowledge", "s")
    r.wait(r"rule 1: deny: spear-knowledge …")
    ask(r, "What is known?", "Done one")
    assert "refused: `spear-knowledge` — rule 1" in r.server.requests[-1]["messages"][-1]["content"]
    r.line("/quit")
    assert r.end() == 0


def test_other_words_may_be_said_and_nothing_kept(real, makefile):
    r = real([], "--validation", "off")
    say(r, "/remember never run make deploy", "n")
    r.wait("nothing was kept; /recall TEXT")
    r.mark()
    r.line("/permissions")
    r.wait("nothing is approved for good here, and nothing forbidden")
    say(r, "/remember never run make deploy on Fridays", "e")
    r.wait("refuse what begins with")
    r.keys("\x7f" * len(" on Fridays") + "\r")
    r.mark()
    r.wait(r"begin with: make deploy\s")
    r.settle(0.5)
    r.keys("s\r")
    r.wait(r"rule 1: deny: make deploy … \(session")
    r.mark()
    r.line("/remember never run make deploy && make test")
    r.wait("a rule names the first words of one command")
    r.line("/quit")
    assert r.end() == 0


def test_a_project_file_nobody_trusts_takes_no_rule_and_the_session_holds_it(real, makefile):
    (makefile / ".spear").mkdir()
    (makefile / ".spear/config.toml").write_text("notify = false\n")
    r = real([], "--validation", "off")
    say(r, "/remember never run make deploy", "p")
    r.wait("refused in this session only: ")
    r.line("/permissions")
    r.wait(r"1  deny: make deploy … \(session")
    assert (makefile / ".spear/config.toml").read_text() == "notify = false\n"
    r.line("/quit")
    assert r.end() == 0
