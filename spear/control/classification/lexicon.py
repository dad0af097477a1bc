"""The words that carry a request's mood, in English and French. Verbs and function words only: no project's vocabulary.

A verb is listed by its imperative; `stem` maps the inflected forms a request uses back to it.
"""

from __future__ import annotations

READING = frozenset(
    ["advise", "analyse", "analyze", "answer", "assess", "audit", "check", "cite", "clarify", "compare", "confirm", "consider", "count", "decide", "define", "describe", "detail", "diagnose", "discuss", "display", "estimate", "evaluate", "examine", "explain", "explore", "find", "give", "grep", "identify", "inspect", "investigate", "judge", "list", "locate", "look", "measure", "name", "outline", "point", "predict", "profile", "propose", "quote", "read", "recall", "recommend", "reflect", "report", "review", "say", "search", "see", "show", "spot", "study", "suggest", "summarise", "summarize", "teach", "tell", "think", "trace", "translate", "understand", "verify", "walk", "what", "affiche", "analyse", "cherche", "cite", "compare", "compte", "conseille", "decris", "decrivez", "detaille", "dis", "dites", "donne", "donnez", "enumere", "evalue", "examine", "explique", "expliquez", "identifie", "indique", "justifie", "lis", "lisez", "liste", "localise", "mentionne", "montre", "montrez", "nomme", "parcours", "precise", "presente", "propose", "raconte", "rappelle", "recommande", "regarde", "regardez", "repere", "resume", "resumez", "suggere", "trouve", "verifie"]
)
"""Imperatives that ask to be told something. They never write by themselves."""

NEUTRAL = frozenset(
    ["build", "clean", "compile", "continue", "download", "execute", "fetch", "go", "install", "launch", "measure", "probe", "proceed", "rebuild", "rerun", "run", "start", "stop", "test", "try", "use", "wait", "commit", "push", "pull", "checkout", "stash", "attends", "compile", "construis", "continue", "essaie", "execute", "fais", "faites", "installe", "lance", "lancez", "relance", "teste", "utilise"]
)
"""Imperatives that make something happen without saying that source changes. They keep the turn writable."""

CHANGING = frozenset(
    ["add", "adapt", "adjust", "align", "allow", "amend", "append", "apply", "avoid", "backport", "bump", "bring", "change", "cleanup", "comment", "complete", "convert", "copy", "correct", "create", "cut", "deduplicate", "delete", "deprecate", "disable", "document", "drop", "edit", "eliminate", "enable", "ensure", "erase", "expand", "extend", "extract", "factor", "fill", "finish", "fix", "format", "generate", "get", "guard", "handle", "harden", "hoist", "implement", "improve", "inline", "insert", "integrate", "introduce", "keep", "link", "lower", "make", "merge", "migrate", "modernise", "modernize", "modify", "move", "normalise", "normalize", "optimise", "optimize", "organise", "organize", "overhaul", "overwrite", "parse", "patch", "place", "polish", "port", "prefix", "prepare", "prevent", "protect", "prune", "put", "raise", "rearrange", "reduce", "refactor", "refresh", "register", "reject", "reformat", "remove", "rename", "reorder", "reorganise", "reorganize", "repair", "replace", "resolve", "restore", "restructure", "return", "revert", "rework", "rewrite", "round", "save", "sanitise", "sanitize", "scaffold", "separate", "set", "silence", "simplify", "sort", "speed", "split", "store", "strip", "substitute", "support", "swap", "switch", "tidy", "translate", "trim", "truncate", "tweak", "type", "undo", "unify", "update", "upgrade", "wire", "wrap", "write", "rebase", "regenerate", "revise", "touch", "adjust", "adapte", "ajoute", "ajoutez", "ameliore", "annule", "applique", "bascule", "change", "changez", "complete", "convertis", "copie", "corrige", "corrigez", "cree", "creez", "decoupe", "deplace", "deplacez", "documente", "ecris", "ecrivez", "efface", "elimine", "enleve", "enregistre", "etends", "extrais", "genere", "gere", "implemente", "implementez", "insere", "integre", "introduis", "limite", "mets", "mettez", "migre", "modifie", "modifiez", "nettoie", "optimise", "passe", "porte", "protege", "range", "reecris", "reecrivez", "refactorise", "refais", "remets", "remplace", "remplacez", "renomme", "renommez", "repare", "reparez", "reorganise", "resous", "restaure", "retire", "retirez", "rends", "rendez", "simplifie", "simplifiez", "supprime", "supprimez", "termine", "traduis", "transforme"]
)
"""Imperatives that change the tree."""

