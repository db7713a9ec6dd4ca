"""Where a name and its value stand apart: lists and maps under a name, tables and CSV with a header, SQL's column lists, property lists.

`api_keys: [..., ...]`, `| user | password |` over its rows, `insert into users (name, password) values (...)`. A name is found
first; from there it is followed for as long as it goes on, and nothing is followed twice.
"""

from __future__ import annotations

from .engine import BARRIER, Lazy, outline, rx
from .judge import family_of, is_phrase_of_words
from .names import kind_of
from .scan import CROWD, LONGEST, MANY, Scan, Span, beyond
from .values import has_digit, has_symbol, is_mixed, is_scrambled, is_worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from .names import Kind

APART = 400  # characters without an item, after which a list has ended though nothing closed it

_MANY = (
    r"(?i)[\w.-]*(?:passwords|passwds|secrets|credentials|creds|api_?-?keys|access_?-?keys|private_?-?keys|tokens|auth_?keys|backup_?-?codes|recovery_?-?codes|"
    r"scratch_?-?codes|pins)[\"'`]?[ \t]*(?:[:=]|=>|:=)[ \t]*(?:\[\]\w+|new[ ][\w<>\[\], ]+|\w+\()?[ \t]*(?:[{\[(]|\r?\n[ \t]*(?:[-*]|[0-9]{1,3}[.)])[ \t])"
    r"|[\w.-]*(?:password|passwd|secret|token|api_?-?key)[\"'`]?[ \t]*(?:=>|:=|[:=])[ \t]*\["
)
# Each way begins with a letter of its own, so that a search leaps from one to the next.
_ITEM = Lazy(
    rb"\"([^\"\n\x01]{4,})\"|'([^'\n\x01]{4,})'|`([^`\n\x01]{4,})`"
    rb"|\n[ \t]*(?:[-*]|[0-9]{1,3}[.)])[ \t]+(?:[A-Za-z][\w.@-]{1,23}:?[ \t]+)?([^\s\"'{}\[\]:\x01]{8,})[ \t\r]*(?=\n|$)"
)
_TOLD = Lazy(
    rb"(?m)^[ \t]*(?:[-*]|[0-9]{1,3}[.)])[ \t]+[A-Za-z]+(?:[ \t]+\w+){2,}[^\n:\x01]*$"
)  # an item that is a sentence
_MISSES = 8
_OPENS = Lazy(rb"[\"'`]|\n[ \t]*[-*0-9]")
_CLOSE = {b"{": b"}", b"[": b"]", b"(": b")"}


