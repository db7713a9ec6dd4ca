"""How things look: one stylesheet, one way to say a time, a badge, an empty page, a highlighted snippet.

What people and tools said is shown as it was said, never run: everything that goes into HTML is escaped here.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterable, Sequence
from datetime import datetime

import streamlit as st

from ..search import fence, tokens
from . import lock

THEME: dict[str, str | bool] = {
    "theme.baseRadius": "0.6rem",
    "theme.showSidebarBorder": True,
    "theme.light.primaryColor": "#2f6f5e",
    "theme.light.backgroundColor": "#fdfdfb",
    "theme.light.secondaryBackgroundColor": "#f1f2ed",
    "theme.light.textColor": "#22272a",
    "theme.light.borderColor": "#dcdfd8",
    "theme.light.sidebar.backgroundColor": "#f5f6f1",
    "theme.dark.linkColor": "#7fcbb4",
    "theme.dark.primaryColor": "#3a8a72",
    "theme.dark.backgroundColor": "#14181a",
    "theme.dark.secondaryBackgroundColor": "#1f2528",
    "theme.dark.textColor": "#e6eae8",
    "theme.dark.borderColor": "#343c40",
    "theme.dark.sidebar.backgroundColor": "#191e21",
}
"""Streamlit's theme options: light and dark follow the system, and can be switched in its menu."""

GREEN = "#3a8a72"
"""Seen on light and on dark alike."""