POLITE = (
    "please",
    "kindly",
    "now",
    "then",
    "also",
    "just",
    "first",
    "next",
    "finally",
    "ok",
    "okay",
    "yes",
    "so",
    "well",
    "hi",
    "hello",
    "hey",
    "next",
    "afterwards",
    "let's",
    "lets",
    "can you",
    "could you",
    "would you",
    "will you",
    "can we",
    "could we",
    "would you mind",
    "i want you to",
    "i would like you to",
    "i'd like you to",
    "i need you to",
    "i want to",
    "i'd like to",
    "i would like to",
    "we need to",
    "we should",
    "we must",
    "you should",
    "you must",
    "you need to",
    "you can",
    "help me to",
    "help me",
    "try to",
    "go and",
    "make sure to",
    "be sure to",
    "feel free to",
    "s'il te plait",
    "s'il vous plait",
    "stp",
    "svp",
    "merci de",
    "maintenant",
    "ensuite",
    "puis",
    "alors",
    "aussi",
    "d'abord",
    "enfin",
    "bonjour",
    "salut",
    "peux-tu",
    "peux tu",
    "pourrais-tu",
    "pourrais tu",
    "pouvez-vous",
    "pouvez vous",
    "pourriez-vous",
    "pourriez vous",
    "tu peux",
    "tu pourrais",
    "vous pouvez",
    "veux-tu",
    "veuillez",
    "il faut",
    "il faudrait",
    "je veux que tu",
    "j'aimerais que tu",
    "je voudrais que tu",
    "tu dois",
    "il suffit de",
    "essaie de",
    "aide-moi a",
)
"""Openings that do not change what a clause asks for."""

QUESTION_WORDS = frozenset(
    ["what", "what's", "whats", "which", "who", "whom", "whose", "where", "where's", "when", "why", "how", "how's", "is", "are", "am", "was", "were", "does", "do", "did", "has", "have", "had", "can", "could", "should", "shall", "may", "might", "must", "will", "would", "isn't", "aren't", "doesn't", "don't", "won't", "que", "qu'est-ce", "quel", "quelle", "quels", "quelles", "qui", "ou", "quand", "pourquoi", "comment", "combien", "est", "est-ce", "sont", "y-a-t-il", "faut-il", "doit-on", "peut-on", "lequel", "laquelle", "quoi"]
)
"""First words of a question (without politeness)."""

GREETING = frozenset(
    ["hello", "hi", "hey", "thanks", "thank", "cheers", "bye", "goodbye", "great", "nice", "perfect", "cool", "awesome", "good", "merci", "bonjour", "bonsoir", "salut", "bravo", "super", "parfait", "genial"]
)

GO_AHEAD = frozenset(
    ["yes", "y", "yep", "yeah", "ok", "okay", "sure", "go", "proceed", "continue", "do", "oui", "d'accord", "vas-y", "allez", "continue", "fais"]
)

TREE_NOUNS = frozenset(
    ["api", "app", "application", "architecture", "binary", "branch", "bug", "build", "class", "code", "codebase", "commit", "compilation", "compiler", "config", "configuration", "constant", "coverage", "crash", "decoder", "dependency", "diff", "directory", "driver", "encoder", "error", "exception", "failure", "file", "files", "folder", "function", "functions", "header", "implementation", "library", "line", "linter", "log", "macro", "main", "makefile", "method", "methods", "module", "modules", "package", "parser", "pipeline", "plugin", "program", "project", "readme", "regression", "repo", "repository", "script", "scripts", "serializer", "server", "source", "sources", "struct", "suite", "symbol", "test", "tests", "todo", "tree", "type", "types", "variable", "version", "warning", "warnings", "workspace", "worktree", "arborescence", "bibliotheque", "branche", "classe", "decodeur", "depot", "dossier", "encodeur", "erreur", "fichier", "fichiers", "fonction", "fonctions", "implementation", "methode", "paquet", "projet", "programme", "analyseur", "serveur", "tests"]
)
"""Nouns that, with a definite or possessive determiner, point at the working tree."""

DETERMINERS = frozenset(
    ["the", "this", "that", "these", "those", "our", "my", "your", "its", "all", "every", "each", "any", "le", "la", "les", "l'", "ce", "cet", "cette", "ces", "notre", "nos", "mon", "mes", "ton", "tes", "votre", "vos", "du", "des", "au", "aux", "tous", "toutes", "chaque"]
)

OWNERSHIP = frozenset(["our", "my", "we", "notre", "nos", "mon", "mes", "nous", "ours", "mine"])


def fold(word: str) -> str:
    """Lower case without accents, typographic apostrophes made plain."""
    return word.lower().translate(_FOLD)


_FOLD = str.maketrans("àâäáãçéèêëîïíôöóûüùúñ’‘", "aaaaaceeeeiiiooouuuun''")
