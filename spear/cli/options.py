"""Every option of `spear-chat`, declared once (spec 1.3): the parser, the help page, shell completion and the settings
read this table.
"""

from __future__ import annotations

from spear.cli.option import BOOLEAN, CONSTANT, DIRECTORY, FILE, INTEGER, LIST, NUMBER, TEXT, Option


def _mode(names: str, constant: str, text: str, default: str = "") -> Option:
    variable = "SPEAR_MODE"
    return Option("mode", names, text, kind=CONSTANT, constant=constant, variable=variable, default=default)


def _run(key: str, names: str, text: str, kind: str = BOOLEAN, metavar: str = "", optional: bool = False) -> Option:
    return Option(key, names, text, kind=kind, metavar=metavar, optional=optional, run_only=True)


OUTPUTS = ("text", "json", "stream-json")
VALIDATIONS = ("auto", "declared", "off")
PROVIDERS = ("openai-compatible", "anthropic")

OPTIONS: tuple[tuple[str, tuple[Option, ...]], ...] = (
    (
        "One turn",
        (
            _run("print", "-p --print", "run one turn and exit; - reads the request from stdin", TEXT, "REQUEST"),
            _run("stdin", "--stdin", "with -p REQUEST: attach what is piped in as context"),
            Option("output", "--output", "what goes to stdout", TEXT, "", "text", choices=OUTPUTS, run_only=True),
            _run("schema", "--schema", "with -p: a JSON Schema the answer must satisfy", FILE),
            _run("explain", "--explain", "with -p: print classification, scope and context as JSON; call no model"),
        ),
    ),
    (
        "What may happen",
        (
            _mode("--safe", "safe", "read-only, no network; a write is refused, not proposed", "the mode"),
            _mode("--ask --confirm --no-bypass", "ask", "each edit, command and network use is confirmed"),
            _mode("--auto -y --yolo --bypass-permissions", "auto", "runs without asking"),
            Option(
                "no_network",
                "--no-network",
                "no network in any mode, web tools included",
                BOOLEAN,
                "SPEAR_NO_NETWORK",
                "off",
            ),
            Option(
                "single_root",
                "--single-root",
                "only the launch directory is a workspace root",
                BOOLEAN,
                "SPEAR_SINGLE_ROOT",
                "off",
            ),
            Option(
                "allow_absolute_paths",
                "--allow-absolute-paths",
                "accept host absolute paths into the launch directory",
                BOOLEAN,
                "SPEAR_ALLOW_ABSOLUTE_PATHS",
                "off",
            ),
            Option(
                "limits.require",
                "--require-limits",
                "stop with status 6 where memory and task limits cannot be set",
                BOOLEAN,
                "SPEAR_REQUIRE_LIMITS",
                "off",
            ),
        ),
    ),
    (
        "Model",
        (
            Option(
                "provider",
                "--provider",
                "the protocol the endpoint speaks",
                TEXT,
                "SPEAR_PROVIDER",
                "openai-compatible",
                choices=PROVIDERS,
            ),
            Option(
                "api_base",
                "--api-base",
                "the endpoint; OPENAI_BASE_URL or ANTHROPIC_BASE_URL is honoured too, by --provider",
                TEXT,
                "SPEAR_API_BASE",
                "http://127.0.0.1:8080/v1",
                metavar="URL",
            ),
            Option(
                "api_key_env",
                "--api-key-env",
                "the variable that holds the key (never the key itself); ANTHROPIC_API_KEY for anthropic",
                TEXT,
                "SPEAR_API_KEY_ENV",
                "OPENAI_API_KEY",
                metavar="NAME",
            ),
            Option(
                "model", "--model", "model id", TEXT, "SPEAR_MODEL_NAME", "the endpoint's first model", metavar="ID"
            ),
            Option(
                "backend",
                "--backend",
                "a backend named in the configuration file",
                TEXT,
                "SPEAR_BACKEND",
                "the one used last",
                metavar="NAME",
            ),
            Option(
                "gguf",
                "--gguf",
                "a model file to serve here with llama.cpp; needs the extra spear-chat[local]",
                FILE,
                "SPEAR_GGUF",
                "none",
            ),
            Option("backend", "--local", "the backend named local", CONSTANT, constant="local"),
            Option("backend", "--remote", "the backend named remote", CONSTANT, constant="remote"),
            Option(
                "ctx",
                "--ctx",
                "context window in tokens; the endpoint's own figure where it reports one",
                INTEGER,
                "SPEAR_CTX",
                "32768",
            ),
            Option("images", "--images", "the model takes images", BOOLEAN, "SPEAR_IMAGES", "off; on for Anthropic's"),
            Option(
                "temp",
                "--temp",
                "sampling temperature, for paths other than the coding core",
                NUMBER,
                "SPEAR_TEMP",
                "0.25",
            ),
            Option(
                "max_tokens",
                "--max-tokens",
                "tokens of an answer, for paths other than the coding core",
                INTEGER,
                "SPEAR_MAX_TOKENS",
                "4096",
            ),
        ),
    ),
    (
        "Budgets and checks",
        (
            Option(
                "max_tool_rounds", "--max-tool-rounds", "model rounds per turn", INTEGER, "SPEAR_MAX_TOOL_ROUNDS", "60"
            ),
            Option("max_commands", "--max-commands", "terminal calls per turn", INTEGER, "SPEAR_MAX_COMMANDS", "120"),
            Option(
                "max_turn_tokens",
                "--max-turn-tokens",
                "tokens of a turn, those sent and those answered together",
                INTEGER,
                "SPEAR_MAX_TURN_TOKENS",
                "no ceiling",
            ),
            Option(
                "max_price",
                "--max-price",
                "price of a turn, in the currency of the backend's price, which must be known",
                NUMBER,
                "SPEAR_MAX_PRICE",
                "no ceiling",
                metavar="AMOUNT",
            ),
            Option(
                "max_time",
                "--max-time",
                "seconds of a turn, after which neither a request nor a command begins",
                NUMBER,
                "SPEAR_MAX_TIME",
                "no ceiling",
                metavar="SECONDS",
            ),
            Option(
                "response_max_tokens",
                "--response-max-tokens",
                "tokens of each response the coding core requests",
                INTEGER,
                "SPEAR_RESPONSE_MAX_TOKENS",
                "16384",
            ),
            Option(
                "refusal_repeats",
                "--refusal-repeats",
                "equal refusals before the turn is stopped",
                INTEGER,
                "SPEAR_REFUSAL_REPEATS",
                "5",
            ),
            Option(
                "validation",
                "--validation",
                "whether the project's own validation ends a changing turn",
                TEXT,
                "SPEAR_VALIDATION",
                "auto",
                choices=VALIDATIONS,
            ),
            Option(
                "validation_timeout",
                "--validation-timeout",
                "seconds the project's own validation may take",
                INTEGER,
                "SPEAR_PROJECT_VERIFY_TIMEOUT",
                "900",
            ),
        ),
    ),
    (
        "Corpus",
        (
            Option(
                "corpus",
                "--corpus --project --checkout",
                "the registered corpus the session belongs to",
                TEXT,
                "SPEAR_CORPUS",
                "detected from the directory",
                metavar="NAME",
            ),
            Option("here", "--here", "belong to this directory, whatever is registered", BOOLEAN, "SPEAR_HERE", "off"),
            Option("with_corpora", "--with", "search this corpus too; may be repeated", LIST, "SPEAR_WITH"),
            Option("without_corpora", "--without", "leave this corpus out; may be repeated", LIST, "SPEAR_WITHOUT"),
        ),
    ),
    (
        "Session",
        (
            _run("continue", "-c --continue", "go on with the latest session of this directory"),
            _run(
                "resume", "--resume", "go on with a chosen session, by id or its beginning", TEXT, "ID", optional=True
            ),
            _run("fresh", "--fresh", "a new session without stored conversation"),
            _run("record", "--record", "write every model turn down", FILE),
            _run("replay", "--replay", "answer from a recording; tools, files and gates run for real", FILE),
            _run("demo", "--demo", "the recorded demonstration turn in a throwaway project"),
        ),
    ),
    (
        "Files and display",
        (
            Option("state_dir", "--state-dir", "state directory", DIRECTORY, "SPEAR_STATE_DIR", "~/.local/state/spear"),
            Option(
                "config",
                "--config",
                "configuration file of the user",
                FILE,
                "SPEAR_CONFIG",
                "~/.config/spear/config.toml",
                run_only=True,
            ),
            Option(
                "projects_file",
                "--projects-file",
                "registry of corpora",
                FILE,
                "SPEAR_PROJECTS_FILE",
                "projects.json beside the configuration file",
            ),
            Option(
                "capabilities_file",
                "--capabilities-file",
                "registry of external capabilities",
                FILE,
                "SPEAR_CAPABILITIES_FILE",
                "capabilities.json beside the configuration file",
            ),
            Option(
                "knowledge_db",
                "--knowledge-db",
                "workspace knowledge",
                FILE,
                "SPEAR_KNOWLEDGE_DB",
                "knowledge.sqlite3 in the state directory",
            ),
            Option(
                "operator",
                "--operator",
                "name in the audit trail",
                TEXT,
                "SPEAR_OPERATOR",
                "login name",
                metavar="NAME",
            ),
            Option("plain", "--plain", "no boxes, no colour, numbered choices", BOOLEAN, "SPEAR_PLAIN", "off"),
            Option("notify", "--notify", "ring when a turn took over 20 s", BOOLEAN, "SPEAR_NOTIFY", "off"),
            Option(
                "editing_mode",
                "--editing-mode",
                "keys of the input line",
                TEXT,
                "SPEAR_EDITING_MODE",
                "emacs",
                choices=("emacs", "vi"),
            ),
            Option(
                "theme", "--theme", "colours", TEXT, "SPEAR_THEME", "auto", choices=("auto", "dark", "light", "mono")
            ),
            Option("trace", "--trace", "write a runtime trace", BOOLEAN, "SPEAR_TRACE", "off"),
            Option(
                "trace_file",
                "--trace-file",
                "where the trace goes",
                FILE,
                "SPEAR_TRACE_FILE",
                "audit/runtime-trace.jsonl in the state directory",
            ),
        ),
    ),
)
"""Global options by group, in the order of the help page."""

