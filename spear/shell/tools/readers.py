"""Programs that only read, whatever their operands: they write to standard output and nowhere else."""

from __future__ import annotations

from spear.shell.options import read_options
from spear.shell.tools.call import NOTHING, OPAQUE, Call, Reading, Table, names

_ALWAYS = names(
    """
    : [ [[ true false echo printf test pwd cd pushd popd dirs set unset export declare typeset local readonly shopt
    alias unalias hash type let read mapfile readarray shift return exit break continue trap wait jobs fg bg disown
    umask ulimit getopts times help history enable bind complete compgen kill sleep
    ls dir vdir cat tac head tail wc nl od hexdump hd strings file stat du df grep egrep fgrep zgrep zegrep cut tr
    paste join comm cmp diff diff3 sdiff colordiff column fold fmt expand unexpand rev seq md5sum sha1sum sha224sum
    sha256sum sha384sum sha512sum b2sum cksum sum b3sum xxhsum base32 basenc numfmt pr ptx tsort factor bc dc expr yes
    basename dirname realpath readlink pathchk which whereis whatis apropos man info less more most look
    date cal ncal uname hostname arch nproc id whoami who w users groups logname tty uptime free vmstat lscpu lsblk
    lsmem lspci lsusb lsof ps pgrep pstree top htop getconf locale localedef getent printenv env
    nm readelf objdump size ldd c++filt addr2line pahole otool
    jq yq xmllint xmlstarlet gron zcat bzcat xzcat zless zdiff zcmp zipinfo
    cloc tokei scc wdiff dwdiff tput clear reset stty pkg-config pkgconf
    """
)

_RIPGREP_RUNS = ("--pre", "--hostname-bin")


def _read_only(_: Call) -> Reading:
    return NOTHING


def _ripgrep(call: Call) -> Reading:
    """rg reads, unless it is told to run a preprocessor or a helper."""
    options = read_options(call.words, "--pre --hostname-bin -e -f -g -t -T -A -B -C -m -r -j --glob --type")
    return OPAQUE if options.has(*_RIPGREP_RUNS) or options.unknown else NOTHING


def _fd(call: Call) -> Reading:
    options = read_options(call.words, "-e -t -d -E -x -X --exec --exec-batch --extension --type --exclude")
    return OPAQUE if options.has("-x", "-X", "--exec", "--exec-batch") or options.unknown else NOTHING


def _given_nothing(_: Call) -> Reading:
    """A command read entirely through what it hands on: `sh -c`, `eval`, `xargs`, `find -exec`."""
    return NOTHING


HANDING_ON = frozenset({"eval", "xargs", "watch", "exec", "flock", "su"})
"""Programs that do nothing but run what they are given."""

TABLE: Table = {
    **dict.fromkeys(_ALWAYS, _read_only),
    "rg": _ripgrep,
    "fd": _fd,
    "fdfind": _fd,
    **dict.fromkeys(HANDING_ON, _given_nothing),
}
