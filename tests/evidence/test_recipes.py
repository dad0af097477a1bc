"""Build files as text for a shell."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spear.evidence.recipes import UNKNOWN, MakeText, filled_in, ninja_commands

MAKEFILE = """\
OUT := build
NAME = $(OUT)/app
FLAGS = -O2
FLAGS += -g
all: $(NAME)
$(NAME): main.c util.c
\t@mkdir -p $(@D)
\t$(CC) $(FLAGS) -o $@ $^
\tfor f in $(OUT)/*; do cp other $$f; done
%.o: %.c
\t$(CC) -c -o $@ $<
"""


def test_recipes_are_lines_of_shells_of_their_own_with_their_variables_filled_in():
    assert MakeText(MAKEFILE, {}).recipes() == "\n".join(
        f"(\n{line}\n)"
        for line in (
            "mkdir -p build",
            "cc -O2 -g -o build/app main.c util.c",
            "for f in build/*; do cp other $f; done",
            "cc -c -o *.o *.c",
        )
    )


def test_a_variable_of_the_command_line_wins_and_one_nobody_set_is_empty():
    assert MakeText("x:\n\tcp a $(DEST)/$(B)$(C)\n", {"B": "te", "C": "st"}).recipes() == "(\ncp a /test\n)"


def test_what_a_function_gives_is_not_known():
    assert MakeText("x:\n\tcp $(wildcard *.c) $(patsubst %,o/%,$(N)) $(S:.c=.o)\n", {}).recipes() == (
        f"(\ncp {UNKNOWN} {UNKNOWN} {UNKNOWN}\n)"
    )


def test_a_ninja_files_commands_are_read_with_its_variables():
    text = "out_dir = build\nrule r\n  command = cp true $out_dir/${name}x && $\ntouch $out $$HOME\n  name = te\n"
    assert ninja_commands(text) == "(\ncp true build/tex &&  touch * $HOME\n)"


def test_names_put_together_are_read():
    assert "tests/runner" in filled_in('K = run\nx:\n\t"./tests/$(K)ner"\n').replace("./", "")


@given(st.lists(st.sampled_from(["A", "B", "C", "D"]), min_size=1, max_size=4000), st.integers(1, 2000))
def test_variables_that_hold_one_another_stay_bounded(order, times):
    text = "".join(
        f"{name} = {f'$({other}) ' * times}\n" for name, other in zip(order, order[1:] + order[:1], strict=True)
    )
    assert len(filled_in(text + "x:\n\techo $(A)\n")) <= 8 * (1 << 22) + len(text)


def test_many_recipes_share_the_room():
    big = "B = " + "x" * 60_000 + "\n"
    assert len(MakeText(big + "".join(f"t{n}:\n\t$(B)\n" for n in range(500)), {}).recipes()) < 2 * (1 << 22)


@given(st.text(alphabet="$(){}AB=: \n\t\\%@<^*'\"#x", max_size=200))
def test_any_text_is_read(text):
    MakeText(text, {"A": text}).recipes()
    ninja_commands(text)
    filled_in(text)