def collections(scan: Scan) -> Iterator[Span]:
    """The items of a list, or the values of a map, whose name is a plural of secrets."""
    data = scan.data
    done = 0
    never: set[bytes] = set()  # not closed any more from here to the end
    kinds: dict[bytes, Kind | None] = {}
    misses = clear = 0  # up to where it is known that nothing opens an item
    hits = 0
    has_blanks = BARRIER in data
    for ((start, at),) in scan.everywhere(_MANY) if scan.lines_with(*_APART) else ():
        if at < done:
            continue
        head = data[start:at]
        if head not in kinds:
            name = rx(rb"[\w.-]+").match(head)
            kinds[head] = kind_of(name.group()) if name else None
            if kinds[head] is None and name and name.group().lower() == b"tokens" and head.endswith(b"["):
                kinds[head] = "secret"  # mostly words of a text; noise is none
        kind = kinds[head]
        if kind is None:
            continue
        close = _CLOSE.get(data[at - 1 : at])
        stop = len(data)
        if close is None:
            at = data.rfind(b"\n", start, at)
            end = rx(rb"(?:\r?\n[ \t]*(?:[-*]|[0-9]{1,3}[.)])[ \t]+[^\n\x01]*)*").match(data, at)
            stop = end.end() if end else at
            if _TOLD.search(data, at, stop):
                continue  # what passwords must have, or where they are used
        elif close not in never:
            end_at = data.find(close, at)
            if end_at >= 0:
                stop = end_at
            else:
                never.add(close)
        barrier = data.find(BARRIER, at, stop) if close is None else -1
        done = at
        while done < stop:
            blank = data.find(BARRIER, done, min(stop, done + APART + 1)) if has_blanks and close else -1
            far = min(stop, done + APART + LONGEST) if blank < 0 else blank + 1
            if misses < _MISSES:
                item = _ITEM.search(data, done, far)
            else:
                item = _near_item(data, max(done, clear), min(far, done + APART + 1), far)
                clear = clear if item else max(clear, min(far, done + APART + 1))
            if item is None and blank >= 0:
                done = next(rx(rb"\x01+").finditer(data, blank)).end()  # as good as an item
                continue
            if item is None:
                misses += far - done > APART
                break
            group = item.lastindex or 0
            first, last = item.span(group)
            if first > done + APART:
                misses += 1
                break
            done = item.end()
            if 0 <= barrier < first:
                break
            value = data[first:last]
            if not _is_odd(value) or (group == 4 and kind != "password" and is_worded(value)):
                continue
            is_in_map = close == b"}" and group != 4
            if hits > MANY and kind == "password" and not is_in_map:
                if has_digit(value) if hits > CROWD else is_mixed(value):  # one of hundreds; one of many
                    hits += 1
                    yield Span(first, last, "password", 2)
                    continue
            if is_in_map and data[last + 1 : last + 4].lstrip()[:1] in (b":", b"="):
                continue  # a key
            if (
                (b":" not in value or rx(rb"[a-z_]+:[\d,.]+").fullmatch(value) is None)  # a rule: `min:8`
                and scan.judge(kind, value, quoted=True, strict=kind != "password")
                # `credentials: {"region": "eu-west-1"}`; asked last, because it is seldom so
                and not (is_in_map and _is_plain(key := _key_before(data, first)) and kind_of(key) is None)
            ):
                hits += 1
                yield Span(first, last, family_of(kind), 2)


# A key as the bytes of an array: `uint8_t aes_key[16] = { 0x1f, ... }`, `network_key: [17, 203, ...]`, Solana's `id.json`.
_BYTE = r"(?:0x[0-9a-f]{1,2}|[0-9]{1,3})"
_BYTES = (
    r"(?i)(?:([\w.-]*(?:key|secret|psk|password|seed)\w{0,12})[\"'`]?(?:\[\w*\])?|\b(?:id\.json|keypair|solana|wallet)\b[^\[{(\x01]{0,60})[ \t]*(?:[:=]|=>|:=)?[ \t]*"
    rf"(?:\[[\w; ]*\]\w*|new[ ][\w<>\[\], ]+|\w+!?)?[ \t\r\n]*[\[{{(][ \t\r\n]*({_BYTE}(?:[ \t]*,[ \t\r\n]*{_BYTE}){{15}}[0-9a-fx, \t\r\n]*)"
)
_SIXTEEN = rf"(?i){_BYTE}(?:[ \t]*,[ \t\r\n]*{_BYTE}){{15}}"
_NUMBER = Lazy(rb"0x[0-9a-f]{1,2}|[0-9]{1,3}", 2)
_SIZES = (16, 24, 32, 48, 64)


_ARRAY = r"(?m)^[ \t]*\[[ \t]*([0-9][0-9, \t]+[0-9])[ \t]*\][ \t]*\r?$"


def key_files(scan: Scan) -> Iterator[Span]:
    """Sixty-four bytes and nothing else on their line, as Solana keeps a key: in no order, and from end to end of what a byte can be."""
    data = scan.data
    if data.count(b",") < 63:
        return
    for _, (start, end) in scan.everywhere(_ARRAY):
        if 127 <= end - start <= 400:
            numbers = [int(found) for found in rx(rb"[0-9]+").findall(data[start:end])]
            steps = {b - a for a, b in zip(numbers, numbers[1:], strict=False)}
            if len(numbers) == 64 and 200 < max(numbers) < 256 and len(set(numbers)) >= 45 and len(steps) > 30:
                yield Span(start, end, "api-key", 2)


