"""What stands before every request and behind every answer: who may ask, how much, and what a browser may do with it.

A page of any other site can make a browser send requests to this machine. So a request must be for the address that was
bound (or a name could be pointed here: DNS rebinding), must not come from a page of another origin, and what changes
something carries a header that such a page cannot send without asking first. Nobody is ever told that it may.
"""

from __future__ import annotations

import json
import secrets
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, final
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["HEADERS", "Door", "Guard"]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"permissions-policy", b"camera=(), display-capture=(), geolocation=(), microphone=(), usb=()"),
    (b"cache-control", b"no-store"),
)
"""On every answer."""

SAFE_METHODS: Final = ("GET", "HEAD")
OWN_PAGE: Final = ("same-origin", "none")  # of Sec-Fetch-Site; none: typed by the user
MARK: Final = b"x-unspool"
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")


@final
class Door:
    """The address that was bound: which Host is meant by it, and the token that others than this machine must have."""

    def __init__(self, host: str, port: int, *, token: str | None = None, names: tuple[str, ...] = ()) -> None:
        shown = f"[{host}]" if ":" in host else host
        self.port = port
        self.token = token
        self.is_everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
        is_loopback = host == "localhost" or (not self.is_everywhere and _is_address(host) and _is_loopback(host))
        self._names = {name.lower() for name in ((*LOOPBACK, shown) if is_loopback else (shown, *names))}
        self._shown = "127.0.0.1" if self.is_everywhere else shown
        self.cookie = f"unspool_{port}"

    def url(self, token: str | None = None, name: str | None = None) -> str:
        """The address to open; by another name, for those on other machines."""
        return f"http://{name or self._shown}:{self.port}/" + ("" if token is None else f"?token={token}")

    def knows(self, host: str) -> bool:
        """Whether a Host header means this server."""
        name, colon, port = host.lower().rpartition(":")
        if not colon or port.endswith("]"):
            name, port = host.lower(), "80"
        if port != str(self.port):
            return False
        return name in self._names or (self.is_everywhere and (name in LOOPBACK or _is_address(name.strip("[]"))))

    def opens_for(self, cookies: str) -> bool:
        """Whether the cookies hold the token."""
        if self.token is None:
            return True
        try:
            morsel = SimpleCookie(cookies).get(self.cookie)
        except CookieError:
            return False
        return morsel is not None and self.fits(morsel.value)

    def fits(self, token: str) -> bool:
        """Whether this is the token."""
        return self.token is not None and secrets.compare_digest(token.encode(), self.token.encode())


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    return ip_address(host).is_loopback


@final
class Guard:
    """The outermost layer of the application."""

    def __init__(self, app: ASGIApp, door: Door, *, most: int, most_drained: int) -> None:
        self._app = app
        self._door = door
        self._most = most
        self._most_drained = most_drained

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("there are no web sockets here")

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in HEADERS}
                kept = [pair for pair in message.get("headers", ()) if pair[0].lower() not in own]
                message = {**message, "headers": [*kept, *HEADERS]}
            await send(message)

        headers: dict[bytes, bytes] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, value)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _answer(dressed, *refusal)
        elif self._door.token is not None and not self._door.opens_for(_text(headers.get(b"cookie", b""))):
            await self._ask_for_token(scope, dressed)
        else:
            await self._app(scope, self._counted(receive, headers), dressed)

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._door.knows(_text(hosts[0])):
            return 421, "this is another server than the one that was asked for"
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() != b"http://" + hosts[0].lower():
            return 403, "a page of another origin may not ask"
        site = headers.get(b"sec-fetch-site")
        if site is not None and _text(site).strip().lower() not in OWN_PAGE:
            return 403, "a page of another site may not ask"
        if scope["method"] not in SAFE_METHODS and headers.get(MARK) != b"1":
            return 403, "what changes something needs the header X-Unspool: 1"
        return None

    async def _ask_for_token(self, scope: Scope, send: Send) -> None:
        """The first visit brings the token in its address; from then on the browser has it as a cookie."""
        token = parse_qs(_text(scope["query_string"])).get("token", [""])[0]
        if scope["path"] != "/" or scope["method"] not in SAFE_METHODS or not self._door.fits(token):
            await _answer(send, 401, "open the address that was printed, with its token")
            return
        cookie = f"{self._door.cookie}={token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _counted(self, receive: Receive, headers: dict[bytes, bytes]) -> Receive:
        """`receive`, which ends with 413 when the body does not end in time, also where nobody said how long it is."""
        too_large = HTTPException(413, f"too large: {self._most:,} bytes is the most that is taken")
        length = _text(headers.get(b"content-length", b""))
        told = int(length[:20]) if length.isascii() and length.isdigit() else 0
        count = 0

        async def counted() -> Message:
            nonlocal count
            if told > self._most + self._most_drained:
                raise too_large
            message = await receive()
            count += len(message.get("body", b""))
            if count > self._most or told > self._most:
                while message.get("more_body", False) and count <= self._most + self._most_drained:
                    message = await receive()
                    count += len(message.get("body", b""))
                raise too_large
            return message

        return counted


def _text(value: bytes) -> str:
    return value.decode("latin-1")


async def _answer(send: Send, status: int, words: str) -> None:
    body = json.dumps({"error": words}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
