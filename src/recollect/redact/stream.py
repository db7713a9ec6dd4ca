"""Secrets in text that comes in chunks."""

from __future__ import annotations

from .engine import rx
from .screen import Finding, to_bytes
from .search import DEFAULT, Policy, spans_in

HOLD_BACK = 512


class Stream:
    """Redacts text that comes in chunks: the last 512 characters are held back until what follows them is known.

    A run without white space, and a private key, are held back for as long as they last, so that no part of a secret is
    out before the rest of it has come. What is out stays as context for what follows it.
    """

    LONGEST_RUN = 65_536

    def __init__(self, policy: Policy | None = None) -> None:
        self._policy = policy or DEFAULT
        self._text = ""  # context already out, then what is held back
        self._out = 0  # how much of it is out
        self._in_key = False  # a private key too long to hold: its marker is out, the rest of it is dropped
        self.findings: list[Finding] = []
        self._base = 0  # the position of `_text` in the whole stream

    def feed(self, chunk: str) -> str:
        """Takes a chunk, gives the text that is safe by now."""
        if self._in_key:
            chunk = self._skip_key(chunk)
        self._text += chunk
        if len(self._text) - self._out <= HOLD_BACK:
            return ""
        return self._flush(final=False)

    def finish(self) -> str:
        """The rest."""
        self._in_key = False
        return self._flush(final=True)

    def _skip_key(self, chunk: str) -> str:
        rest = self._text[self._out :] + chunk
        self._text = self._text[: self._out]
        end = rest.find("-----END")
        if end >= 0:
            close = rest.find("-----", end + 8)
            if close < 0:
                self._text += rest  # the end line itself is still to come
                if len(rest) - end > 120:
                    self._in_key = False
                return ""
            self._in_key = False
            self._base += close + 5
            return rest[close + 5 :]
        keep = min(len(rest), 8)
        body = rest[: len(rest) - keep]
        odd = rx(rb"[^A-Za-z0-9+/=\s\\\"'>|#*:,.@()_-]").search(to_bytes(body))
        if odd:
            self._in_key = False
            self._base += odd.start()
            return rest[odd.start() :]
        self._base += len(body)
        self._text += rest[len(rest) - keep :]
        return ""

    def _flush(self, *, final: bool) -> str:
        text, out = self._text, self._out
        spans = spans_in(text, self._policy)
        cut = len(text) if final else max(out, len(text) - HOLD_BACK)
        if not final:
            cut = self._safe(text, cut)
        pieces: list[str] = []
        at = out
        for span in spans:
            if span.end <= out:
                continue
            if span.start >= cut:
                break
            if span.end > cut and not final:
                cut = max(at, span.start)
                break
            start = max(span.start, at)
            pieces += (text[at:start], f"[redacted:{span.family}]")
            self.findings.append(Finding(span.family, self._base + start, self._base + span.end))
            at = span.end
        cut = max(cut, at)
        pieces.append(text[at:cut])
        if not final and cut < len(text) - self.LONGEST_RUN:
            header = text.find("-----BEGIN", cut)
            if header == cut:
                pieces.append("[redacted:private-key]")
                self.findings.append(Finding("private-key", self._base + cut, self._base + len(text)))
                self._in_key = True
                self._base += len(text) - cut
                text = text[:cut]
        keep = max(0, cut - HOLD_BACK)
        self._base += keep
        self._text, self._out = text[keep:], cut - keep
        return "".join(pieces)

    def _safe(self, text: str, cut: int) -> int:
        """Moves the cut before a run or a private key that it would divide."""
        out = self._out
        begin = text.rfind("-----BEGIN", out, cut)
        if begin >= 0 and "-----END" not in text[begin:cut]:
            header = text[begin : begin + 80]
            if "PRIVATE KEY" in header or len(header) < 80:
                return begin
        at = cut
        floor = max(out, cut - self.LONGEST_RUN)
        while at > floor and not text[at - 1].isspace():
            at -= 1
        if at == floor and floor > out:
            return cut
        # The line's beginning belongs to its end: `password for the router is ...`
        return at
