"""Whose run this is.

An application says it in the config: `user_id`. LangGraph's server (`langgraph dev`, LangSmith Deployment) says it too: it
knows who is signed in, and that wins, because a client of the server may write any `user_id` into its request. Where nobody
is signed in the server passes an empty text, which means the same as no `user_id`: the user of the store's handle.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

__all__ = ["given_user", "user_of"]


def user_of(given: Mapping[str, Any] | None) -> Any:
    """The user that a run's `configurable` means; None for the handle's own."""
    given = given or {}
    signed_in = _signed_in()
    if signed_in is None:
        # A worker of the server gets it with the run. The server overwrites what a client puts there.
        signed_in = _named(given.get("langgraph_auth_user_id"))
    return signed_in if signed_in is not None else given_user(given)


def given_user(given: Mapping[str, Any]) -> Any:
    """What `user_id` says; None if it says nothing."""
    return _named(given.get("user_id"))


def _named(user: Any) -> Any:
    return None if isinstance(user, str) and not user else user


def _signed_in() -> Any:
    """Who is signed in to LangGraph's server, if we run in it. Requests for a thread's state, its copy or its deletion carry
    no user, so the server is asked."""
    server = sys.modules.get("langgraph_api.utils")
    try:
        request = server.get_auth_ctx() if server is not None else None
        return None if request is None else _named(server.get_user_id(request.user))  # type: ignore[union-attr]
    except AttributeError:  # not a public name of the server's: another version may lack it
        return None
