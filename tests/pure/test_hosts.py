"""What may be sent to: this machine, and hosts that the settings name, each exactly."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollect import errors, hosts
from recollect.config import Settings

ALLOWED = Settings(allow_hosts=("example.com", "api.example.org:8443", "[2001:db8::1]:80", "xn--bcher-kva.example"))


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/v1",
        "http://EXAMPLE.com:9999/v1",
        "https://example.com./v1",
        "https://api.example.org:8443/v1",
        "http://[2001:DB8:0:0::1]/v1",
        "https://bücher.example/",
        "https://BÜCHER.example/",
        "http://localhost:11434/v1",
        "http://127.0.0.1/",
        "http://127.3.2.1:80/",
        "http://[::1]:8080/v1",
    ],
)
def test_allowed(url: str) -> None:
    hosts.check(url, ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil-example.com/",
        "https://example.com.evil.com/",
        "https://mail.example.com/",
        "https://example.co/",
        "https://xexample.com/",
        "https://api.example.org/",  # allowed on another port only
        "https://api.example.org:8444/",
        "https://[2001:db8::1]/",
        "https://[2001:db8::2]:80/",
        "https://exаmple.com/",  # a Cyrillic a
        "https://xn--exmple-4nf.com/",
        "https://localhost.evil.com/",
        "https://foo.localhost/",
        "http://0.0.0.0/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://169.254.169.254/latest",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:8.8.8.8]/",
        "http://[::]/",
    ],
)
def test_refused(url: str) -> None:
    with pytest.raises(errors.HostNotAllowed, match="allow_hosts"):
        hosts.check(url, ALLOWED)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com",
        "//example.com/",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https://",
        "https:///path",
        "https://example.com@evil.com/",
        "https://user:secret@example.com/",
        "https://evil.com\\@example.com/",
        "https://evil.com\\.example.com/",
        "https://example.com /",
        "https://example.com\n.evil.com/",
        "https://example.com\t/",
        "https://example.com\x00/",
        "https://exam%70le.com/",
        "https://example..com/",
        "https://[example.com]/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://example.com:port/",
        "https://example.com:99999/",
        "https://example.com/?next=https://evil.com",
        "https://example.com/#x",
        "https://evil.com℀example.com/",
        f"https://{'a' * 64}.com/",
    ],
)
def test_no_address(url: str) -> None:
    with pytest.raises(errors.InvalidInput):
        hosts.check(url, ALLOWED)


@pytest.mark.parametrize(
    "entry", ["*", "*.example.com", "https://example.com", "a@b", "a b", "", "a:0", "a:x", "a/b", "[::1", "a:"]
)
def test_an_entry_that_is_no_host_is_told(entry: str) -> None:
    with pytest.raises(errors.SettingsError, match="allow_hosts"):
        hosts.check("http://localhost/", Settings(allow_hosts=(entry,)))


def test_nothing_is_allowed_unless_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(errors.HostNotAllowed):
        hosts.check("https://example.com/", Settings())
    monkeypatch.setenv("RECOLLECT_ALLOW_HOSTS", "example.com, other.example")
    hosts.check("https://example.com/", Settings.load())


LABEL = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=12)
HOST = st.lists(LABEL, min_size=1, max_size=4).map(".".join)


@given(allowed=HOST, asked=HOST)
def test_only_the_very_host(allowed: str, asked: str) -> None:
    settings = Settings(allow_hosts=(allowed,))
    try:
        address = hosts.check(f"https://{asked}/v1", settings)
    except (errors.HostNotAllowed, errors.InvalidInput, errors.SettingsError):
        assert asked != allowed or _is_no_host(allowed)
    else:
        assert address.host == allowed or address.is_here


@given(before=st.text(max_size=12), after=st.text(max_size=12))
def test_nothing_around_an_allowed_host_makes_another_pass(before: str, after: str) -> None:
    """Whatever is put around the name: it is refused, or what would be connected to is the allowed host itself."""
    assume(before or after)
    try:
        address = hosts.check(f"https://{before}example.com{after}", Settings(allow_hosts=("example.com",)))
    except (errors.HostNotAllowed, errors.InvalidInput):
        return
    assert address.host == "example.com" or address.is_here


@given(st.text(max_size=60))
def test_any_text_is_refused_or_understood(text: str) -> None:
    for url in (text, f"http://{text}", f"https://{text}/v1"):
        try:
            address = hosts.check(url, Settings())
        except (errors.HostNotAllowed, errors.InvalidInput):
            continue
        assert address.is_here


def _is_no_host(name: str) -> bool:
    try:
        hosts.parse(f"https://{name}/")
    except errors.InvalidInput:
        return True
    return False
