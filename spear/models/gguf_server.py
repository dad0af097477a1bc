"""Serves one GGUF file on loopback until it is ended: llama.cpp's own server, of the `xllamacpp` package.

Run as `python -P gguf_server.py FILE TOKENS`; nothing of the package is imported. The key callers must present is taken
from the variable SPEAR_GGUF_KEY. Once the model is loaded, the address is written to stdout as one line.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

KEY_VARIABLE = "SPEAR_GGUF_KEY"
ERRORS_ONLY = 1


def main() -> int:
    """Serve the file that the arguments name, with a window of so many tokens."""
    import xllamacpp

    path, tokens = sys.argv[1], int(sys.argv[2])
    asked = xllamacpp.CommonParams()
    asked.model.path = path
    asked.model_alias = {Path(path).stem}
    asked.n_ctx = tokens
    asked.n_parallel = 1
    asked.hostnames = ["127.0.0.1"]
    asked.port = 0
    asked.api_keys = [os.environ.pop(KEY_VARIABLE)]
    asked.ui = False
    asked.offline = True
    asked.verbosity = ERRORS_ONLY
    try:
        server = xllamacpp.Server(asked)
    except RuntimeError:
        return 1  # llama.cpp has said why on stderr
    print(server.listening_address, flush=True)  # noqa: T201 - what the caller waits for
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    os._exit(0)  # a server in the middle of an answer would finish it first


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    sys.exit(main())
