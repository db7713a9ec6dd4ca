"""How the client of the sidecar connects: each connection is proved to lead to this user's own sidecar, then handed to httpx.

The proof (`peer`) is part of connecting, so there is no request that could go before it, and none needs a token. A client
that was given no address looks it up for each connection: after a restart it meets the new sidecar by itself.

httpx is imported when a transport is made, not when this module is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import peer
from .errors import NotFound
from .listening import SidecarError

if TYPE_CHECKING:
    import httpx

    from .config import Settings

UNPROVEN = (
    "What answers at {where} did not prove to be your sidecar, and nothing was sent to it. The token is another at every start "
    "of `recollect serve`; if yours is of this start, another program has taken the place."
)

LIMITS: dict[str, Any] = {
    "max_connections": 100,
    "max_keepalive_connections": 20,
    "keepalive_expiry": 5.0,
}  # httpx's own


class Way:
    """Where a sidecar is, and with which token it proves itself: as it was given, or as its address in the data folder says."""

    def __init__(self, url: str | None, uds: str | None, token: str | None, settings: Settings | None) -> None:
        self._settings = settings
        self._is_looked_up = url is None and uds is None
        self.uds, self._token = uds, token
        self.url = (url or "http://localhost").rstrip("/")
        if self._is_looked_up:
            found = self._look_up()
            self.url = "http://localhost" if found.socket else found.url
        elif token is None:
            from .server import place

            self._token = place.read_token(place.token_file(self._loaded(), self.url, uds))

    def _loaded(self) -> Settings:
        from .config import Settings

        self._settings = self._settings or Settings.load()
        return self._settings

    def _look_up(self) -> peer.Address:
        from .server import place

        return place.read_address(self._loaded())

    def now(self, unreachable: type[Exception]) -> tuple[peer.Address | None, str | None]:
        """(the address that was looked up, or None where one was given; the path of a UNIX socket, if it is one)."""
        if not self._is_looked_up:
            return None, self.uds
        try:
            found = self._look_up()
        except NotFound as e:
            raise unreachable(str(e)) from None
        return found, found.socket or None

    def _key(self, address: peer.Address | None) -> str:
        if address is None:
            assert self._token is not None
            return self._token
        from .server import place

        return place.read_token(address.token_file)

    def is_stale(self, address: peer.Address | None) -> None:
        """Nobody answers at an address that was looked up, or a stranger does."""
        if address is not None:
            from . import config

            peer.forget(config.data_dir(self._loaded()), address)

    def challenge(self, address: peer.Address | None, path: str | None, host: str, port: int, line: Any) -> Any:
        """Look at who is at the other end of a socket, by the kernel's word where there is one. Returns the challenge that is
        still to be made, if one is."""
        if path and peer.KNOWS_PEERS and not peer.is_ours(line):
            raise peer.Unproven("Another account listens there.")
        if address is not None and address.socket:
            return None
        name = "localhost" if path else f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        return peer.handshake(self._key(address), name, peer.end_of(line.getpeername()))

    def failed(self, address: peer.Address | None, e: BaseException) -> BaseException:
        """What to raise when a connection was made and not proved."""
        if not isinstance(e, (peer.Unproven, OSError)):
            return e
        self.is_stale(address)
        where = self.uds or self.url
        return SidecarError(UNPROVEN.format(where=where), 401, "unproven")


def transport(way: Way) -> httpx.HTTPTransport:
    """A transport for sync code, each of whose connections is proved."""
    import select
    import socket

    import httpcore
    import httpx

    class Unix(httpcore.NetworkStream):
        """A UNIX socket: httpcore's own leaves it open when nobody listens there."""

        def __init__(self, path: str, timeout: float | None) -> None:
            self.line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                self.line.settimeout(timeout)
                self.line.connect(path)
            except OSError as e:
                self.line.close()
                raise (httpcore.ConnectTimeout if isinstance(e, TimeoutError) else httpcore.ConnectError)(e) from e

        def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
            try:
                self.line.settimeout(timeout)
                return self.line.recv(max_bytes)
            except OSError as e:
                raise (httpcore.ReadTimeout if isinstance(e, TimeoutError) else httpcore.ReadError)(e) from e

        def write(self, buffer: bytes, timeout: float | None = None) -> None:
            try:
                self.line.settimeout(timeout)
                self.line.sendall(buffer)
            except OSError as e:
                raise (httpcore.WriteTimeout if isinstance(e, TimeoutError) else httpcore.WriteError)(e) from e

        def close(self) -> None:
            self.line.close()

        def get_extra_info(self, info: str) -> Any:
            if info == "is_readable":
                look = select.poll()
                look.register(self.line, select.POLLIN)
                return bool(look.poll(0))
            return self.line if info == "socket" else None

    class Backend(httpcore.NetworkBackend):
        real = httpcore.SyncBackend()

        def connect_tcp(self, host: str, port: int, timeout: float | None = None, *_: Any, **__: Any) -> Any:
            address, path = way.now(httpcore.ConnectError)
            try:
                stream = Unix(path, timeout) if path else self.real.connect_tcp(host, port, timeout)
            except httpcore.ConnectError:
                way.is_stale(address)
                raise
            try:
                line = stream.get_extra_info("socket")
                challenge = way.challenge(address, path, host, port, line)
                if challenge is not None:
                    peer.answered(line, challenge)
            except BaseException as e:
                stream.close()
                raise way.failed(address, e) from None
            return stream

    made = httpx.HTTPTransport(trust_env=False)
    assert isinstance(made._pool, httpcore.ConnectionPool)  # nothing is sent should httpx keep it elsewhere one day
    made._pool = httpcore.ConnectionPool(network_backend=Backend(), **LIMITS)
    return made


def async_transport(way: Way) -> httpx.AsyncHTTPTransport:
    """The same for async code."""
    import asyncio

    import httpcore
    import httpx

    class Backend(httpcore.AsyncNetworkBackend):
        real = httpcore.AnyIOBackend()

        async def connect_tcp(self, host: str, port: int, timeout: float | None = None, *_: Any, **__: Any) -> Any:
            address, path = way.now(httpcore.ConnectError)
            try:
                if path:
                    stream = await self.real.connect_unix_socket(path, timeout)
                else:
                    stream = await self.real.connect_tcp(host, port, timeout)
            except httpcore.ConnectError:
                way.is_stale(address)
                raise
            try:
                challenge = way.challenge(address, path, host, port, stream.get_extra_info("socket"))
                if challenge is not None:
                    async with asyncio.timeout(peer.SECONDS):
                        await self.answered(stream, challenge)
            except BaseException as e:
                await stream.aclose()
                raise way.failed(address, e) from None
            return stream

        async def answered(self, stream: httpcore.AsyncNetworkStream, challenge: peer.Handshake) -> None:
            said = next(challenge)
            while True:
                await stream.write(said)
                answer = b""
                while not peer.is_whole(answer):
                    piece = await stream.read(4096)
                    if not piece:
                        raise peer.Unproven("It did not answer the challenge.")
                    answer += piece
                try:
                    said = challenge.send(answer)
                except StopIteration:
                    return

    made = httpx.AsyncHTTPTransport(trust_env=False)
    assert isinstance(
        made._pool, httpcore.AsyncConnectionPool
    )  # nothing is sent should httpx keep it elsewhere one day
    made._pool = httpcore.AsyncConnectionPool(network_backend=Backend(), **LIMITS)
    return made