VARIABLES_ONLY: tuple[Option, ...] = (
    Option("network.allow", "", "hosts that commands may reach, comma-separated", LIST, "SPEAR_NETWORK_ALLOW"),
    Option(
        "limits.memory",
        "",
        "memory of a command's processes, such as 4G",
        TEXT,
        "SPEAR_LIMITS_MEMORY",
        "the larger of 2G and 1/8 of the machine",
    ),
    Option(
        "limits.tasks",
        "",
        "processes and threads of a command",
        INTEGER,
        "SPEAR_LIMITS_TASKS",
        "the larger of 256 and 12 a core",
    ),
    Option("limits.cpu_quota", "", "cores a command may use", NUMBER, "SPEAR_LIMITS_CPU_QUOTA", "all"),
    Option("limits.open_files", "", "open files of a process", INTEGER, "SPEAR_LIMITS_OPEN_FILES", "4096"),
    Option(
        "web.search_url",
        "",
        "search endpoint of search_internet; without one it is not offered",
        TEXT,
        "SPEAR_SEARCH_URL",
        "none, and Brave's own for brave",
    ),
    Option("web.search_api", "", "what it speaks", TEXT, "SPEAR_SEARCH_API", "searxng", choices=("searxng", "brave")),
    Option("web.search_key_env", "", "the variable that holds its key", TEXT, "SPEAR_SEARCH_KEY_ENV", "BRAVE_API_KEY"),
    Option(
        "embedding.url",
        "",
        "server of /embeddings the passages of an index are sent to",
        TEXT,
        "SPEAR_EMBEDDING_URL",
        "none: the bundled model, where it is installed",
    ),
    Option("embedding.model", "", "the model it is asked for", TEXT, "SPEAR_EMBEDDING_MODEL"),
    Option("embedding.key_env", "", "the variable that holds its key", TEXT, "SPEAR_EMBEDDING_KEY_ENV", "none"),
    Option("corpus_root", "", "directory relative paths of the registry start from", DIRECTORY, "SPEAR_CORPUS_ROOT"),
    Option("index_max_files", "", "files an index walk may meet", INTEGER, "SPEAR_INDEX_MAX_FILES", "60000"),
    Option(
        "training_capture",
        "",
        "keep episodes as training data; 0 turns it off",
        BOOLEAN,
        "SPEAR_TRAINING_CAPTURE",
        "on",
    ),
)
"""Settings without a flag: an environment variable or a configuration key."""