_STYLE = """
<style>
/* one measure for everything, so that pages do not jump when they are switched */
.stMainBlockContainer { max-width: 58rem; padding: 4.6rem 1.5rem 2rem; }
[data-testid="stBottomBlockContainer"] { max-width: 58rem; padding: .6rem 1.5rem 1.4rem; }
@media (max-width: 640px) {
  .stMainBlockContainer { padding: 4.2rem .9rem 1.2rem; }
  [data-testid="stBottomBlockContainer"] { padding: .5rem .9rem 1rem; }
  .st-key-header:has(.stSelectbox) [data-testid="stLayoutWrapper"]:has(> .st-key-title-of-conversation) { min-width: 100%; }
}
.stMainBlockContainer h3 { font-size: 1.35rem; }
[data-testid="stSidebarContent"] [data-testid="stVerticalBlock"] { gap: .45rem; }

/* a list of conversations reads like a list */
[class*="st-key-list-of-conversations"] button { justify-content: flex-start; text-align: left; min-height: 2.1rem; padding: .2rem .6rem; }
[class*="st-key-list-of-conversations"] button > div { justify-content: flex-start; width: 100%; }
[class*="st-key-list-of-conversations"] button p { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: .9rem; }
[class*="st-key-list-of-conversations"] [data-testid="stVerticalBlock"], [class*="st-key-list-of-conversations"] { gap: .1rem; }

/* the title is edited where it stands, and stays in sight with its menu and with what is told, however long the page is */
[data-testid="stLayoutWrapper"]:has(> .st-key-top), .stMainBlockContainer > div > [data-testid="stLayoutWrapper"]:has(> .st-key-notes) { position: sticky; top: 3.75rem; z-index: 90; padding: .3rem 0; background: Canvas; background: light-dark(#fdfdfb, #14181a); }
[class*="st-key-title"] [data-baseweb="input"], [class*="st-key-title"] [data-baseweb="base-input"],
[class*="st-key-title"] .stTextInput > div > div { background: transparent; border-color: transparent; }
[class*="st-key-title"] input { font-size: 1.35rem; font-weight: 600; padding-left: 0; text-overflow: ellipsis; }
[class*="st-key-title"] [data-baseweb="input"]:hover { border-color: var(--st-border-color, #8884); }
[class*="st-key-title"] [data-baseweb="input"]:focus-within { border-color: var(--st-primary-color, #2f6f5e); padding-left: .4rem; }
[class*="st-key-title"] [data-testid="InputInstructions"] { display: none; }

[data-testid="stLayoutWrapper"]:has(> .st-key-notes:empty) { display: none !important; }
.st-key-top { gap: .4rem; }
mark.rc { background: #ffdf8099; color: inherit; border-radius: .2rem; padding: 0 .1rem; }
.rc-quiet { opacity: .68; font-size: .85rem; }
.rc-snippet { line-height: 1.5; overflow-wrap: anywhere; white-space: pre-line; }
/* a line of facts and buttons under a memory or a message: what does not fit is the facts' to wrap, never the menu's */
[class*="-foot-"] { flex-wrap: nowrap !important; }
[class*="-foot-"] > :first-child { flex: 1 1 auto; min-width: 0; }
[class*="-foot-"] > :not(:first-child) { flex: 0 0 auto; }
.st-key-figures, .st-key-quality { display: grid !important; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); }
.stSelectbox input { text-overflow: ellipsis; }
.rc-empty { text-align: center; padding: 2.6rem 1rem 1.4rem; }
.rc-empty .rc-sign { font: 2.2rem/1 "Material Symbols Rounded"; font-feature-settings: "liga"; opacity: .55; }
.rc-empty h3 { margin: .4rem 0 .2rem; padding: 0; font-size: 1.15rem; }
.rc-empty p { opacity: .75; margin: 0 auto; max-width: 30rem; }
.rc-brand { font-weight: 650; font-size: 1.12rem; letter-spacing: .01em; }
.rc-day { opacity: .6; font-size: .75rem; font-weight: 600; padding: .5rem .6rem 0; }
[class*="st-key-focus"] { scroll-margin-top: 9rem; border-left: 3px solid var(--st-primary-color, #2f6f5e); padding-left: .6rem; border-radius: .2rem; }
[data-testid="stChatMessage"] { padding: .6rem .8rem; gap: .7rem; }
[data-testid="stChatMessage"]:has([data-testid="stChatMessageAvatarUser"]), [class*="st-key-pending-user"] [data-testid="stChatMessage"],
[class*="st-key-by-user"] [data-testid="stChatMessage"] { background: rgba(122, 140, 128, .11); }
[data-testid="stChatMessageContent"] [data-testid="stVerticalBlock"] { gap: .25rem; }
/* menus of one thing: the sign is enough to see, the word is there for who cannot */
[class*="st-key-do-"] button p, [class*="st-key-memory-do-"] button p, [class*="st-key-menu-"] > div > div > button p {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[class*="st-key-do-"] button > div > [aria-hidden], [class*="st-key-memory-do-"] button > div > [aria-hidden],
[class*="st-key-menu-"] > div > div > button > div > [aria-hidden] { display: none; }
[class*="st-key-list-of-checkpoints"] button { justify-content: flex-start; text-align: left; }
[class*="st-key-list-of-checkpoints"] button > div { justify-content: flex-start; width: 100%; text-align: left; }
[class*="st-key-list-of-checkpoints"] button p { font-size: .88rem; }
[data-testid="stLayoutWrapper"]:has(> .st-key-list-of-checkpoints) { height: auto !important; max-height: 35rem; }
@media (max-width: 640px) { [data-testid="stLayoutWrapper"]:has(> .st-key-list-of-checkpoints) { max-height: 20rem; } }
/* what is chosen of a few is told by its ground and weight: green on green is hard to read, in the dark most of all */
.stButtonGroup button[data-selected="true"] p { color: CanvasText; font-weight: 600; }
/* the steps of a turn are a remark below it, not a second card */
.st-key-list-of-checkpoints .stExpander details { border: 0; background: none; }
.st-key-list-of-checkpoints .stExpander summary { min-height: 1.5rem; padding: 0 .8rem; font-size: .8rem; opacity: .75; background: none; }
.st-key-list-of-checkpoints [data-testid="stExpanderDetails"] { padding: .2rem 0 .4rem 1.6rem; }
.st-key-list-of-checkpoints [data-testid="stExpanderDetails"] [data-testid="stVerticalBlock"] { gap: .1rem; }
.st-key-list-of-checkpoints [data-testid="stExpanderDetails"] button { min-height: 1.8rem; padding: .1rem .6rem; }
[data-testid="stChatMessage"] pre { white-space: pre-wrap; }
*:focus-visible:not(textarea, input) { outline: 2px solid var(--st-primary-color, #2f6f5e); outline-offset: 1px; }
a:focus-visible { outline: 2px solid var(--st-primary-color, #3a8a72) !important; outline-offset: 1px; }
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
</style>
"""

