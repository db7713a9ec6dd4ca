"""The sidecar from its start to its end.

On SIGTERM or Ctrl-C it stops accepting, lets the readers of live updates go, writes what it was handed, and closes: within
five seconds, mostly at once.
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable

import apsw

from ..config import Settings
from ..peer import Address
from ..store import Store
from . import place
from .app import create_app
from .guard import Limits
from .listen import Listening, Server

PORT = place.PORT
CACHE_BYTES = 24_000_000
TURN_SECONDS = 0.0005


def serve(
    store: Store,
    settings: Settings,
    *,
    listening: Listening,
    token: str,
    token_file: str,
    workspace: str | None = None,
    limits: Limits | None = None,
    ready: Callable[[], None] = lambda: None,
) -> None:
    """Serve until a signal comes. The store and the sockets are closed by the caller."""
    app = create_app(store, token=token, hosts=listening.hosts, workspace=workspace, limits=limits)
    address = Address(listening.url, listening.uds, listening.own_path, token_file, store.user, store.location)

    def told() -> None:
        place.write_address(settings, address)
        ready()

    # Many threads take turns here, and some compute: in 5 ms turns, which are Python's own, an append waits for several.
    turns = sys.getswitchinterval()
    sys.setswitchinterval(TURN_SECONDS)
    # And each thread has a connection, whose cache grows with the store: all of them together stay within this.
    caches = apsw.soft_heap_limit(CACHE_BYTES)
    # What was imported stays: looked through for garbage again and again, it stopped everything for 50 ms each time.
    gc.collect()
    gc.freeze()
    # uvicorn raises the signal once more when it is done, which would end the process before anything is put away.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        Server(app, ready=told, own_path=listening.own_path).run(sockets=listening.sockets)
    except KeyboardInterrupt:
        pass  # the usual way to end it
    finally:
        place.forget_address(settings, address)
        signal.signal(signal.SIGTERM, before)
        sys.setswitchinterval(turns)
        gc.unfreeze()
        apsw.soft_heap_limit(caches)