def byte_arrays(scan: Scan) -> Iterator[Span]:
    """The bytes of a key under its name."""
    data = scan.data
    if data.count(b",") < 15 or not outline(_SIXTEEN).has(data):
        return
    for _, (a, b), (start, end) in scan.everywhere(_BYTES):
        if a >= 0 and kind_of(data[a:b]) is None:
            continue
        end = start + len(data[start:end].rstrip(b", \t\r\n"))
        # By the base that is written: `int(..., 0)` refuses `059`, which aligns a column.
        numbers = [int(found, 16 if b"x" in found else 10) for found in _NUMBER.findall(data[start:end].lower())]
        if (
            len(numbers) in _SIZES
            and max(numbers) < 256
            and len(set(numbers)) > 10
            and max(numbers) > 99
            and sorted(numbers) != numbers
        ):
            yield Span(start, end, "api-key", 2)


def _is_odd(value: bytes) -> bool:
    """No plain word, of which there are many in a list or a column."""
    return has_digit(value) or has_symbol(value) or is_scrambled(value) or is_phrase_of_words(value)


def _near_item(data: bytes, at: int, most: int, far: int) -> re.Match[bytes] | None:
    """As `_ITEM.search`, only where an item is near: half as fast if there is one, but where lists without any stand close
    together, each would be read on for thousands of characters."""
    while at < most and (opened := _OPENS.search(data, at, most)):
        item: re.Match[bytes] | None = _ITEM.match(data, opened.start(), far)
        if item:
            return item
        at = opened.end()
    return None


def _key_before(data: bytes, at: int) -> bytes:
    """The `[\\w.@-]+` before a colon or an equals sign, from behind: to search for it takes ten times as long."""
    before = data[max(0, at - 60) : at - 1].removesuffix(b"\n").rstrip(b" \t")
    if before.endswith(b"=>"):
        before = before[:-1]
    if not before.endswith((b":", b"=")):
        return b""
    before = before[:-1].rstrip(b" \t")
    if before.endswith((b'"', b"'", b"`")):
        before = before[:-1]
    return before[len(before.rstrip(_KEY)) :]


_KEY = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.@-"


_PLAIN = frozenset(
    b"""region host hostname port url uri endpoint type provider profile version mode source path file name bucket database db
    scheme driver format algorithm kind env environment project email mail username user login role account ssid""".split()
)


def _is_plain(key: bytes) -> bool:
    return key.lower() in _PLAIN


_COLUMN = Lazy(rb"[\w\xc0-\xff][\w\xc0-\xff .#/-]{0,39}")
_WORD = r"(?:passwor[dt]|passwd|pwd|pw|pass|secret|token|api[ _-]?key|pin|kennwort|contrase\xf1a|senha)"
_HEADER = (
    rf"(?im)^[ \t]*\|[^\n\x01]*\b(?:{_WORD}|key)\b[^\n\x01]*$"  # | user | password |
    rf"|^(?:[\"']?[\w .#/-]+[\"']?[,;\t][ ]?)*[\"']?[\w .#/-]*{_WORD}[\w .#/-]*[\"']?(?:[,;\t][ ]?[\"']?[\w .#/-]+[\"']?)*\r?$"  # user,password
)


