"""The page Settings & health: what is recorded, handed out and learned, what goes and when, and how the store is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from ..config import Settings, config_file, described
from ..errors import RecollectError
from ..model import Stats
from ..redact.families import catalogue
from . import look, preferences, state
from .state import guarded

RULE = "always-allow"
"""The tag of a memory that says what may be done without asking."""
TABS = ("Recording", "Memory", "Privacy", "Retention", "Model", "Health")


def page() -> None:
    st.subheader("Settings & health", anchor=False)
    tab = st.segmented_control(
        "Section", TABS, default=TABS[0], required=True, key="settings-tab", label_visibility="collapsed"
    )
    {
        "Recording": _recording, "Memory": _memory, "Privacy": _privacy, "Retention": _retention, "Model": _model,
        "Health": _health,
    }[tab or TABS[0]]()  # fmt: skip
    if tab != "Health":
        look.quiet(
            f"Saved in {config_file()}, for every program that uses Recollect here. Environment variables win over it."
        )


def _now() -> Settings:
    return state.shared().store.settings


@st.cache_data(show_spinner=False)
def _help() -> dict[str, str]:
    return described()


# -- one widget a setting, saved as it is changed


def _switch(name: str, label: str) -> None:
    fixed = preferences.is_fixed(name)
    key = f"set-{name}"
    st.toggle(
        label, value=bool(getattr(_now(), name)), key=key, disabled=fixed, on_change=_save, args=(name, key),
        help=_help()[name] + (" Decided by the environment." if fixed else ""),
    )  # fmt: skip


def _number(name: str, label: str, *, step: float = 1) -> None:
    key, value = f"set-{name}", getattr(_now(), name)
    st.number_input(
        label, value=value, step=type(value)(step), min_value=type(value)(0), key=key, disabled=preferences.is_fixed(name),
        on_change=_save, args=(name, key), help=_help()[name], width=320,
    )  # fmt: skip


def _text(name: str, label: str, placeholder: str) -> None:
    key = f"set-{name}"
    st.text_input(
        label, value=getattr(_now(), name) or "", key=key, placeholder=placeholder, disabled=preferences.is_fixed(name),
        on_change=_save, args=(name, key), help=_help()[name], max_chars=500,
    )  # fmt: skip


def _list(name: str, label: str, placeholder: str) -> None:
    key = f"set-{name}"
    st.text_input(
        label, value=", ".join(getattr(_now(), name)), key=key, placeholder=placeholder, max_chars=2_000,
        disabled=preferences.is_fixed(name), on_change=_save, args=(name, key, True), help=_help()[name],
    )  # fmt: skip


@guarded
def _save(name: str, key: str, several: bool = False) -> None:
    value: Any = st.session_state[key]
    if several and isinstance(value, str):
        value = [v.strip() for v in value.split(",") if v.strip()]
    elif isinstance(value, str):
        value = value.strip() or None
    if name == "allow_hosts":
        from ..hosts import admit, parse

        admit(parse("http://localhost"), value)  # a misspelt entry is told now
    preferences.save({name: value})
    state.reopen()
    why = _no_model() if name in ("chat_model", "chat_model_url", "allow_hosts") else None
    if why is not None:
        state.tell(f"Saved, but it cannot be used yet: {why}")
    else:
        state.tell("Saved.", "success")


def _no_model() -> str | None:
    """Why the model that the settings name cannot be had, if it cannot: told where it was typed, and not at the first
    question. Nobody is asked anything; whether its server answers is seen then."""
    from ..langgraph.models import chat_model

    settings = Settings.load()
    if not settings.chat_model:
        return None
    try:
        chat_model(settings.chat_model, settings, url=settings.chat_model_url)
    except RecollectError as e:
        return str(e)
    return None


# -- sections


def _recording() -> None:
    st.markdown("**What is written down**")
    _switch("enabled", "Keep anything at all on disk")
    _switch("events", "Events of workflows")
    _switch("ledger", "Tasks and their states")
    _switch("reasoning_traces", "Reasoning of models")
    _switch("summaries", "Summarize long conversations")
    _switch("artifacts_outside_workspace", "Artifacts outside of their workspace")
    _switch("index_outside_workspace", "Find what names files outside of its workspace")


def _memory() -> None:
    st.markdown("**What is learned, and handed out**")
    _switch("memory_extract", "Learn from what you say")
    _switch("context", "Hand what is known to models (injection)")
    _number("context_memories", "Most memories in one answer")
    _number("context_excerpts", "Most excerpts in one answer")
    _number("memory_max_items_per_namespace", "Most memories in one scope")
    look.quiet("For a single conversation, injection is switched in its menu on the page Chat.")
    _rules()


def _rules() -> None:
    st.markdown("**Always-Allow rules**")
    look.quiet(
        "What an agent may do without asking you. You write them, agents only read them, and you can revoke them."
    )
    rules = state.store().memories(tags=[RULE], limit=100)
    for m in rules:
        with st.container(border=True, horizontal=True, vertical_alignment="center", key=f"rule-{m.id}"):
            st.markdown(look.plain(m.content), width="stretch")
            look.quiet(look.ago(m.created_at))
            st.button("Revoke", key=f"revoke-{m.id}", icon=":material/block:", on_click=_revoke, args=(m.id, m.content))
    if not rules:
        look.quiet("There is none.")
    st.text_input(
        "A new rule",
        key="rule-new",
        placeholder="For example: run the tests without asking",
        on_change=_allow,
        max_chars=500,
    )


@guarded
def _allow() -> None:
    text = str(st.session_state.get("rule-new") or "").strip()
    if text:
        state.store().remember(text, kind="preference", importance=0.9, tags=[RULE], pinned=True)
        st.session_state["rule-new"] = ""


@guarded
def _revoke(id: str, content: str) -> None:
    store = state.store()
    store.forget(id)
    state.offer_undo(f"Revoked: {look.label(content, 80)}", lambda: store.undo(id))


def _privacy() -> None:
    st.markdown("**Secrets**")
    _switch("redact", "Replace secrets before anything is written")
    families = dict(catalogue())
    st.multiselect(
        "Families that are let through", list(families), default=[f for f in _now().redact_off if f in families],
        key="set-redact_off", format_func=lambda f: f"{f}: {look.short(families[f], 60)}", placeholder="none",
        disabled=preferences.is_fixed("redact_off"), on_change=_save, args=("redact_off", "set-redact_off", True),
        help=_help()["redact_off"],
    )  # fmt: skip
    _switch("context_sensitive", "Use what had a secret in it, too (the secret itself is gone)")
    st.markdown("**Where something may be sent**")
    _list("allow_hosts", "Allowed hosts", "none: nothing leaves this machine")


def _retention() -> None:
    st.markdown("**What goes by itself**")
    _number("retention_days", "Days for what hooks and HTTP recorded (0: for ever)")
    _number("retention_application_days", "Days for conversations of the application (0: for ever)")
    _number("memory_low_importance_ttl_days", "Days for unimportant memories")
    st.markdown("**What would go now**")
    plan = state.store().retain(dry_run=True)
    if not plan.expiries:
        look.empty("check_circle", "Nothing would go", "Everything is young or important enough, or pinned.")
        return
    st.dataframe(
        [
            {"What": e.type, "Title": e.title or "untitled", "Events": e.events, "Why": e.why}
            for e in plan.expiries[:500]
        ],
        hide_index=True, key="retention-plan",
    )  # fmt: skip
    look.quiet(f"{look.count(len(plan.expiries), 'thing')} would go; {plan.kept:,} kept by a pin.")
    sure = st.checkbox("I have looked at the list", key="retain-sure")
    st.button("Let it go now", key="retain-go", disabled=not sure, on_click=_retain)


@guarded
def _retain() -> None:
    done = state.store().retain()
    state.tell(f"{look.count(len(done.expiries), 'thing')} went.", "success")


def _model() -> None:
    st.markdown("**The model that answers**")
    _text("chat_model", "Model", "none: answers come from memory alone")
    _text("chat_model_url", "Where it is asked", "its provider's own address")
    look.quiet(
        "For a model on this machine: ollama:llama3.2 at http://localhost:11434. Others need an allowed host (Privacy)."
    )
    st.markdown("**Search by meaning**")
    _switch("semantic", "Search by meaning as well as by words")
    look.quiet(f"Embedder: {_embedder()}")


def _embedder() -> str:
    from ..search.embed import is_installed

    if not _now().semantic:
        return "none, it is switched off"
    return (
        "WordLlama, 256 dimensions, on this machine" if is_installed() else "none is installed (the extra `semantic`)"
    )


# -- health


def _health() -> None:
    store = state.store()
    stats = store.stats(by="day")
    with st.container(horizontal=True, key="figures"):
        st.metric("Conversations", f"{stats.conversations:,}", border=True)
        st.metric("Events", f"{stats.events:,}", border=True)
        st.metric("Memories", f"{stats.memories.get('active', 0):,}", border=True)
        st.metric("On disk", look.size(stats.bytes), border=True)
    _quality(stats)
    _growth(stats)
    jobs = ", ".join(f"{n:,} {name.replace('_', ' ')}" for name, n in stats.jobs.items() if n) or "none waiting"
    look.quiet(f"{store.location} · schema {stats.schema} · background work: {jobs}")
    for error in stats.job_errors[:3]:
        st.warning(look.plain(error))
    _doctor()


def _quality(stats: Stats) -> None:
    m = stats.memories
    active = max(1, m.get("active", 0))
    with st.container(horizontal=True, key="quality"):
        st.metric(
            "Duplicates",
            f"{100 * m.get('duplicates', 0) / active:.0f} %",
            border=True,
            help="Memories that say the same as another.",
        )
        st.metric(
            "Stale", f"{100 * m.get('stale', 0) / active:.0f} %", border=True, help="True until a day that has passed."
        )
        st.metric("To review", f"{m.get('quarantined', 0):,}", border=True)
        st.metric("Never used", f"{m.get('never_recalled', 0):,}", border=True)


def _growth(stats: Stats) -> None:
    st.markdown("**Growth**")
    if not stats.rows:
        look.quiet("Nothing was recorded yet.")
        return
    total, days, sums = 0, [], []
    for row in sorted(stats.rows, key=lambda r: r.key):
        total += row.events
        days.append(row.key)
        sums.append(total)
    draw = st.area_chart if len(days) > 2 else st.bar_chart  # an area of one day is nothing
    draw(
        {"day": days, "events": sums},
        x="day",
        y="events",
        height=220,
        y_label="events in all",
        x_label="",
        color=look.GREEN,
    )


def _doctor() -> None:
    st.markdown("**Doctor**")
    if not st.button("Look at everything now", key="doctor", icon=":material/stethoscope:"):
        look.quiet("Reads the file, its pages and every event back, and says what to do about what it finds.")
        return
    location = state.store().location
    with st.spinner("Reading everything back…"):
        if "://" in location or location == "memory":
            found = state.store().verify()
            checks = [
                (
                    "events",
                    "ok" if found.ok else "bad",
                    f"{found.events:,} in {look.count(found.conversations, 'conversation')}",
                    "",
                )
            ]
            problems = list(found.problems)
        else:
            from ..cli.examination import examine_file

            report = examine_file(Path(location))
            checks = [(c.name, c.state, c.found, c.fix) for c in report.checks]
            problems = list(report.problems)
    colours = {"ok": "green", "note": "orange", "bad": "red", "skipped": "gray"}
    with st.container(border=True, gap="xsmall", key="report"):
        for name, how, what, fix in checks:
            st.markdown(f":{colours.get(how, 'gray')}-badge[{look.plain(name)}] {look.plain(what)}")
            if fix and how != "ok":
                look.quiet(f"→ {fix}")
    if problems:
        st.error(f"{look.count(len(problems), 'problem')} found.")
        st.dataframe([{"Where": p.where, "What": p.what, "What to do": p.fix} for p in problems[:100]], hide_index=True)
    else:
        st.success("All is well.")