# Streamlit keeps a chat at its end until somebody scrolls, and has no way to say that it should stand elsewhere, or at its
# end again. What is still being drawn moves everything, so it is led there until it has stayed for half a second, or the
# reader does something. A page that is drawn anew does not lead again.
_LEAD = """
<script>
(() => {
  if (window.recollectJump === "%(jump)d") return;
  window.recollectJump = "%(jump)d";
  const acts = ["wheel", "touchstart", "pointerdown", "keydown"];
  let was = null, stayed = 0, left = 100;
  const end = () => { clearInterval(timer); acts.forEach(act => removeEventListener(act, end, true)); };
  const timer = setInterval(() => {
    if (!left-- || stayed >= 5) return end();
    const it = document.querySelector('%(place)s');
    if (!it) return;
    const where = () => Math.round(%(is_end)s ? it.scrollHeight - it.scrollTop : it.getBoundingClientRect().top);
    stayed = where() === was ? stayed + 1 : 0;
    if (!stayed && %(is_end)s) it.scrollTop = it.scrollHeight;
    else if (!stayed) it.scrollIntoView({ block: it.offsetHeight < innerHeight / 2 ? "center" : "start", behavior: "instant" });
    was = where();
  }, 100);
  acts.forEach(act => addEventListener(act, end, true));
})();
</script>
"""

# Streamlit's page tells of a 403 as if another server were to blame. It asks again by itself, so a page that was cut off by a
# restart goes on, with what is half typed, as soon as the new address was opened in another tab.
_CUT_OFF = """
<script>
(() => {
  if (window.recollectFetch) return;
  const real = window.recollectFetch = window.fetch;
  window.fetch = async (...asked) => {
    const answer = await real(...asked);
    if (answer.headers.get("%s")) throw new Error(
      "Recollect was started again, and every start has a new address. Open the address that it printed in the terminal, in " +
      "another tab of this browser. This page then goes on by itself.");
    return answer;
  };
})();
</script>
"""

KIND_ICONS = {
    "message": ":material/chat_bubble:",
    "tool_use": ":material/build:",
    "tool_result": ":material/output:",
    "approval": ":material/verified_user:",
    "error": ":material/error:",
    "artifact": ":material/draft:",
    "reasoning": ":material/psychology:",
    "ledger": ":material/checklist:",
    "summary": ":material/compress:",
    "note": ":material/sticky_note_2:",
    "event": ":material/bolt:",
    "fact": ":material/info:",
    "preference": ":material/favorite:",
    "todo": ":material/task_alt:",
    "project_state": ":material/flag:",
}
KIND_COLOURS = {"fact": "blue", "preference": "violet", "todo": "orange", "project_state": "green"}
STATE_NAMES = {"quarantined": "waits for review"}
STATE_COLOURS = {"active": "green", "quarantined": "orange", "forgotten": "gray", "replaced": "gray", "expired": "gray"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~$:])")

_REMARK = fence.NO_MODEL.partition(",")[0]  # a preview may be cut within it
_WORD = re.compile(r"\w+")
_PICTURE = re.compile(r"(?<!\\)(\\*)!\[")


def style() -> None:
    st.html(_STYLE)


def tell_of_the_lock() -> None:
    """So that an open page says in plain words why it was cut off when the application was started again."""
    st.html(_CUT_OFF % lock.HEADER, unsafe_allow_javascript=True)


def lead(seq: int | None, jump: int) -> None:
    """Bring a message into sight, or the end of the chat, once for each jump. Numbers alone go into the script."""
    place = '[data-testid="stAppScrollToBottomContainer"]' if seq is None else f".st-key-focus-{int(seq)}"
    said = {"place": place, "is_end": "true" if seq is None else "false", "jump": int(jump)}
    st.html(_LEAD % said, unsafe_allow_javascript=True)