# psql's: a line of dashes below it.
_RULED = rf"(?im)^[ \t]*(?:[\w .#/-]+\|)*[\w .#/-]*{_WORD}[\w .#/-]*(?:\|[\w .#/-]+)*\r?\n[ \t]*-+(?:\+-+)+\r?$"
# ... and the rows of names and values below it.
_RULED_ROW = r"(?m)^[ \t]*([A-Za-z][\w.-]*)[ \t]*\|[ \t]*([^\s|\x01]{6,})[ \t]*(?:\||\r?$)"
_RULE = Lazy(rb"[-+=:| \t\r]*-[-+=:| \t\r]*")
_ROW = (
    r"(?im)^(?:[^,;\t\n\x01(){}=]+[,;\t][ ]?){0,2}[\"']?([a-z][\w.-]*[_.-](?:key|token|secret|passw(?:or)?d|pwd|pass))[\"']?[,;\t][ ]?[\"']?"
    r"([^\s,;\"'\x01]{8,})[\"']?(?:[,;\t]|\r?$)"
)


def tables(scan: Scan) -> Iterator[Span]:
    """Rows below a header with a column for the password: Markdown, Jira, CSV, TSV; rows of a name and its value."""
    data = scan.data
    if b"|" not in data and b"," not in data and b"\t" not in data and b";" not in data:
        return
    for _, (a, b), (start, end) in scan.spans(_ROW, scan.lines_with(*_APART)):
        kind = kind_of(data[a:b])
        if kind is not None and start not in scan.taken and scan.judge(kind, data[start:end], quoted=True, strict=True):
            yield Span(start, end, family_of(kind), 2)
    done, has_blanks = 0, BARRIER in data
    headers = [(*span, False) for (span,) in scan.everywhere(_HEADER)] if b"\n" in data else []
    if b"-+-" in data:
        for _, (a, b), (start, end) in scan.everywhere(_RULED_ROW):
            kind, value = kind_of(data[a:b]), data[start:end]
            if kind is not None and _is_odd(value) and scan.judge(kind, value, quoted=True, strict=False):
                yield Span(start, end, family_of(kind), 2)
        headers = sorted([*headers, *((*span, True) for (span,) in scan.everywhere(_RULED))])
    for start, end, is_ruled in headers:
        if is_ruled:
            end = data.find(b"\n", start)
        if start < done or end - start > 400:
            continue
        header = data[start:end]
        for separator in (b"||", b"|", b"\t", b",", b";"):
            if header.count(separator) >= (2 if b"|" in separator and not is_ruled else 1):
                break
        else:
            continue
        columns = [cell.strip(b" \t\r\"'*_") for cell in header.strip().strip(b"|").split(separator)]
        if any(_COLUMN.fullmatch(cell) is None for cell in columns):
            continue
        wanted: list[tuple[int, Kind]] = []
        for number, cell in enumerate(columns):
            kind = kind_of(cell.replace(b" ", b"_"))
            if kind is None and cell.lower() == b"key" and separator == b"|":
                kind = "key"
            if kind is not None:
                wanted.append((number, kind))
        if not wanted or len(wanted) == len(columns):
            continue
        inner = b"|" if b"|" in separator else separator
        at = end + 1
        while at < len(data):
            most = at + 600
            stop = data.find(b"\n", at, most)
            if stop < 0 and has_blanks:
                most = beyond(data, at, 600)
                stop = data.find(b"\n", at, most)
            line = data[at : stop if stop >= 0 else most]
            if at == end + 1 and _RULE.fullmatch(line):
                at += len(line) + 1
                continue
            if inner != b"|" and b'"' in line and stop >= 0:
                cells, stop = _row(data, at, stop, inner)
                line = data[at:stop]
            else:
                cells = line.strip().strip(b"|").split(inner)
            if len(cells) != len(columns) or (inner == b"|" and b"|" not in line):
                break
            for number, kind in wanted:
                value = cells[number].strip().strip(b"\"'`*")
                if BARRIER in value or b" " in value or not _is_odd(value):
                    continue
                if scan.judge(kind, value, quoted=True, strict=columns[number].lower() == b"key"):
                    offset = at + line.find(inner.join(cells[number:]))
                    first = data.find(value, offset, at + len(line))
                    if first >= 0:
                        yield Span(first, first + len(value), family_of(kind), 2)
            at += len(line) + 1
            if stop < 0:
                break
        done = at - 1