FILES_ONLY: tuple[Option, ...] = (
    Option("api_key_cmd", "", "a command, as a list of words, that prints the key of the endpoint"),
    Option("ssh", "", "user@host of a tunnel to open before the first request; api_base is what the far end calls it"),
    Option("permissions", "", "what was approved for good in this project", default="nothing"),
    Option("hooks", "", "programs of yours that run at fixed events, from your own file only", default="none"),
    Option("backends", "", "endpoints with a name, one table each: url, model, key, window, price", default="none"),
    Option("keys.newline", "", "keys that begin a new line in the chat"),
    Option("keys.stop", "", "keys that stop the turn"),
    Option("keys.rewind", "", "keys that go back to an earlier turn"),
    Option("keys.exit", "", "keys that leave the chat"),
    Option("keys.steer", "", "keys that hand what is typed to the running turn at its next tool boundary"),
    Option("keys.mode", "", "keys that change between safe and ask"),
    Option("keys.expand", "", "keys that show the last call whole"),
    Option("keys.editor", "", "keys that open what is typed in the editor"),
)
"""Settings with neither flag nor variable: keys of configuration files."""


def global_options() -> tuple[Option, ...]:
    """The options of every group."""
    return tuple(option for _, group in OPTIONS for option in group)


def settings_options() -> tuple[Option, ...]:
    """What is a setting: options that stand in configuration files, one entry a flag."""
    return tuple(option for option in (*global_options(), *VARIABLES_ONLY) if not option.run_only)