def plain(text: str) -> str:
    """Text for where Markdown is read, as it was written: no formatting, no link, no formula comes of it."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def unpictured(text: str) -> str:
    """Markdown without its pictures: one would be fetched from wherever it says, and that is how what was said leaks out.
    A `!` that is escaped already stays as it is: a second backslash would free it again."""
    return _PICTURE.sub(lambda m: m[0] if len(m[1]) % 2 else f"{m[1]}\\![", text)


def short(text: str, most: int = 60) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def label(text: str, most: int = 60) -> str:
    """For a button or a badge."""
    return plain(short(text, most))


def name(title: str | None) -> str:
    """A conversation within a sentence: a full stop of its own would end it."""
    return label((title or "").rstrip(". ") or "Untitled")


def preview(text: str) -> str:
    """What was said last, without the remark that there is no model: it is the same each time, and fills the line."""
    return text.partition(_REMARK)[0].strip() or text


def ago(at: int | None) -> str:
    if at is None:
        return "never"
    seconds = max(0, int(time.time()) - at // 1000)
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            n = seconds // size
            return f"{n} {name}{'s' if n > 1 else ''} ago" if n < 60 or name != "day" else day(at)
    return "just now"


def day(at: int) -> str:
    then = datetime.fromtimestamp(at / 1000)
    return f"{then.day} {then:%B %Y}"


def moment(at: int) -> str:
    then = datetime.fromtimestamp(at / 1000)
    return f"{then.day} {then:%b %Y, %H:%M:%S}"


def clock(at: int) -> str:
    then = datetime.fromtimestamp(at / 1000)
    return f"{then:%H:%M}" if then.date() == datetime.now().date() else f"{then.day} {then:%b, %H:%M}"


def since(at: int) -> str:
    """The heading of a list by time under which something stands."""
    days = (datetime.now().date() - datetime.fromtimestamp(at / 1000).date()).days
    if days <= 0:
        return "Today"
    return "Yesterday" if days == 1 else "Last 7 days" if days < 7 else "Last 30 days" if days < 30 else "Older"


def count(n: int, noun: str) -> str:
    if n == 1:
        return f"1 {noun}"
    return f"{n:,} {noun[:-1]}ies" if noun.endswith("y") else f"{n:,} {noun}{'es' if noun.endswith('ch') else 's'}"


def size(n: int) -> str:
    amount = float(n)
    for unit in ("bytes", "KB", "MB", "GB"):
        if amount < 1000 or unit == "GB":
            return f"{amount:.0f} {unit}" if unit == "bytes" or amount >= 100 else f"{amount:.1f} {unit}"
        amount /= 1000
    raise AssertionError("unreachable")


def kind(name: str) -> str:
    """A kind of event or memory as a reader would call it."""
    return "task" if name == "ledger" else name.replace("_", " ")


def quiet(text: str) -> None:
    st.html(f'<span class="rc-quiet">{html.escape(text)}</span>')


def some(texts: Sequence[str], most: int = 5) -> None:
    """The first of a list, one a line, and how many more there are."""
    lines = [f"– {html.escape(short(t, 90))}" for t in texts[:most]]
    if len(texts) > most:
        lines.append(f"– and {len(texts) - most:,} more")
    if lines:
        st.html(f'<div class="rc-quiet">{"<br>".join(lines)}</div>')


def other_graph(node: str) -> str:
    """What somebody should know before the chat answers in another program's conversation."""
    return (
        f"Another graph has answered here so far; its last step was **{label(node)}**. If you go on, Recollect’s own chat answers: it "
        "sees what was said, and has none of that graph’s agents and tools."
    )


def empty(sign: str, title: str, text: str) -> None:
    """A page with nothing on it says what to do. The sign is one of Streamlit's own icons: a system may lack any other."""
    st.html(
        f'<div class="rc-empty"><div class="rc-sign" aria-hidden="true">{html.escape(sign)}</div><h3>{html.escape(title)}</h3>'
        f"<p>{html.escape(text)}</p></div>"
    )


def words_of(question: str) -> list[str]:
    """The words of a question that are worth marking."""
    found = [w for w in re.findall(r"\w+", question.casefold()) if len(w) > 2 and w not in _COMMON]
    return found or re.findall(r"\w+", question.casefold())


_COMMON = frozenset(
    "the and for are was were has have had did does you your his her its our their what which who whom when where why how"
    " that this these those with from about into over all any can could would should will shall may might not but".split()
)


def marked(text: str, words: Sequence[str]) -> str:
    """HTML of a text with the words of a question marked, in whatever form search finds them (prefer, preferences)."""
    asked = {term for word in words for term in tokens.terms(word)} or set(words)
    out, at = [], 0
    for m in _WORD.finditer(text) if asked else ():
        if not asked.isdisjoint(tokens.terms(m.group())) or m.group().casefold() in asked:
            out += [html.escape(text[at : m.start()]), f'<mark class="rc">{html.escape(m.group())}</mark>']
            at = m.end()
    return "".join([*out, html.escape(text[at:])])


def snippet(text: str, words: Sequence[str] = ()) -> None:
    st.html(f'<div class="rc-snippet">{marked(text, words)}</div>')


def place(scope: str, workspace: str | None) -> str:
    """Where a memory counts, in words: a project by the name of its folder."""
    if scope == "workspace":
        return "in " + short((workspace or "").replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] or "/", 30)
    return "in its conversation" if scope == "conversation" else "everywhere"


def badges(marks: Iterable[tuple[str, str, str | None]]) -> None:
    """Small labels in a row: (text, colour, icon)."""
    said = " ".join(
        f":{colour}-badge[{icon + ' ' if icon else ''}{plain(text)}]" for text, colour, icon in marks if text
    )
    if said:
        st.markdown(said)
