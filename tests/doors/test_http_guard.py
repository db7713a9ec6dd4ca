"""Who may speak to the sidecar: nobody without the token, no web page, nothing too large, too slow or not declared."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sidecar import TOKEN, Answer, Sidecar, running

import recollect
from recollect.errors import NotFound, Refused
from recollect.server import guard, place
from recollect.server.guard import Limits

LIMITS = Limits(body=100_000, imported=200_000, idle_seconds=60, body_seconds=60)
NOTE = {"type": "note", "session_id": "s", "content": "x"}


@pytest.fixture(scope="module")
def sidecar() -> Iterator[Sidecar]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard.Protocol, "head_seconds", 60)
        patch.setattr(guard.Protocol, "stranger_seconds", 60)
        with (
            recollect.open(":memory:", user="alex", semantic=False, background=False) as store,
            running(store, limits=LIMITS) as made,
        ):
            yield made


@pytest.fixture
def hasty() -> Iterator[Sidecar]:
    """One that does not wait for a body. The other does: on a busy machine we, too, may say nothing for a second."""
    limits = LIMITS._replace(idle_seconds=0.4, body_seconds=0.8)
    with (
        recollect.open(":memory:", user="alex", semantic=False, background=False) as store,
        running(store, limits=limits) as made,
    ):
        yield made


def every_route(sidecar: Sidecar) -> list[tuple[str, str]]:
    """(method, path) of all that the application answers to, whether or not the schema shows it."""
    found = []
    routes = list(sidecar.api.routes)
    while routes:
        route = routes.pop()
        routes += (
            getattr(route, "routes", None) or getattr(getattr(route, "original_router", None), "routes", None) or []
        )
        for method in getattr(route, "methods", None) or ():
            found.append((method, re.sub(r"\{.*?\}", "x", route.path)))
    return sorted(set(found))


def test_without_the_token_every_route_answers_401_and_nothing_else(sidecar: Sidecar) -> None:
    routes = every_route(sidecar)
    schema = sidecar.ask("GET", "/openapi.json").json["paths"]
    documented = {(m.upper(), re.sub(r"\{.*?\}", "x", p)) for p, item in schema.items() for m in item}
    assert len(documented) >= 21
    assert documented <= set(routes), "every documented route is among them"
    assert ("GET", "/openapi.json") in routes
    for method, path in [
        *routes,
        ("GET", "/none"),
        ("OPTIONS", "/memory/record"),
        ("TRACE", "/"),
        ("PUT", "/memory/pin"),
    ]:
        for token in (None, "", "wrong", TOKEN[:-1], TOKEN + "x", TOKEN.upper()):
            got = sidecar.ask(method, path, NOTE if method == "POST" else None, token=token)
            assert got.status == 401, (method, path, token)
            assert got.headers["www-authenticate"] == "Bearer"
            if method != "HEAD":
                assert got.code == "unauthorized"
    assert sidecar.store.conversations() == []


def head(line: str, *headers: str, token: bool = True, host: str | None = None, port: int = 0) -> bytes:
    own = [f"Host: {host or f'127.0.0.1:{port}'}"] if host != "" else []
    auth = [f"Authorization: Bearer {TOKEN}"] if token else []
    return "\r\n".join([line, *own, *auth, *headers, "Connection: close", "", ""]).encode()


HOSTILE: dict[str, tuple[int, tuple[str, str, dict[str, str]]]] = {
    # -- another host: DNS rebinding
    "a host of another site": (421, ("GET", "/memory/stats", {"Host": "evil.example"})),
    "a host with our port": (421, ("GET", "/memory/stats", {"Host": "evil.example:PORT"})),
    "our name without the port": (421, ("GET", "/memory/stats", {"Host": "127.0.0.1"})),
    "our name with another port": (421, ("GET", "/memory/stats", {"Host": "127.0.0.1:1"})),
    "our name in other letters": (421, ("GET", "/memory/stats", {"Host": "LOCALHOST:PORT"})),
    "our name with a dot": (421, ("GET", "/memory/stats", {"Host": "localhost.:PORT"})),
    "our name with a tail": (421, ("GET", "/memory/stats", {"Host": "127.0.0.1:PORT.evil.example"})),
    "all interfaces": (421, ("GET", "/memory/stats", {"Host": "0.0.0.0:PORT"})),
    "a forwarded host": (421, ("GET", "/memory/stats", {"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1:PORT"})),
    # -- a web page
    "a page's origin": (403, ("POST", "/memory/record", {"Origin": "https://evil.example"})),
    "the null origin": (403, ("POST", "/memory/record", {"Origin": "null"})),
    "a page on another local port": (403, ("POST", "/memory/record", {"Origin": "http://127.0.0.1:3000"})),
    "our origin by another name": (403, ("POST", "/memory/record", {"Origin": "http://localhost:PORT"})),
    "our origin by https": (403, ("GET", "/memory/stats", {"Origin": "https://127.0.0.1:PORT"})),
    "a fetch across sites": (403, ("GET", "/memory/stats", {"Sec-Fetch-Site": "cross-site"})),
    "a fetch of the same site": (403, ("GET", "/memory/stats", {"Sec-Fetch-Site": "same-site"})),
    "a fetch from nowhere": (403, ("GET", "/memory/stats", {"Sec-Fetch-Site": "elsewhere"})),
    "a preflight": (403, ("OPTIONS", "/memory/record", {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"})),
    # -- the token in the wrong place
    "basic authentication": (401, ("GET", "/memory/stats", {"Authorization": "Basic " + TOKEN})),
    "the bare token": (401, ("GET", "/memory/stats", {"Authorization": TOKEN})),
    "a token in a cookie": (401, ("GET", "/memory/stats", {"Authorization": "", "Cookie": f"token={TOKEN}"})),
    "a token in the URL": (401, ("GET", f"/memory/stats?token={TOKEN}", {"Authorization": ""})),
    "a token in both": (400, ("GET", f"/memory/search?q={TOKEN}", {})),
    # -- not declared as JSON
    "a form": (415, ("POST", "/memory/record", {"Content-Type": "application/x-www-form-urlencoded"})),
    "plain text": (415, ("POST", "/memory/record", {"Content-Type": "text/plain"})),
    "a file": (415, ("POST", "/memory/record", {"Content-Type": "multipart/form-data; boundary=x"})),
    "nothing declared": (415, ("POST", "/memory/record", {"Content-Type": ""})),
    "JSON in another charset": (415, ("POST", "/memory/record", {"Content-Type": "application/json; charset=utf-16"})),
    "almost JSON": (415, ("POST", "/memory/record", {"Content-Type": "application/jsonx"})),
    "JSON where lines belong": (415, ("POST", "/memory/import", {"Content-Type": "application/json"})),
    "lines where JSON belongs": (415, ("POST", "/memory/record", {"Content-Type": "application/x-ndjson"})),
    "a compressed body": (415, ("POST", "/memory/record", {"Content-Encoding": "gzip"})),
    # -- paths and parameters
    "a path that climbs": (404, ("GET", "/memory/../../etc/passwd", {})),
    "a path that climbs in disguise": (404, ("GET", "/memory/%2e%2e/%2e%2e/etc/passwd", {})),
    "a URL without end": (414, ("GET", "/memory/search?q=" + "x" * 20_000, {})),
    "a session with a line break": (400, ("GET", "/memory/replay?session_id=a%0Ab", {})),
    "a session with NUL": (400, ("GET", "/memory/replay?session_id=a%00b", {})),
    "a session that is too long": (422, ("GET", "/memory/replay?session_id=" + "a" * 300, {})),
    "a number that is none": (422, ("GET", "/memory/search?q=x&k=1e9", {})),
    "too many hits": (422, ("GET", "/memory/search?q=x&k=1000000", {})),
    "a position that is none": (400, ("GET", "/memory/events", {"Last-Event-ID": "1; drop table events"})),
    "a method we do not know": (405, ("PUT", "/memory/record", {})),
    "another way to call a method": (405, ("GET", "/memory/pin", {"X-HTTP-Method-Override": "POST"})),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_requests_are_refused(sidecar: Sidecar, name: str) -> None:
    status, (method, path, headers) = HOSTILE[name]
    sent = {k.replace("-", "_"): v.replace("PORT", str(sidecar.port)) for k, v in headers.items()}
    body = NOTE if method == "POST" else None
    got = sidecar.ask(method, path, body, **sent)
    assert got.status == status, got.body
    if method != "HEAD":
        assert got.code
    assert "access-control-allow-origin" not in got.headers
    assert TOKEN.encode() not in got.body


def test_there_are_at_least_thirty_of_them() -> None:
    assert len(HOSTILE) >= 30


def statuses(raw: bytes) -> list[int]:
    return [int(n) for n in re.findall(rb"HTTP/1\.1 (\d+)", raw)]


def test_what_is_not_http_is_cut_off(sidecar: Sidecar) -> None:
    port = sidecar.port
    post = "POST /memory/record HTTP/1.1"
    json = "Content-Type: application/json"
    for name, raw in {
        "nonsense": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 3 + b"\r\n\r\n",
        "two hosts": head("GET /memory/stats HTTP/1.1", "Host: evil.example", port=port),
        "no host": head("GET /memory/stats HTTP/1.1", host=""),
        "two lengths": head(post, json, "Content-Length: 2", "Content-Length: 3", port=port) + b"{}",
        "a length that is none": head(post, json, "Content-Length: -1", port=port),
        "a header without end": b"GET / HTTP/1.1\r\nHost: x\r\nX-A: " + b"a" * 200_000 + b"\r\n\r\n",
        "a header in two lines": head("GET /memory/stats HTTP/1.1", "X-A: b\r\n\x00c: d", port=port),
        "an unknown coding": head(post, json, "Transfer-Encoding: gzip", port=port),
    }.items():
        assert statuses(sidecar.say(raw))[:1] in ([400], [421], [501]), name
    for name, raw in {
        "two tokens": head("GET /memory/stats HTTP/1.1", "Authorization: Bearer x", port=port),
        "an old protocol without a host": b"GET /memory/stats HTTP/1.0\r\n\r\n",
        "a whole URL": head("GET http://evil.example/memory/stats HTTP/1.1", port=port),
        "a proxy's tunnel": head("CONNECT evil.example:443 HTTP/1.1", port=port),
    }.items():
        assert statuses(sidecar.say(raw))[:1] in ([400], [401], [404], [421]), name
    upgrade = head(
        "GET /memory/events HTTP/1.1", "Upgrade: websocket", "Sec-WebSocket-Key: eA==", port=port, token=False
    )
    assert statuses(sidecar.say(upgrade))[:1] == [401], "a web socket is no way round"


def test_length_and_chunks_in_one_request_are_not_two_requests(sidecar: Sidecar) -> None:
    """Smuggling: one body may not be read as a request of its own."""
    inner = head("DELETE /memory/record/s:1 HTTP/1.1", port=sidecar.port)
    outer = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Content-Length: 4", "Transfer-Encoding: chunked", port=sidecar.port)  # fmt: skip
    got = sidecar.say(outer.replace(b"Connection: close\r\n", b"") + b"0\r\n\r\n" + inner)
    assert 200 not in statuses(got)


def test_a_body_that_is_too_large_is_not_read(sidecar: Sidecar) -> None:
    declared = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Content-Length: 100001", "Expect: 100-continue", port=sidecar.port)  # fmt: skip
    assert statuses(sidecar.say(declared)) == [413], "not even asked for"
    chunk = b"%x\r\n" % 50_000 + b"x" * 50_000 + b"\r\n"
    chunked = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked", port=sidecar.port)  # fmt: skip
    assert statuses(sidecar.say(chunked, chunk, chunk, chunk)) == [413]
    lines = head("POST /memory/import HTTP/1.1", "Content-Type: application/x-ndjson", "Transfer-Encoding: chunked", port=sidecar.port)  # fmt: skip
    assert statuses(sidecar.say(lines, *[chunk] * 5)) == [413]


def test_without_the_token_the_body_is_not_asked_for(sidecar: Sidecar) -> None:
    raw = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Content-Length: 10", "Expect: 100-continue", port=sidecar.port, token=False)  # fmt: skip
    assert statuses(sidecar.say(raw)) == [401]


def test_slow_bodies_and_slow_heads_are_cut(hasty: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    stalled = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Content-Length: 50", port=hasty.port)  # fmt: skip
    assert statuses(hasty.say(stalled, b"{")) == [408]
    drop = [b"1\r\n \r\n"] * 40  # a byte at a time, never idle for long
    dripping = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked", port=hasty.port)  # fmt: skip
    assert statuses(hasty.say(dripping, *drop, pause=0.05)) == [408]
    monkeypatch.setattr(guard.Protocol, "stranger_seconds", 0.5)
    assert hasty.say(b"GET /memory/sta") == b"", "half a head"
    assert hasty.say(b"") == b"", "nothing at all"


def test_a_head_that_grows_and_grows_is_cut(sidecar: Sidecar) -> None:
    line = b"X-A: " + b"a" * 8_000 + b"\r\n"
    got = sidecar.say(b"GET /memory/health HTTP/1.1\r\n", *[line] * 40, pause=0.01)
    assert statuses(got) in ([400], []), "or it had hung up before all was said, and the answer was lost"
    assert sidecar.ask("GET", "/memory/health").status == 200


def test_empty_lines_keep_no_connection_open(sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard.Protocol, "head_seconds", 3)
    first = head("GET /memory/health HTTP/1.1", port=sidecar.port).replace(b"Connection: close\r\n", b"")
    got = sidecar.say(first, *[b"\r\n"] * 30, pause=0.1)
    assert statuses(got) == [200]


def test_a_client_that_offers_http_2_is_answered(sidecar: Sidecar) -> None:
    """Java's own client and `curl --http2` offer it with every request: the body must not be lost over it."""
    body = b'{"type": "prompt", "session_id": "offered", "content": "an apricot"}'
    offer = ("Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA", "Connection: Upgrade, HTTP2-Settings, close")
    raw = head(
        "POST /memory/record HTTP/1.1", "Content-Type: application/json", f"Content-Length: {len(body)}", *offer,
        port=sidecar.port,
    ).replace(b"Connection: close\r\n", b"")  # fmt: skip
    assert statuses(sidecar.say(raw + body)) == [200]
    assert b"apricot" in sidecar.ask("GET", "/memory/replay?session_id=offered").body


