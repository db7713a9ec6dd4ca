"""What the parsers of webhooks leave in a graph's `results`, one of each channel, and the key that it means."""

from __future__ import annotations

from typing import Any, NamedTuple


class Payload(NamedTuple):
    channel: str
    results: dict[str, Any]
    key: str


TELEGRAM = Payload(
    "telegram",
    {
        "telegram_events_parser": {
            "update_id": 734512901, "chat_id": -1001987654321, "chat_type": "supergroup", "text": "hello",
            "from": {"id": 55512, "username": "kim.b"}, "should_process": True,
        }
    },
    "telegram:-1001987654321",
)  # fmt: skip
WECOM_CS = Payload(
    "wecom_cs",
    {
        "wecom_cs_sync": {
            "open_kf_id": "wkAJ2GCAAASSm4_FhToWMFea0xAFfd3Q", "external_userid": "wmqfasd1e1927831123109rBAAAA",
            "content": "hello", "should_process": True,
        }
    },
    "wecom_cs:wkAJ2GCAAASSm4_FhToWMFea0xAFfd3Q:wmqfasd1e1927831123109rBAAAA",
)  # fmt: skip
WECOM_AIBOT = Payload(
    "wecom_aibot",
    {"wecom_ai_bot_events_parser": {"chat_type": "single", "user": "T0@acme.example", "content": "hello"}},
    "wecom_aibot:single:T0@acme.example",
)
WECOM_DM = Payload(
    "wecom_dm",
    {"wecom_events_parser": {"user": "li.wei", "content": "hello", "is_direct_message": True}},
    "wecom_dm:li.wei",
)
SLACK = Payload(
    "slack",
    {"slack_events_parser": {"team_id": "T02AB", "channel": "C0123", "user": "U9", "text": "hello"}},
    "slack:T02AB:C0123",
)
PAYLOADS = [TELEGRAM, WECOM_CS, WECOM_AIBOT, WECOM_DM, SLACK]
