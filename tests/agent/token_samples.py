"""Short texts of every kind with their size in tokens: the smallest and the largest count of five tokenizers.

The tokenizers: a SentencePiece model of 32k pieces, Tekken, DeepSeek, cl100k and o200k.
"""

from __future__ import annotations

import base64
import hashlib

DIGESTS = "".join(hashlib.sha256(bytes([n])).hexdigest() + "  file\n" for n in range(20))
ENCODED = base64.b64encode(b"".join(hashlib.sha256(bytes([n])).digest() for n in range(30))).decode()
NUMBERS = "".join(f"{n}|line {n}\n" for n in range(970, 1070))
HEX = "".join(f"{n:08x}: {hashlib.md5(bytes([n])).hexdigest()}\n" for n in range(40))
ENGLISH = """The parser keeps a stack of open groups. When a closing bracket arrives, it checks that the group on top
was opened by the matching bracket; otherwise it reports both positions, because the mistake is as often at the first as
at the second. Nothing is repaired silently: a file that cannot be read as written is shown to its author.
"""
FRENCH = """L’analyseur garde une pile de groupes ouverts. Lorsqu’une parenthèse fermante arrive, il vérifie que le
groupe au sommet a été ouvert par la parenthèse correspondante ; sinon, il signale les deux positions, car l’erreur se
trouve aussi souvent à la première qu’à la seconde. Rien n’est réparé en silence.
"""
CHINESE = """解析器维护一个未闭合分组的栈。遇到右括号时，它检查栈顶分组是否由对应的左括号打开；否则同时报告两个位置，
因为错误出现在前者和后者的可能性一样大。任何内容都不会被悄悄修复：无法按原样读取的文件会展示给作者。
"""
JAPANESE = """構文解析器は開いているグループのスタックを保持します。閉じ括弧が来ると、先頭のグループが
対応する括弧で開かれたかどうかを確認し、そうでなければ両方の位置を報告します。何も黙って修復されることはありません。
"""
KOREAN = """구문 분석기는 열린 그룹의 스택을 유지합니다. 닫는 괄호가 나오면 맨 위 그룹이 짝이 맞는 괄호로 열렸는지
확인하고,
그렇지 않으면 두 위치를 모두 보고합니다. 어떤 것도 조용히 고쳐지지 않습니다.
"""
RUSSIAN = """Анализатор хранит стек открытых групп. Когда приходит закрывающая скобка, он проверяет, что верхняя группа
была открыта соответствующей скобкой; иначе он сообщает обе позиции, потому что ошибка одинаково часто бывает в обеих.
"""
POLISH = """Analizator przechowuje stos otwartych grup. Gdy pojawia się nawias zamykający, sprawdza, czy grupa na
szczycie została otwarta odpowiednim nawiasem; w przeciwnym razie zgłasza obie pozycje, ponieważ błąd bywa w każdej.
"""
C = """static int ring_push(struct ring *r, const uint8_t *src, size_t len)
{
    if (r == NULL || len > r->capacity - r->used)
        return -ENOSPC;
    for (size_t i = 0; i < len; i++) {
        r->data[(r->head + i) % r->capacity] = src[i];
    }
    r->head = (r->head + len) % r->capacity;
    r->used += len;
    return 0;
}
#define RING_MAX_ENTRIES 0x0400u
#define RING_FLAG_OVERWRITE (1UL << 3)
"""
PYTHON = """class TokenBucket:
    def __init__(self, capacity: int, refill_per_second: float) -> None:
        self._capacity, self._refill = capacity, refill_per_second
        self._tokens = float(capacity)

    def try_take(self, amount: int = 1) -> bool:
        if self._tokens < amount:
            return False
        self._tokens -= amount
        return True
"""
JSON = """{"name":"demo","version":"1.4.2","scripts":{"build":"tsc -p .","test":"node --test"},"dependencies":
{"left-pad":"^1.3.0","@types/node":"20.11.5"},"paths":["src/**/*.ts","test/fixtures/*.json"],"limits":{"rows":10000,"ratio":0.25}}
"""
LOG = """2024-03-11T09:41:07.512Z INFO  [worker-3] request id=7f3a9c21 GET /api/v2/items?page=14 200 38ms
2024-03-11T09:41:07.618Z WARN  [worker-1] retry 2/5 after 0.75s: connect ECONNREFUSED 10.0.3.17:5432
-rw-r--r-- 1 root root   48213 Nov 30 11:05 /usr/lib/x86_64-linux-gnu/libexample.so.2.31
"""
MINIFIED = """!function(e,t){"object"==typeof exports?module.exports=t():e.Lib=t()}(this,function(){var n={},r=0;return
n.x=function(e){for(var t=[],o=0;o<e.length;o++)t.push(e[o]^255&(r+=7));return t.reduce((e,t)=>e+t,0)},n});
"""
DRAWING = """src/
├── agent/
│   ├── loop.py      ✓ ok → 12 ms
│   └── tools/       ✗ failed • see below …
└── ═══════════ done ═══════════
"""

COUNTED: dict[str, tuple[str, int, int]] = {
    "digests": (DIGESTS, 785, 1201),
    "encoded": (ENCODED, 884, 1051),
    "numbers": (NUMBERS, 740, 1141),
    "hex": (HEX, 959, 1558),
    "english": (ENGLISH, 70, 74),
    "french": (FRENCH, 76, 97),
    "chinese": (CHINESE, 61, 108),
    "japanese": (JAPANESE, 65, 113),
    "korean": (KOREAN, 59, 138),
    "russian": (RUSSIAN, 56, 98),
    "polish": (POLISH, 69, 93),
    "c": (C, 139, 168),
    "python": (PYTHON, 88, 102),
    "json": (JSON, 76, 98),
    "log": (LOG, 136, 185),
    "minified": (MINIFIED, 76, 104),
    "drawing": (DRAWING, 49, 86),
}