def test_requests_that_come_in_one_piece_are_answered_in_order(sidecar: Sidecar) -> None:
    one = head("GET /memory/health HTTP/1.1", port=sidecar.port).replace(b"Connection: close\r\n", b"")
    two = head("GET /memory/nowhere HTTP/1.1", port=sidecar.port).replace(b"Connection: close\r\n", b"")
    assert statuses(sidecar.say(one + two + one + head("GET /memory/health HTTP/1.1", port=sidecar.port))) == [
        200,
        404,
        200,
        200,
    ]


def kept(line: str, *headers: str, sidecar: Sidecar) -> bytes:
    """A head that leaves the connection open."""
    return head(line, *headers, port=sidecar.port).replace(b"Connection: close\r\n", b"")


def test_every_client_that_offers_http_2_again_and_again_is_answered(sidecar: Sidecar) -> None:
    offered = kept("GET /memory/health HTTP/1.1", "Upgrade: h2c", "Connection: Upgrade", sidecar=sidecar)
    last = head("GET /memory/health HTTP/1.1", port=sidecar.port)
    assert statuses(sidecar.say(offered + offered + offered + last)) == [200, 200, 200, 200]


def test_what_was_done_is_not_answered_with_what_was_wrong_behind_it(sidecar: Sidecar) -> None:
    body = b'{"type": "prompt", "session_id": "before", "content": "a quince"}'
    post = ("POST /memory/record HTTP/1.1", "Content-Type: application/json")
    whole = kept(*post, f"Content-Length: {len(body)}", sidecar=sidecar) + body
    assert statuses(sidecar.say(whole + b"this is no HTTP\r\n\r\n")) == [200]
    broken = kept(*post, "Transfer-Encoding: chunked", sidecar=sidecar) + b"zz\r\n"
    assert statuses(sidecar.say(whole + broken)) == [200]
    assert statuses(sidecar.say(broken)) == [400]
    assert b"quince" in sidecar.ask("GET", "/memory/replay?session_id=before").body


