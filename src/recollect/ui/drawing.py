"""Branches: a switcher, and a small drawing of the tree."""

from __future__ import annotations

import html

import streamlit as st

from ..model import Branch, Conversation
from . import look, state

STEP, LANE, LEFT = 26, 30, 12
COLOURS = ("#2f8f76", "#b3711d", "#7a5cc0", "#2d7bb8", "#b84a62", "#6b7a2e")
MOST = 12


def switcher(c: Conversation, branches: list[Branch], branch: Branch, where: str) -> None:
    """Choose a branch; from then on it is the one that is meant, here and everywhere."""
    names = [b.name for b in branches]
    labels = {
        b.name: f"{b.name} – {look.short(look.preview(b.preview), 40)}" if b.preview else b.name for b in branches
    }
    # A browser keeps the label that was chosen, and sends it as long as the key is the same. When more is said on a branch
    # its label is another one, and the old one came back as if somebody had chosen a branch of that name.
    key = f"branch-{where}-{c.id}-{branch.name}-{hash(tuple(labels.values()))}"
    st.selectbox(
        "Branch", names, index=names.index(branch.name), key=key, label_visibility="collapsed", width=170,
        format_func=labels.__getitem__,
        help=f"{len(names)} branches; the page Time travel draws them.",
        on_change=_switch, args=(c.id, key),
    )  # fmt: skip


def _switch(id: str, key: str) -> None:
    state.switch(id, str(st.session_state[key]))


def tree(branches: list[Branch], shown: str | None, *, dark: bool = False) -> str:
    """An SVG: one lane a branch, from where it was forked to its newest event. The one that is looked at is thick."""
    drawn = _chosen(branches, shown)
    lanes = {b.name: i for i, b in enumerate(drawn)}
    # One place for each number that means something: where branches fork, and where they end.
    marks = sorted({0, *(b.fork_seq for b in drawn), *(max(b.head, b.fork_seq) for b in drawn)})
    x = {seq: LEFT + i * LANE * 2 for i, seq in enumerate(marks)}
    names = LEFT + len(marks) * LANE * 2
    says = {b.name: f"{look.short(b.name, 22)}{' (active)' if b.active else ''} · up to event {b.head}" for b in drawn}
    # Eight a letter is room enough in every font, bold as well; what is wider than the picture is cut off.
    width, height = names - 20 + 8 * max(map(len, says.values()), default=0), len(drawn) * STEP + 14
    ink = "#b9c4bf" if dark else "#4b5652"
    out = []
    for b in drawn:
        y = lanes[b.name] * STEP + 16
        colour = COLOURS[lanes[b.name] % len(COLOURS)]
        end = max(b.head, b.fork_seq)
        thick = 4 if b.name == shown else 2
        begin = x[b.fork_seq]
        if b.parent is not None and b.parent in lanes:
            above = lanes[b.parent] * STEP + 16
            out.append(
                f'<path d="M{begin} {above} C{begin + 14} {above} {begin + 4} {y} {begin + 22} {y}" fill="none" '
                f'stroke="{colour}" stroke-width="{thick}"/>'
            )
            begin += 22
        last = max(x[end], begin)
        out.append(f'<line x1="{begin}" y1="{y}" x2="{last}" y2="{y}" stroke="{colour}" stroke-width="{thick}"/>')
        out.append(f'<circle cx="{last}" cy="{y}" r="{6 if b.name == shown else 4}" fill="{colour}"/>')
        weight = ' font-weight="600"' if b.name == shown else ""
        out.append(
            f'<text x="{names - 20}" y="{y + 4}" font-size="12" fill="{ink}"{weight}>{html.escape(says[b.name])}</text>'
        )
    alt = html.escape(f"{len(branches)} branches: " + ", ".join(b.name for b in drawn))
    return (
        f'<svg class="rc-tree-svg" role="img" aria-label="{alt}" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">{"".join(out)}</svg>'
    )


def _chosen(branches: list[Branch], shown: str | None) -> list[Branch]:
    """The branches that are drawn: all, or the newest with the ancestors of the one that is looked at."""
    if len(branches) <= MOST:
        return branches
    by_name = {b.name: b for b in branches}
    wanted: set[str] = set()
    at = by_name.get(shown or "")
    while at is not None:
        wanted.add(at.name)
        at = by_name.get(at.parent or "")
    for b in sorted(branches, key=lambda b: -b.updated_at):
        if len(wanted) >= MOST:
            break
        wanted.add(b.name)
    return [b for b in branches if b.name in wanted]


def draw_tree(branches: list[Branch], shown: str | None) -> None:
    st.image(tree(branches, shown, dark=st.context.theme.type == "dark"), width="content")
