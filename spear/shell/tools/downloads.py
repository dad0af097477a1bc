"""curl, wget and their like: which file a download lands in."""

from __future__ import annotations

import re

from spear.shell.options import Options, read_options
from spear.shell.syntax import Word
from spear.shell.tools.call import HERE, UNKNOWN, Call, Reading, Table, Writes, joined

CURL_VALUED = (
    "-o --output --output-dir -d --data --data-raw --data-binary --data-urlencode -H --header -X --request -u --user "
    "-A --user-agent -e --referer -b --cookie -c --cookie-jar -D --dump-header -F --form -m --max-time -w --write-out "
    "-x --proxy -K --config -T --upload-file --cacert --capath --cert -E --key -r --range -C -y -Y -z -t -P -Q "
    "--connect-timeout --retry --retry-delay --limit-rate --resolve --trace --trace-ascii --stderr --url --json "
    "--etag-save"
)
WGET_VALUED = (
    "-O --output-document -P --directory-prefix -o --output-file -a --append-output -t --tries -T --timeout -U "
    "--user-agent --header --post-data --post-file -e --execute -i --input-file -B -l --level -A -R -D -Q -w --wait "
    "--limit-rate --user --password --ca-certificate --save-cookies --load-cookies --warc-file"
)


def _curl(call: Call) -> Reading:
    options = read_options(call.words, CURL_VALUED, flags="--remote-name --silent --location --fail")
    directory = options.last("--output-dir")
    names = [word for word in options.values("-o", "--output") if word.value != "-"]
    if options.has("-J", "--remote-header-name"):
        names.append(UNKNOWN)
    elif options.has("-O", "--remote-name", "--remote-name-all"):
        names.extend(_remote_names(options))
    found = Writes().add(joined(directory, word.value) if directory and word.value else word for word in names)
    logs = options.values(
        "-c", "--cookie-jar", "-D", "--dump-header", "--trace", "--trace-ascii", "--stderr", "--etag-save"
    )
    found.add(word for word in logs if word.value != "-")
    return found.reading(opaque=options.has("-K", "--config"))


def _wget(call: Call) -> Reading:
    options = read_options(call.words, WGET_VALUED, flags="--spider --quiet --recursive")
    found = Writes().add(options.values("-o", "--output-file", "-a", "--append-output", "--save-cookies"))
    if options.has("--spider", "--version", "--help"):
        return found.reading()
    output = options.last("-O", "--output-document")
    if output is not None:
        return found.add([output] if output.value != "-" else ()).reading()
    directory = options.last("-P", "--directory-prefix") or HERE
    if options.has("-r", "--recursive", "-m", "--mirror", "-i", "--input-file", "--content-disposition"):
        return found.add([directory], tree=True).reading()
    return found.add(joined(directory, name.value or "*") for name in _remote_names(options)).reading()


def _remote_names(options: Options) -> list[Word]:
    """The last path component of every address."""
    names = []
    for word in options.operands:
        path = re.sub(r"^\w+://[^/]*|[?#].*$", "", word.value or "")
        name = path.rsplit("/", 1)[-1]
        names.append(Word(name, word.raw) if name else UNKNOWN)
    return names


def _aria(call: Call) -> Reading:
    options = read_options(call.words, "-o --out -d --dir -x -s -j -k -i")
    directory = options.last("-d", "--dir") or HERE
    output = options.last("-o", "--out")
    names = [output] if output is not None else _remote_names(options)
    return Writes().add(joined(directory, word.value or "*") for word in names).reading()


TABLE: Table = {"curl": _curl, "wget": _wget, "aria2c": _aria}