def test_what_stands_behind_a_body_is_no_header(sidecar: Sidecar) -> None:
    raw = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked", token=False,
               port=sidecar.port).replace(b"Connection: close\r\n", b"")  # fmt: skip
    body = b'{"type": "prompt", "session_id": "trailed", "content": "x"}'
    trailed = b"%x\r\n%b\r\n0\r\nAuthorization: Bearer %b\r\n\r\n" % (len(body), body, TOKEN.encode())
    assert statuses(sidecar.say(raw + trailed)) == [401]


def test_a_body_that_would_have_to_be_unpacked_is_refused(sidecar: Sidecar) -> None:
    raw = head("POST /memory/record HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: gzip, chunked",
               port=sidecar.port)  # fmt: skip
    assert statuses(sidecar.say(raw + b"2\r\n{}\r\n0\r\n\r\n")) == [415]


@pytest.mark.parametrize(
    "line",
    [
        "GET /memory/health HTTP/2.0",
        "GET /memory/health HTTP/0.9",
        "GET /memory/health#x HTTP/1.1",
        "CONNECT /memory/health HTTP/1.1",
    ],
)
def test_another_protocol_and_a_target_that_is_none_are_refused(sidecar: Sidecar, line: str) -> None:
    assert statuses(sidecar.say(head(line, port=sidecar.port))) == [400]