def _row(data: bytes, at: int, stop: int, separator: bytes) -> tuple[list[bytes], int]:
    """The cells of a row and where it ends: in quotes there may be the separator, and the ends of a few lines."""
    cells = _cells(data[at:stop], separator)
    if _is_open(cells[-1]):
        most = beyond(data, at, _LONG_ROW)
        closed = data.find(b'"', stop, most)
        while closed >= 0 and data[closed + 1 : closed + 2] == b'"':
            closed = data.find(b'"', closed + 2, most)
        if closed >= 0 and (end := data.find(b"\n", closed, most)) >= 0:
            return _cells(data[at:end], separator), end
    return cells, stop


def _cells(row: bytes, separator: bytes) -> list[bytes]:
    cells: list[bytes] = []
    for cell in row.strip().split(separator):
        if cells and _is_open(cells[-1]):
            cells[-1] += separator + cell
        else:
            cells.append(cell)
    return cells


def _is_open(cell: bytes) -> bool:
    return cell.lstrip()[:1] == b'"' and cell.count(b'"') % 2 == 1


_LONG_ROW = 2_000


_INSERT = r"(?i)\binsert[ \t]+(?:or[ \t]+\w+[ \t]+)?into[ \t]+[\w.\"`\[\]]+[ \t\r\n]*\(([^()\x01]{3,})\)[ \t\r\n]*values[ \t\r\n]*\("
_LITERAL = Lazy(rb"[ \t\r\n]*(?:N?'((?:[^'\\]|''|\\.)*)'|\"([^\"]*)\"|[^,()'\"]*(?:\([^()]*\))?)[ \t\r\n]*(,|\))")


_UPDATE = r"(?i)\bset[ \t]+[\w.\"`\[]*val(?:ue)?[\"`\]]?[ \t]*=[ \t]*'([^'\n\x01]+)'[^\n'\x01]*\bwhere\b[^\n'\x01]*'([\w.-]+)'"


def inserts(scan: Scan) -> Iterator[Span]:
    """`insert into users (name, password) values ('kim', '...'), (...)`, `update settings set value = '...' where name = 'api_key'`."""
    data = scan.data
    if not scan.lines_with(*_APART):
        return
    for _, (start, end), (a, b) in scan.everywhere(_UPDATE):
        kind = kind_of(data[a:b])
        if kind and end - start <= 200 and scan.judge(kind, data[start:end], quoted=True, strict=False):
            yield Span(start, end, family_of(kind), 2)
    done = 0
    for whole, names in scan.everywhere(_INSERT):
        if whole[0] < done or names[1] - names[0] > 600:  # counted here: re2 would need hundreds of states for it
            continue
        columns = [kind_of(c.strip(b' \t\r\n"`[]')) for c in data[slice(*names)].split(b",")]
        if not any(columns):
            continue
        first = at = whole[1]
        row: list[tuple[int, int]] = []
        while literal := _literal(data, at):
            row.append(max(literal.span(1), literal.span(2)))
            done = at = literal.end()
            is_whole = literal.group(3) == b")"
            if not is_whole and (len(row) < len(columns) or data.find(BARRIER, first, at) >= 0):
                continue
            yield from _inserted(scan, columns, row)
            more = _AND_ROW.match(data, at) if is_whole else None
            if more is None:
                break
            first = at = more.end()
            row = []
        else:
            yield from _inserted(scan, columns, row)


_AND_ROW = Lazy(rb"[ \t\r\n]*,[ \t\r\n]*\(")


def _literal(data: bytes, at: int) -> re.Match[bytes] | None:
    found: re.Match[bytes] | None = _LITERAL.match(data, at, at + LONGEST)
    if found is None and data.count(b"'", at, at + LONGEST) < 2 and (end := beyond(data, at, LONGEST)) > at + LONGEST:
        found = _LITERAL.match(data, at, end)
    return found


