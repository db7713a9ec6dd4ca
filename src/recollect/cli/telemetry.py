"""`recollect telemetry`: what happened lately, from the files that never hold what was said."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

from .. import telemetry
from ..errors import InvalidInput
from . import output
from .session import ConversationIdOption, Session, command
from .store import PANEL, since_when


@command("telemetry", panel=PANEL)
def shown(
    s: Session,
    since: Annotated[str | None, typer.Option("--since", metavar="WHEN", help="Only what is newer: 7d, 12h, 2026-11-01, or milliseconds.")] = None,
    conversation: ConversationIdOption = None,
    lines: Annotated[bool, typer.Option("--lines", help="The events themselves, one line each, instead of a table.")] = False,
) -> None:  # fmt: skip
    """Show what happened: how often, how long it took, what went wrong. Numbers and pseudonyms; nothing of what was said."""
    told = telemetry.of(s.settings.but(opentelemetry=False), None if s.where is None else str(s.where), named=s.named)
    if told.folder is None:
        raise InvalidInput("A store in memory has no telemetry.")
    after = since_when(since)
    only = None
    if conversation is not None:
        found = s.find(conversation)
        only = {found.id, told.known_as(s.settings.user, found.id)}
    events = [
        e
        for e in told.read()
        if (after is None or e.get("at", 0) >= after) and (only is None or e.get("thread_id") in only)
    ]
    if s.json:
        output.emit({"folder": told.folder, "on": told.on, "events": events if lines else _rows(events)})
    elif lines:
        for e in events:
            output.emit(e, lines=True)
    else:
        _show(told, events)


def _rows(events: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for e in events:
        groups.setdefault(" ".join(str(e[k]) for k in ("event", "job", "error") if k in e), []).append(e)
    rows = []
    for name, found in sorted(groups.items()):
        times = sorted(float(e["latency_ms"]) for e in found if "latency_ms" in e)
        rows.append({
            "event": name, "count": len(found), "last_at": max(e.get("at", 0) for e in found),
            "p50_ms": _quantile(times, 0.5), "p95_ms": _quantile(times, 0.95),
        })  # fmt: skip
    return rows


def _quantile(times: list[float], share: float) -> float | None:
    return times[min(len(times) - 1, int(len(times) * share))] if times else None


def _show(told: telemetry.Telemetry, events: list[dict[str, Any]]) -> None:
    output.line(f"{told.folder} ({'on' if told.on else 'off'}; the setting `telemetry`)", style="dim")
    if not events:
        output.line("Nothing is noted.")
        return
    rows = [
        [
            r["event"], f"{r['count']:,}", output.when(r["last_at"]),
            *("–" if r[k] is None else f"{r[k]:,.1f} ms" for k in ("p50_ms", "p95_ms")),
        ]
        for r in _rows(events)
    ]  # fmt: skip
    output.show(output.table("What", "Times", "Last", "p50", "p95", rows=rows, right=["Times", "p50", "p95"]))