def test_space_around_a_value_is_no_part_of_it(sidecar: Sidecar) -> None:
    raw = head("GET /memory/health HTTP/1.1", host=f"\t 127.0.0.1:{sidecar.port} \t")
    assert statuses(sidecar.say(raw)) == [200]


def test_a_long_head_is_refused_however_it_comes(sidecar: Sidecar) -> None:
    line = f"X-A: {'a' * guard.LONGEST_HEAD}"
    raw = head("GET /memory/health HTTP/1.1", line, port=sidecar.port)
    assert statuses(sidecar.say(raw)) == [400]


def test_a_listener_that_asks_on_and_hangs_up_is_gone(sidecar: Sidecar) -> None:
    listen = kept("GET /memory/events HTTP/1.1", sidecar=sidecar)

    def listening(wanted: int) -> bool:
        until = time.monotonic() + 60
        while sidecar.ask("GET", "/memory/health").json["readers"] != wanted and time.monotonic() < until:
            time.sleep(0.05)
        return bool(sidecar.ask("GET", "/memory/health").json["readers"] == wanted)

    with socket.create_connection((sidecar.host, sidecar.port), timeout=60) as s:
        s.sendall(listen + kept("GET /memory/health HTTP/1.1", sidecar=sidecar))
        assert s.recv(12) == b"HTTP/1.1 200"
        assert listening(1)
    assert listening(0)


