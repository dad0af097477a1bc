"""The report of the shell, read back from the very shells that write it."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.sandbox.wrapper import exported, parse_report

VALUES = st.dictionaries(
    st.from_regex(r"V_[A-Z]{1,5}", fullmatch=True),
    st.text(st.characters(blacklist_characters="\0", blacklist_categories=("Cs",)), max_size=30),
    max_size=4,
)


@pytest.mark.parametrize("shell", [["bash", "--norc"], ["dash"]])
@given(values=VALUES)
@settings(max_examples=40, deadline=None)
def test_any_exported_value_comes_back_as_it_was(shell, values):
    printed = subprocess.run(
        [*shell, "-c", "export -p"], env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"], **values},
        capture_output=True, check=True,
    )  # fmt: skip
    back = {name: value for name, value in exported(printed.stdout) if name.startswith("V_")}
    assert back == values


@given(st.binary(max_size=300))
def test_nothing_a_command_writes_into_the_report_is_an_error(raw):
    parse_report(b"began\0env " + raw + b"\0cwd " + raw + b"\0status " + raw)