def _inserted(scan: Scan, columns: list[Kind | None], row: list[tuple[int, int]]) -> Iterator[Span]:
    """The secrets of a row. A marker may stand for several columns, or for the end of one row and the beginning of another: what is
    behind it belongs to the last columns."""
    data = scan.data
    marked = [n for n, (start, end) in enumerate(row) if data.find(BARRIER, start, end) >= 0]
    cells = list(zip(columns, row[: marked[0]] if marked else row, strict=False))
    if marked and len(row) - marked[-1] <= len(columns):
        last = len(row) - marked[-1] - 1
        cells += zip(columns[len(columns) - last :], row[len(row) - last :], strict=True)
    for kind, (start, end) in cells:
        if kind and end > start and scan.judge(kind, data[start:end], quoted=True, strict=False):
            yield Span(start, end, family_of(kind), 2)


# `<td>Password</td><td>...</td>`, `<b>Password:</b> ...<br>`, `<dt>...<dd>`.
_LABEL = (
    r"(?i)>[ \t]*([\w\xc0-\xff .-]*(?:pass(?:w(?:or[dt]|d)|phrase|code)?|pwd|pw|secret|token|key|pin|kennwort|contrase\xf1a|senha)[\w .-]*)[ \t]*:?[ \t]*"
    r"</(?:td|th|dt|b|strong|label|span|em|i|u|p|h[1-6]|div|li)>[ \t\r\n]*:?[ \t\r\n]*"
    r"(?:<(?:td|dd|code|b|strong|span|tt|kbd|samp|pre|em|i|p|div)(?:[ \t][^<>\n\x01]*)?>[ \t\r\n]*)*([^<>\s\x01]+)[ \t\r\n]*<"
)
# `Password: <b>...</b>`
_EMPHASIS = (
    r"(?i)\b([\w\xc0-\xff-]*(?:pass(?:w(?:or[dt]|d)|phrase|code)?|pwd|pw|secret|token|api[ _-]?key|kennwort|contrase\xf1a|senha))(?:[ \t]*[:=]|[ \t]+(?:is|ist|lautet|est|es|\xe9|\xe8)[ \t]*:?)[ \t]*"
    r"(?:<(?:code|b|strong|span|tt|kbd|samp|em|i|font|u|mark)(?:[ \t][^<>\n\x01]*)?>[ \t]*)+([^<>\s\x01]+)[ \t]*<"
)
_DATE = Lazy(rb"[0-9]{2,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}(?:T.*)?")
_TITLE = r"(?i)<th(?:[ \t][^<>\n\x01]*)?>[^<>\n\x01]*(?:pass(?:w(?:or[dt]|d)|phrase|code)?|pwd|pw|secret|token|key|kennwort|contrase\xf1a|senha)[^<>\n\x01]*</th>"
_CELL = Lazy(rb"<t[hd](?:[ \t][^<>]*)?>\s*(?:<(?:b|strong|code|span|tt|p)(?:[ \t][^<>]*)?>\s*)*([^<>]*?)\s*<", 2)
_TABLE = 4000  # characters of a row, after which it is none


