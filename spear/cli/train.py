"""`spear-train readiness|freeze|validate-bundle|export`: training data without a chat (spec 7). Trains nothing."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from spear.cli.display.filtering import clean
from spear.cli.settings import load
from spear.errors import Interrupted, SpearError
from spear.state.directory import StateDirectory
from spear.training.bundle import freeze, survey
from spear.training.export import export
from spear.training.governance import Governance
from spear.training.report import readiness_page, readiness_record
from spear.training.source import Source
from spear.training.trainers import UNCHOSEN_MODEL
from spear.training.validation import problems
from spear.training.vocabulary import DataOrigin

PROGRAM = "spear-train"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program: 0 when it did what was asked, 1 when a bundle is not as it was frozen, 2 when the command line
    or the store is wrong, 130 when interrupted."""
    try:
        return run(_parser().parse_args(arguments), os.environ, Path.cwd())
    except SpearError as error:
        print(clean(f"{PROGRAM}: {error}"), file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted; nothing was left behind", file=sys.stderr)
        return Interrupted.exit_status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def run(parsed: Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    """Answer one command. Raises SpearError."""
    answers: dict[str, Callable[[Namespace, Mapping[str, str], Path], int]] = {
        "readiness": _readiness,
        "freeze": _freeze,
        "validate-bundle": _validate,
        "export": _export,
    }
    return answers[parsed.command](parsed, environ, cwd)


def _readiness(parsed: Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    governance = _governance(parsed)
    with tempfile.TemporaryDirectory(prefix="spear-train-") as scratch:
        tally, readiness = survey(_source(parsed, environ, cwd), governance, Path(scratch))
    if parsed.json:
        print(json.dumps(readiness_record(readiness, tally)))
    else:
        print(clean(readiness_page(readiness, tally)), end="")
    return 0


def _freeze(parsed: Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    output = cwd / Path(parsed.output).expanduser()
    frozen = freeze(_source(parsed, environ, cwd), _governance(parsed), output, parsed.base_model)
    print(clean(str(frozen.path)))
    done = "was frozen before" if frozen.existed else "frozen"
    readiness = frozen.readiness
    print(f"{frozen.id} {done}: {readiness.state.value}, {readiness.level.value}", file=sys.stderr)
    return 0


def _validate(parsed: Namespace, _: Mapping[str, str], cwd: Path) -> int:
    bundle = cwd / Path(parsed.bundle).expanduser()
    found = problems(bundle)
    for problem in found:
        print(clean(problem), file=sys.stderr)
    if not found:
        print(clean(f"{bundle}: as it was frozen"))
    return 1 if found else 0


def _export(parsed: Namespace, environ: Mapping[str, str], cwd: Path) -> int:
    output = cwd / Path(parsed.output).expanduser()
    exported = export(_source(parsed, environ, cwd), output)
    left_out = "".join(f", {count} left out ({reason})" for reason, count in sorted(exported.left_out.items()))
    print(clean(f"{output}: {exported.written} trajectories{left_out}"))
    return 0


def _source(parsed: Namespace, environ: Mapping[str, str], cwd: Path) -> Source:
    if parsed.source is not None:
        return Source(cwd / Path(parsed.source).expanduser())
    settings = load(Namespace(), environ, cwd).settings
    return Source(StateDirectory(settings.state_dir).training_data)


def _governance(parsed: Namespace) -> Governance:
    return Governance.admitting(DataOrigin(name) for name in parsed.allow_origin)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description="Training data from captured turns. Trains nothing.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    readiness = commands.add_parser("readiness", help="whether there is enough to train on, and what is missing")
    _store_options(readiness)
    readiness.add_argument("--json", action="store_true", help="print one JSON object")
    frozen = commands.add_parser("freeze", help="make an immutable bundle")
    _store_options(frozen)
    frozen.add_argument("--output", metavar="DIR", required=True, help="the bundle is made below DIR/bundles")
    frozen.add_argument("--base-model", metavar="NAME", default=UNCHOSEN_MODEL, help="named in the configurations")
    validate = commands.add_parser("validate-bundle", help="whether a bundle is as it was frozen")
    validate.add_argument("bundle", metavar="BUNDLE", help="the directory of the bundle")
    exported = commands.add_parser("export", help="write trajectories to one JSONL file")
    _source_option(exported)
    exported.add_argument("--output", metavar="FILE", required=True, help="a file that does not exist yet")
    return parser


def _store_options(parser: argparse.ArgumentParser) -> None:
    _source_option(parser)
    parser.add_argument(
        "--allow-origin", action="append", default=[], metavar="ORIGIN", choices=[o.value for o in DataOrigin],
        help="admit another origin than NORMAL_USAGE; BENCHMARK, TEST_FIXTURE and SYNTHETIC make it smoke-test only",
    )  # fmt: skip


def _source_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--source", metavar="DIR", default=None, help="a training-data directory (default: the state directory's)"
    )


if __name__ == "__main__":
    sys.exit(main())
