"""A wire between a store and its server that can be cut at the worst moment: while a COMMIT is under way.

"before": the COMMIT never reaches the server. "after": the server does it, and the answer is lost. To the client both
look the same, which is why it must ask. A COMMIT can also be held, for the server to crash meanwhile.
"""

from __future__ import annotations

import contextlib
import random
import re
import selectors
import socket
import threading
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    def __init__(self, url: str, rng: random.Random, chance: float) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname or "127.0.0.1", parts.port or 5432)
        self._rng = rng
        self.chance = chance
        self.cut: dict[str, int] = {"before": 0, "after": 0}
        self.hold = False
        """Stop the next COMMIT on its way and keep it: `held` says that it is here, `release` lets its connection go."""
        self.held = threading.Event()
        self.release = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._closing = False
        port = self._listener.getsockname()[1]
        login = parts.netloc.rpartition("@")[0]
        self.url = urlunsplit(parts._replace(netloc=f"{login}@127.0.0.1:{port}"))
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while not self._closing:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        prepared: set[bytes] = set()
        with (
            client,
            contextlib.suppress(OSError),
            socket.create_connection(self._server) as server,
            selectors.DefaultSelector() as ready,
        ):
            ready.register(client, selectors.EVENT_READ)
            ready.register(server, selectors.EVENT_READ)
            while True:
                for key, _ in ready.select():
                    if key.fileobj is server:
                        data = server.recv(65536)
                        if not data:
                            return
                        client.sendall(data)
                        continue
                    data = client.recv(65536)
                    if not data:
                        return
                    prepared |= set(re.findall(rb"(_pg3_\d+)\0commit\0", data))
                    commits = b"commit\0" in data or any(b"\0" + name + b"\0" in data for name in prepared)
                    if commits and self.hold:
                        self.hold = False
                        self.held.set()
                        self.release.wait(60)
                        return
                    if commits and self._rng.random() < self.chance:
                        if self._rng.random() < 0.5:
                            self.cut["before"] += 1
                            return
                        self.cut["after"] += 1
                        server.sendall(data)
                        server.recv(65536)  # it is done; nobody will hear of it
                        return
                    server.sendall(data)

    def close(self) -> None:
        self._closing = True
        self._listener.close()