def test_nothing_piles_up_behind_a_request_that_goes_on(sidecar: Sidecar) -> None:
    """A head without an end behind one that is being answered, and lines without an end behind a body."""
    listen = kept("GET /memory/events HTTP/1.1", sidecar=sidecar)
    raw = kept(
        "POST /memory/record HTTP/1.1", "Content-Type: application/json", "Transfer-Encoding: chunked", sidecar=sidecar
    )
    for begun in (listen + b"GET / HTTP/1.1\r\n", raw + b"2\r\n{}\r\n0\r\n"):
        with socket.create_connection((sidecar.host, sidecar.port), timeout=1) as s:
            s.sendall(begun)
            sent = 0
            with contextlib.suppress(OSError):
                while sent < 40_000_000:
                    s.sendall(b"X-A: " + b"a" * 100_000 + b"\r\n")
                    sent += 100_000
            assert sent < 40_000_000, "it was not read any more"


def test_of_very_many_requests_at_once_the_first_are_answered(sidecar: Sidecar) -> None:
    one = kept("GET /memory/nowhere HTTP/1.1", sidecar=sidecar)
    got = statuses(sidecar.say(one * 1000))
    assert len(got) == guard.MOST_WAITING + 1 and set(got) == {404}


def test_too_many_connections_are_not_taken(sidecar: Sidecar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "MOST_CONNECTIONS", 0)
    assert statuses(sidecar.say(head("GET /memory/health HTTP/1.1", port=sidecar.port))) == [503]
    monkeypatch.undo()
    assert sidecar.ask("GET", "/memory/health").status == 200