def pages(scan: Scan) -> Iterator[Span]:
    """HTML: what stands beside its label, and the columns below their titles."""
    data, low = scan.data, scan.low
    if b"</" not in data or not scan.has(b"</t", b"</d", b"</b", b"</s", b"</l", b"</p", b"</e", b"</i", b"</h"):
        return
    for _, (a, b), (start, end) in (*scan.everywhere(_LABEL), *scan.everywhere(_EMPHASIS)):
        value = data[start:end].strip(b"\"'`")
        start = data.find(value, start, end)
        kind = kind_of(data[a:b].strip().replace(b" ", b"_")) if b - a <= 40 else None
        if (
            kind
            and 4 <= len(value) <= 200
            and not value.startswith(b"&")
            and _is_odd(value)
            and not _DATE.fullmatch(value)
        ):
            if scan.judge(kind, value, quoted=True, strict=False):
                yield Span(start, start + len(value), family_of(kind), 2)
    done = stop = 0
    for ((start, end),) in scan.everywhere(_TITLE) if b"</th" in low else ():
        if start < done:
            continue
        first, last = low.rfind(b"<tr", max(0, start - _TABLE), start), low.find(b"</tr", end, end + _TABLE)
        if first < 0 or last < 0 or BARRIER in low[first:last]:
            continue
        columns = [kind_of(cell.replace(b" ", b"_")) for cell in _CELL.findall(data, first, last + 1)]
        done = last
        if not any(columns) or all(columns):
            continue
        if stop <= last:
            stop = low.find(b"</table", last)
            stop = len(data) if stop < 0 else stop
        while (row := low.find(b"<tr", done, min(stop, beyond(low, done, _TABLE)))) >= 0:
            done = low.find(b"</tr", row, min(stop, beyond(low, row, _TABLE)))
            if done < 0:
                done = stop
                break
            cells = list(_CELL.finditer(data, row, done + 1))
            if len(cells) != len(columns):
                continue
            for kind, cell in zip(columns, cells, strict=True):
                value = cell.group(1)
                if kind and b" " not in value and len(value) <= 200 and _is_odd(value) and not _DATE.fullmatch(value):
                    if scan.judge(kind, value, quoted=True, strict=False):
                        yield Span(cell.start(1), cell.end(1), family_of(kind), 2)


_PLIST = r"(?i)<key>([^<>\n\x01]{2,60})</key>[ \t\r\n]*<(?:string|value)(?:[ ][^<>\n\x01]{1,60})?>([^<>\n\x01]{4,})</(?:string|value)>"
_NESTED = r"(?i)<([a-z][\w.:-]{2,40})>[ \t\r\n]*<value>([^<>\n\x01]{4,200})</value>"
_TAGGED = r"(?i)<(?:[a-z]\w*:)?([a-z][\w.-]{2,40})[ \t][^<>\n\x01]{1,120}>([^<>\n\x01]{4,200})</"
_NAMED = r"(?i)[ \t]name=[\"']([^\"'\n\x01<>]+)[\"'][^<>\n\x01]*>[ \t\r\n]*<value>([^<>\n\x01]+)</value>"
_PROPERTY = r"(?i)<(?:param-)?name>[ \t]*([^<>\n\x01]+)</(?:param-)?name>[ \t\r\n]*<(?:param-)?value>([^<>\n\x01]+)</(?:param-)?value>"
_ESCAPED = r"(?i)&lt;([a-z][\w.:-]*)&gt;([^<>&\s\x01]{4,200})&lt;/"
_FORM = r"(?i)form-data;[ \t]*name=\"?([\w.\[\]-]+)\"?[ \t]*\r?\n\r?\n([^\s\x01]{4,200})\r?\n"
_APART = (_MANY, _ROW, _INSERT, _UPDATE, _PLIST, _NESTED, _NAMED, _PROPERTY, _ESCAPED, _FORM, _TAGGED)


def elements(scan: Scan) -> Iterator[Span]:
    """XML where the name has attributes, Apple's property lists, and what KeePass writes."""
    data, low = scan.data, scan.low
    if not scan.lines_with(*_APART):
        return
    for source, wanted in (
        (_PLIST, b"<key>"),
        (_NESTED, b"<value>"),
        (_NAMED, b"<value>"),
        (_PROPERTY, b"value>"),
        (_ESCAPED, b"&lt;"),
        (_FORM, b"form-data;"),
        (_TAGGED, b">"),
    ):
        if wanted not in low:
            continue
        for _, (a, b), (start, end) in scan.everywhere(source):
            kind = kind_of(data[a:b].strip())
            value = data[start:end]
            if len(value) > 200:
                continue
            if kind and _is_odd(value) and scan.judge(kind, value, quoted=True, strict=False):
                yield Span(start, end, family_of(kind), 2)
