"""Sentences that lay something down, rule something out, or say what is not so: in the languages that agents meet."""

from __future__ import annotations

import re
from collections.abc import Iterator

STATEMENT_CHARS = 400
"""Characters of a sentence that is kept word for word; of a longer one, what stands around the word that counts."""

_LOOKED_AT = 100_000
"""Characters at each end of a text that are looked through."""

_RULES = (
    r"never|must(?:n['’]t)?|(?:do|should|shall|may|can|need|will) not|(?:do|should|can|need|wo)n['’]t|cannot|"
    r"not (?:allowed|permitted)|forbidden|prohibited|off[- ]limits|unless|except(?:ions?|ing)?|apart from|only|always|"
    r"exactly|no longer|keep in mind|avoid|refrain|leave \S+(?: \S+){0,3} alone|hands off|without"
)
_NEGATIONS = r"\w+n['’]t|not|no|none|nothing|nobody|nowhere|neither|nor"
_ELSEWHERE = (
    r"nie|niemals|nicht|kein\w{0,2}|darf|dürfen|muss|müssen|verboten|untersagt|außer|ausser|nur|immer|ohne|"  # de
    r"jamais|pas|aucune?|interdite?s?|sauf|excepté|hormis|doit|doivent|devez|toujours|seulement|uniquement|sans|"  # fr
    r"nunca|jamás|ningún|ninguna|prohibid[oa]s?|salvo|excepto|a menos|deben?|siempre|sólo|solo|solamente|"  # es
    r"não|nenhum\w?|proibid[oa]s?|exceto|devem?|sempre|somente|apenas|"  # pt
    r"mai|non|nessun\w?|vietat[oa]|tranne|eccetto|a meno|devono|soltanto|senza|"  # it
    r"nooit|niet|geen|verboden|behalve|tenzij|moet|moeten|altijd|alleen|zonder|"  # nl
    r"nigdy|zakaz\w*|zabronion\w*|oprócz|chyba że|musi|zawsze|tylko|"  # pl
    r"никогда|не|нельзя|запрещ\w*|кроме|только|должн\w*|обязательно|всегда|без|ніколи|лише|окрім|"  # ru, uk
    r"asla|değil|yasak|hariç|sadece|yalnızca|không|đừng|cấm|trừ|chỉ"  # tr, vi
)
_UNSPACED = (
    r"不|没|沒|勿|未|別|别|禁止|除非|除了|除外|只|仅|僅|必须|必須|务必|務必|永远|永遠|"  # zh
    r"ない|ません|なければ|必ず|以外|除き|除い|限り|のみ|だけ|絶対|"  # ja
    r"않|마세요|마십시오|말 것|말아|못|금지|절대|반드시|제외|외에는|없|안 |"  # ko
    r"ممنوع|إلا|أبد|يجب|فقط|ليس|\bلا\b|\bلن\b|\bلم\b|नहीं|मत|कभी|केवल|सिवाय|अनिवार्य"  # ar, hi
)
_RULE = re.compile(rf"(?i)\b(?:{_RULES}|{_ELSEWHERE})\b|(?:{_UNSPACED})")
_STATEMENT = re.compile(rf"(?i)\b(?:{_RULES}|{_NEGATIONS}|{_ELSEWHERE})\b|(?:{_UNSPACED})")
_SHORT = "".join(
    rf"(?<!\b{each}\.)" for each in (r"e\.g", r"i\.e", "etc", "vs", "cf", "incl", "approx", r"z\.B", r"d\.h")
)
_END = re.compile(rf"(?<=[.!?…]){_SHORT}[\"')\]»”]*+\s++(?![a-zà-öø-ÿа-я])|(?<=[。！？؟।])")
_ITEM = re.compile(r"\s*(?:[-*•–]|\d{1,3}[.)])\s+\S|\s{2,}\S")
_GOES_ON = re.compile(r"\s*[a-zà-öø-ÿа-я(]")
_ENDED = re.compile(r"[.!?:;。！？：；][\"')\]»”]*\s*$")


def rules_in(text: str) -> list[str]:
    """Return the sentences that lay something down, or rule something out, word for word."""
    return [kept for each in statements(text) for kept in _around(each, _RULE)]


def stated_in(text: str, most_chars: int = 2 * _LOOKED_AT) -> list[str]:
    """Return those, and the sentences that say what is not so; of too many, the rules first."""
    found = dict.fromkeys(kept for each in statements(text) for kept in _around(each, _STATEMENT))
    room, kept = most_chars, set[str]()
    for each in sorted(found, key=lambda each: _RULE.search(each) is None):
        room -= len(each)
        if room < 0:
            break
        kept.add(each)
    return [each for each in found if each in kept]


def ends(text: str) -> str:
    """Return a text, of a long one its beginning and its end."""
    return text if len(text) <= 2 * _LOOKED_AT else f"{text[:_LOOKED_AT]}\n{text[-_LOOKED_AT:]}"


def statements(text: str) -> Iterator[str]:
    """Yield the sentences of a text: wrapped lines go together, and so does a list with the line that it hangs on."""
    for block in _blocks(ends(text).splitlines()):
        if "\n" in block and _ITEM.match(block.split("\n", 1)[1]):
            yield block
            continue
        yield from filter(None, map(str.strip, _END.split(block)))


def _blocks(lines: list[str]) -> Iterator[str]:
    """Yield lines, with those that go on with what the line before has begun."""
    block: list[str] = []
    for line in lines:
        if block and line.strip() and _belongs(block, line):
            block.append(line)
            continue
        if block:
            yield "\n".join(block)
        block = [line] if line.strip() else []
    if block:
        yield "\n".join(block)


def _belongs(block: list[str], line: str) -> bool:
    hangs = block[0].rstrip().endswith((":", "："))
    if hangs and _RULE.search(block[0]):
        return bool(_ITEM.match(line))
    return not hangs and not _ITEM.match(line) and not _ENDED.search(block[-1]) and bool(_GOES_ON.match(line))


def _around(statement: str, wanted: re.Pattern[str]) -> Iterator[str]:
    """Yield a statement with a word that is looked for, of a long one the pieces around such words."""
    if len(statement) <= STATEMENT_CHARS:
        if wanted.search(statement):
            yield statement
        return
    stop = 0
    for match in wanted.finditer(statement):
        if match.start() >= stop:
            start = _word_at(statement, max(match.start() - STATEMENT_CHARS // 4, stop))
            stop = _word_at(statement, match.start() + STATEMENT_CHARS * 3 // 4)
            yield statement[start:stop].strip()


def _word_at(statement: str, at: int) -> int:
    """Return where a word begins, at a place or soon after it."""
    if at <= 0 or at >= len(statement):
        return max(0, min(at, len(statement)))
    return statement.find(" ", at, at + 40) + 1 or at