def test_what_is_allowed_is_allowed(sidecar: Sidecar) -> None:
    """The guard refuses nothing that a client of ours sends."""
    for headers in (
        {},
        {"Host": f"localhost:{sidecar.port}"},
        {"Origin": f"http://127.0.0.1:{sidecar.port}"},
        {"Sec_Fetch_Site": "none"},
        {"Authorization": f"bearer {TOKEN}"},
    ):
        assert sidecar.ask("GET", "/memory/health", **headers).status == 200, headers
    for kind in ("application/json; charset=utf-8", "Application/JSON", 'application/json;charset="UTF-8"'):
        assert sidecar.ask("POST", "/memory/record", NOTE, Content_Type=kind).status == 200, kind
    assert sidecar.ask("POST", "/memory/summarize?session_id=s").status == 200, "no body, nothing to declare"


def test_answers_are_not_kept_by_caches_or_shown_as_pages(sidecar: Sidecar) -> None:
    got: Answer = sidecar.ask("GET", "/memory/health")
    assert got.headers["cache-control"] == "no-store"
    assert got.headers["x-content-type-options"] == "nosniff"
    assert "server" not in got.headers


# -- the token file


def test_the_token_is_256_bits_in_a_file_of_ones_own() -> None:
    settings = recollect.Settings.load()
    path = place.token_file(settings)
    token = place.make_token(settings, path)
    file = Path(path)
    assert len(token) >= 43 and re.fullmatch(r"[\w-]+", token)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert place.make_token(settings, path, keep=True) == token, "kept for who asks for it"
    assert place.make_token(settings, path) != token, "another at every start"


def test_each_address_has_a_token_of_its_own() -> None:
    settings = recollect.Settings.load()
    names = [
        Path(place.token_file(settings, *where)).name
        for where in (
            ("http://127.0.0.1:7433",),
            ("http://127.0.0.1:80",),
            ("http://[::1]:81",),
            ("", "/a/s"),
            ("", "/b/s"),
        )
    ]
    assert names[:3] == ["token", "token-80", "token-81"] and len(set(names)) == 5


def test_a_token_that_others_could_read_is_refused() -> None:
    settings = recollect.Settings.load()
    path = place.token_file(settings)
    with pytest.raises(NotFound, match="recollect serve"):
        place.read_token(path)
    place.make_token(settings, path)
    file = Path(path)
    for at, mode, fine in ((file, 0o644, 0o600), (file.parent, 0o755, 0o700)):
        os.chmod(at, mode)
        with pytest.raises(Refused, match="chmod"):
            place.read_token(path)
        with pytest.raises(Refused, match="chmod"):
            place.make_token(settings, path, keep=True)
        os.chmod(at, fine)
    file.rename(file.with_name("elsewhere"))
    file.symlink_to(file.with_name("elsewhere"))
    with pytest.raises(Refused):
        place.read_token(path)
    place.make_token(settings, path)
    assert not file.is_symlink(), "a new one takes its place"
    file.write_text("short")
    with pytest.raises(Refused, match="no token of ours"):
        place.make_token(settings, path, keep=True)
