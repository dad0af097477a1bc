"""Secrets never reach a file; what only looks like one is left alone."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spear.state.redaction import Redactor, secret_values
from spear.state.secret_shapes import MARKER

# Written in halves, so that scanners of source trees do not take the examples for leaks.
SHAPES = [
    "sk-" + "live-abcdef0123456789abcdef",
    "sk-" + "proj-AbCdEfGhIjKlMnOpQrStUvWx",
    "sk-" + "ant-api03-abcDEF123456789_-xyz",
    "ghp" + "_0123456789abcdefghijABCDEFGHIJ012345",
    "github" + "_pat_11ABCDEFG0123456789_abcdefghij",
    "xox" + "b-123456789012-abcdefghijkl",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "AIza" + "SyA-0123456789abcdefghijklmnopqrstu",
    "hf" + "_abcdefghijklmnopqrstuvwxyzABCDEF",
    "npm" + "_abcdefghijklmnopqrstuvwxyz0123456789",
    "pypi" + "-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDA",
    "glpat" + "-abcdefghij0123456789",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIEow\nxyz\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN " + "OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk",
]

CONTEXTS = [
    ("API_TOKEN=S3cr3tValue make", "S3cr3tValue"),
    ("export DB_PASSWORD='two words 77'", "two words 77"),
    ("KEY=plainword ./run", "plainword"),
    ("tool --token S3cr3tValue -v", "S3cr3tValue"),
    ("tool --api-key=abc", "abc"),
    ('tool --password "p w"', "p w"),
    ("curl -H 'Authorization: Bearer abc.def-123' x", "abc.def-123"),
    ('curl -H "authorization: Basic dXNlcjpwdw==" x', "dXNlcjpwdw"),
    ("curl -H 'X-Api-Key: abcd' x", "abcd"),
    ('Authorization: Digest username="u", response="6629fae4"', "6629fae4"),
    ("Cookie: sid=38afes7a8; theme=1", "38afes7a8"),
    ("git clone https://user:pw12345@example.org/x", "pw12345"),
    ("psql postgres://app:p@ss/w0rd@db/x".replace("/w0rd", "w0rd"), "p@ssw0rd"),
    ("git clone https://0123456789abcdef0123456789abcdef@host/x", "0123456789abcdef0123456789abcdef"),
    ("curl -u bob:hunter2 https://x", "hunter2"),
    ("sshpass -p hunterpw ssh x", "hunterpw"),
    ("mysqldump -u root -ps3cret db", "s3cret"),
    ('{"client_secret": "a1b2c3", "n": 1}', "a1b2c3"),
    ('"{\\"password\\": \\"hunter2\\"}"', "hunter2"),
    ("db_password: hunter2", "hunter2"),
    ("GET /x?access_token=abcdef123456&n=1", "abcdef123456"),
    ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "wJalrXUtnFEMI"),
    ("AWS_SECRET_ACCESS_KEY=/JalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEYz", "JalrXUtnFEMI"),
]

LEFT_ALONE = [
    "client = Client(api_key=api_key, token=token)",
    "api_key=api_key,",
    "self.password = password",
    "password: str = Field()",
    "token = get_token()",
    "token = os.environ['API_TOKEN']",
    "const token: string = read();",
    "API_KEY=$OTHER_KEY make",
    "API_KEY=${API_KEY:-}",
    "API_KEY=<your key>",
    "export TOKEN=your-token-here",
    "password = '****'",
    "--token TOKEN",
    "--api-key-env NAME",
    "docker login --password-stdin",
    "ssh-add --private-key ./keys/id",
    "max_tokens=16384, prompt_tokens: 12, token_count = 5",
    "PWD=/home/x OLDPWD=/y",
    "sorted(rows, key=lambda row: row.name)",
    "ssh://git@github.com/owner/repository",
    "https://example.org:8080/a@b",
    "postgres://app:${PASSWORD}@db/x",
    "task-0123456789abcdef0123 and disk-0123456789abcdef0123",
    "the token is read from the environment",
    '"token": "the token to use for the request"',
    "int key = 3; monkey = banana; passed = 12; compass: north",
    "make test",
]


@pytest.mark.parametrize("secret", SHAPES)
def test_well_known_shapes_are_replaced(secret):
    redacted = Redactor().text(f"see {secret} here")
    assert secret not in redacted
    assert MARKER in redacted
    assert redacted.startswith("see ")


@pytest.mark.parametrize(("text", "secret"), CONTEXTS)
def test_secrets_in_their_usual_places_are_replaced(text, secret):
    redacted = Redactor().text(text)
    assert secret not in redacted
    assert MARKER in redacted


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_placeholders_and_code_stay(text):
    assert Redactor().text(text) == text


def test_what_surrounds_a_secret_stays():
    text = "curl -H 'Authorization: Bearer abc123' https://u:pw@example.org/x?a=1 && make test"
    assert Redactor().text(text) == (
        f"curl -H 'Authorization: Bearer {MARKER}' https://u:{MARKER}@example.org/x?a=1 && make test"
    )


def test_known_values_are_found_plain_and_percent_encoded():
    redactor = Redactor(["correct horse/battery"])
    assert redactor.text("x=correct%20horse%2Fbattery; correct horse/battery!") == f"x={MARKER}; {MARKER}!"


def test_the_longest_known_value_goes_first():
    assert Redactor(["secret-a", "secret-abc"]).text("x secret-abc y secret-a z") == f"x {MARKER} y {MARKER} z"


def test_for_the_model_only_known_values_go():
    redactor = Redactor(["correct-horse"])
    assert redactor.own("PASSWORD=hunter2 correct-horse") == f"PASSWORD=hunter2 {MARKER}"


def test_secret_variables_of_the_host_are_known():
    environ = {
        "OPENAI_API_KEY": "test-key",
        "PATH": "/usr/bin:/bin",
        "SSH_AUTH_SOCK": "/run/user/1000/agent",
        "GITHUB_TOKEN": "abcdefgh12345678",
        "DATABASE_URL": "postgres://u:dbpassword@h/x",
        "MY_LLM": "unusual-name-77",
        "SHORT_TOKEN": "abc",
        "TOKENIZERS_PARALLELISM": "false",
        "SECRET_FILE": "/run/secrets/x",
    }
    assert secret_values(environ, also=["MY_LLM"]) == {"test-key", "abcdefgh12345678", "dbpassword", "unusual-name-77"}


def test_data_is_redacted_in_values_keys_secret_members_and_argument_lists():
    data = {
        "argv": ["tool", "--token", "abc", "--name", "bob"],
        "env": {"DB_PASSWORD": "x y z", "HOME": "/root"},
        "headers": {"X-Api-Key": "q"},
        "correct-horse": [1, 2.5, None, True, ("correct-horse",)],
    }
    assert Redactor(["correct-horse"]).data(data) == {
        "argv": ["tool", "--token", MARKER, "--name", "bob"],
        "env": {"DB_PASSWORD": MARKER, "HOME": "/root"},
        "headers": {"X-Api-Key": MARKER},
        MARKER: [1, 2.5, None, True, [MARKER]],
    }


PIECES = st.sampled_from(
    [
        *SHAPES,
        *(text for text, _ in CONTEXTS),
        *LEFT_ALONE,
        " ",
        "\n",
        '"',
        "'",
        "\\",
        "=",
        ":",
        "--token ",
        "KEY=",
        "@",
        "://",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=12), max_size=8).map("".join)
SECRETS = st.lists(st.text("abcXYZ019-_.+/=@ %!é", min_size=6, max_size=24), min_size=1, max_size=4)


@given(text=TEXTS, secrets=SECRETS)
@settings(max_examples=400, deadline=None)
def test_redacting_twice_is_redacting_once(text, secrets):
    redactor = Redactor(secrets)
    once = redactor.text(text)
    assert redactor.text(once) == once


@given(data=st.data(), secrets=SECRETS)
@settings(max_examples=200, deadline=None)
def test_no_known_secret_survives_anywhere_in_a_structure(data, secrets):
    text = st.lists(TEXTS | st.sampled_from(secrets), max_size=4).map("".join)
    tree = data.draw(
        st.recursive(
            text | st.none() | st.integers() | st.floats(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
            max_leaves=8,
        )
    )
    written = json.dumps(Redactor(secrets).data(tree), ensure_ascii=False)
    for secret in secrets:
        assert secret not in written.replace(MARKER, "\0")


@given(
    value=st.text("abcdefghijkmnpqrstuvw0123456789", min_size=8, max_size=30).filter(
        lambda v: any(c.isdigit() for c in v) and any(c.isalpha() for c in v)
    )
)
def test_a_random_value_assigned_to_a_secret_name_never_survives(value):
    for text in (
        f"MY_TOKEN={value}",
        f'"token": "{value}"',
        f"--secret {value}",
        f"token: {value}",
        f"https://u:{value}@h",
    ):
        assert value not in Redactor().text(text)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "a." * 150_000,
        "key" * 100_000,
        "://" * 100_000,
        "eyJ" * 100_000,
        "sk-" * 100_000,
        "--a-" * 75_000,
        "key  " * 60_000,
        "a" * 300_000 + "key=x y",
        "key= ," * 50_000,
        "a_key: (" * 40_000,
        "İ" * 1000 + "TOKEN=abc " * 10_000,
    ],
)
def test_hostile_text_costs_no_more_than_its_length(text):
    """Nothing backtracks: with a quadratic pattern these would run into the suite's time limit."""
    assert isinstance(Redactor().text(text), str)
