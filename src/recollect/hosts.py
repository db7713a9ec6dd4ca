"""Nothing leaves the machine unless the user allowed that host by name.

An address is taken apart once, here, and what is connected to is what was checked: the host in its one spelling
(lower case, punycode, IP addresses normalised), the port, the path. A host is allowed when it is this machine, or when
the setting `allow_hosts` names exactly it: no wildcards, no suffixes, so `example.com` admits neither
`evil-example.com` nor `example.com.evil.com` nor `mail.example.com`. An entry with a port admits that port alone.
Names are not resolved: what the resolver says is not the user's word.
"""

from __future__ import annotations

from .errors import HostNotAllowed, InvalidInput, SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from ipaddress import IPv4Address, IPv6Address

    from .config import Settings

_PORTS = {"http": 80, "https": 443}


class Address:
    """An http(s) address, taken apart: connect to these, not to the text they came from."""

    __slots__ = ("host", "path", "port", "scheme")

    def __init__(self, scheme: str, host: str, port: int, path: str) -> None:
        self.scheme, self.host, self.port, self.path = scheme, host, port, path

    @property
    def is_here(self) -> bool:
        """Whether it is this machine."""
        if self.host == "localhost":
            return True
        ip = _ip(self.host)
        return ip is not None and ip.is_loopback

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def parse(url: str) -> Address:
    """Take an address apart; InvalidInput when two programs could read it differently."""
    from urllib.parse import urlsplit

    if not isinstance(url, str) or not url.isprintable() or "\\" in url or " " in url:
        raise InvalidInput(f"{url!r} is no address: write http(s)://host[:port]/path.")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as e:
        raise InvalidInput(f"{url!r} is no address: {e}.") from None
    if parts.scheme not in _PORTS or not host:
        raise InvalidInput(f"{url!r} is no address: write http(s)://host[:port]/path.")
    if "@" in parts.netloc:
        raise InvalidInput("An address must not carry a name or password before its host: pass the key by itself.")
    if parts.query or parts.fragment:
        raise InvalidInput(f"{url!r}: an address ends with its path, without ? or #.")
    name = _spelling(host, bracketed=parts.netloc.startswith("["))
    if name is None:
        raise InvalidInput(f"{url!r}: {host!r} is no host.")
    return Address(parts.scheme, name, _PORTS[parts.scheme] if port is None else port, parts.path)


def check(url: str, settings: Settings) -> Address:
    """The address, if something may be sent there; else HostNotAllowed."""
    return admit(parse(url), settings.allow_hosts)


def admit(address: Address, allowed: Iterable[str]) -> Address:
    """See `check`."""
    entries = [_entry(text) for text in allowed]  # a misspelt entry is told even where it is not needed
    if address.is_here or (address.host, None) in entries or (address.host, address.port) in entries:
        return address
    raise HostNotAllowed(
        f"Nothing is sent to {address.host!r}: it is not this machine and not on the list of allowed hosts. To allow it, "
        f'say allow_hosts=["{address.host}"] when opening, or RECOLLECT_ALLOW_HOSTS={address.host}.'
    )


def _entry(text: str) -> tuple[str, int | None]:
    """(host, port or None for any) of an entry of the list."""
    host, port, is_whole = text, None, True
    if text.startswith("["):
        host, closing, rest = text[1:].partition("]")
        port = rest[1:] if rest else None
        is_whole = closing == "]" and rest[:1] in ("", ":")
    elif text.count(":") == 1:
        host, _, port = text.partition(":")
    name = _spelling(host, bracketed=":" in host) if is_whole else None
    if name is None or (port is not None and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536)):
        raise SettingsError(
            f"allow_hosts: {text!r} is no host. Write the host alone, or host:port; each host in full, no wildcards."
        )
    return name, None if port is None else int(port)


def _spelling(host: str, *, bracketed: bool) -> str | None:
    """The one spelling of a host, as it will be asked for; None if it is none."""
    if bracketed:
        ip = _ip(host)
        return ip.compressed if ip is not None and ip.version == 6 and "%" not in host else None
    try:
        name = host.encode("idna").decode("ascii").lower()  # what Python's sockets would do with it
    except UnicodeError:
        return None
    name = name.removesuffix(".")
    if not name or not all(
        label and len(label) <= 63 and label.replace("-", "").replace("_", "").isalnum() for label in name.split(".")
    ):
        return None
    ip = _ip(name)
    return name if ip is None else ip.compressed


def _ip(host: str) -> IPv4Address | IPv6Address | None:
    import ipaddress

    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
