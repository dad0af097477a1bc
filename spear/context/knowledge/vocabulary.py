"""Words that instructions begin with: verbs that order, those that are nouns as well, determiners behind them."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS = _words(
    """
    add adopt aim amend answer append apply approve ask assume attach avoid back build bump bypass call
    change check clean clear clone close comment commit compile configure confirm consult convert copy
    create debug declare define delete deploy describe disable discard do document download drop edit enable
    ensure escape execute explain export fetch fix follow force forget format generate get give go handle
    ignore import include indent inform initialise initialize insert inspect install invoke isolate keep
    leave limit link lint list load log look maintain make mark merge mention mock modify move name note
    notify omit open optimise optimize override overwrite paste pass patch perform pick place prefer prefix
    prepare preserve print proceed propose protect provide publish pull push put raise rate re-run read
    rebase rebuild record refactor refer refuse regenerate reject release reload remember remove rename
    reorder replace reply report request require reset resolve respect respond restart restore retry return reuse revert
    review rewrite rotate run save say search see select send set share show sign skip sort specify split
    squash stage start stash state stop store strip submit switch tag take tell test touch translate treat
    trust try turn type update upgrade upload use validate verify wait watch work wrap write
    """
)
"""Verbs an English order begins with."""

ALSO_NOUNS = _words(
    """
    aim answer approve back build bump call change check clean clear clone close comment commit copy debug
    do document download drop edit escape export fetch fix force format get go handle import include indent
    insert install invoke isolate leave limit link lint list load log look make mark merge name note open
    pass paste patch pick place prefix print provide publish pull push put raise rate read record refactor
    release reload report request require reset restart return review run save search see select send set
    share show sign sort split squash stage start stash state stop store strip submit switch tag take test
    touch trust try turn type update upgrade upload use wait watch work wrap write
    """
)
"""Those that also begin sentences as nouns or names of programs: "Build output goes to build/"."""

DETERMINERS = _words(
    """
    the a an all any every each this that these those it them only no your our to both either with from into
    """
)
"""Words behind such a word that make it a verb."""
