"""The guard: checks every request before the application sees it, and adds security headers to every response.

Every user of this machine can reach the port, so each request needs the token. The printed address contains it; a
cookie holds it after the first visit.

Pages of other sites can make a browser send requests to this machine. So the guard accepts only requests for the bound
address (against DNS rebinding) and rejects requests from pages of other origins. Requests that change something need a
header that such a page can only send after a CORS preflight, and the studio never permits one.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from ipaddress import ip_address
from typing import TYPE_CHECKING, Final, final
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from .settings import Settings

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
"""The headers of every response."""

HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::(?P<port>[0-9]{1,5}))?", re.ASCII)
"""A Host header has a name or an address, maybe a port, and nothing else: no user, no path, no zone."""
LOGGER: Final = logging.getLogger(__name__)
SAFE_METHODS: Final = ("GET", "HEAD")
OWN_PAGE: Final = ("same-origin", "none")  # Sec-Fetch-Site; "none" means typed by the user
MARK: Final = b"x-unspool"
LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
TOKEN_BYTES: Final = 24
HOW_TO_ENTER: Final = "open the address that `unspool studio` printed; it ends with a token"


@final
class Door:
    """The bound address: the Host headers that name it, and the token that opens it."""

    def __init__(self, host: str, port: int, *, names: tuple[str, ...] = ()) -> None:
        shown = f"[{host}]" if ":" in host else host
        self.port = port
        self.token: Final = secrets.token_urlsafe(TOKEN_BYTES)
        self._ticket: str | None = None
        self.is_everywhere = host in ("0.0.0.0", "::")  # noqa: S104 - compared, not bound
        is_loopback = host == "localhost" or (not self.is_everywhere and _is_address(host) and _is_loopback(host))
        self._names = {name.lower() for name in ((*LOOPBACK, shown) if is_loopback else (shown, *names))}
        self._shown = "127.0.0.1" if self.is_everywhere else shown
        self.cookie = f"unspool_{port}"

    def url(self, name: str | None = None) -> str:
        """Return the address to open; `name` replaces the host, for users on other machines."""
        return f"http://{name or self._shown}:{self.port}/?token={self.token}"

    def url_for_once(self) -> str:
        """Return an address that works once. It starts the browser, and other users can see command lines."""
        self._ticket = secrets.token_urlsafe(TOKEN_BYTES)
        return f"http://{self._shown}:{self.port}/?token={self._ticket}"

    def knows(self, host: str) -> bool:
        """Whether a Host header names this server."""
        parts = HOST.fullmatch(host.lower())
        if parts is None or (parts["port"] or "80") != str(self.port):
            return False
        name = parts["name"]
        return name in self._names or (self.is_everywhere and (name in LOOPBACK or _is_address(name.strip("[]"))))

    def opens_for(self, cookies: str) -> bool:
        """Whether the cookies hold the token. Browsers send the cookies of other ports on this host, too."""
        pairs = [cookie.strip().partition("=") for cookie in cookies.split(";")]
        return any(name == self.cookie and self.fits(value) for name, _, value in pairs)

    def fits(self, token: str) -> bool:
        """Whether this is the token."""
        return _is_same(token, self.token)

    def admits(self, token: str) -> bool:
        """Whether this is the token, or the ticket of `url_for_once`, which then expires."""
        if self._ticket is None or not _is_same(token, self._ticket):
            return self.fits(token)
        self._ticket = None
        return True


def _is_same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(), secret.encode())


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

    def __init__(
        self, app: ASGIApp, door: Door, settings: Settings, admit: Callable[[Scope], None] = lambda _: None
    ) -> None:
        self._app = app
        self._door = door
        self._settings = settings
        self._admit = admit  # called for the connection of each request that has the token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or reject it with a reason."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            raise RuntimeError("the studio has no web sockets")

        is_answered = False

        async def dressed(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
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
        elif self._brings_token(scope):
            self._admit(scope)
            await self._keep_token(dressed)
        elif not self._door.opens_for(_text(headers.get(b"cookie", b""))):
            await _answer(dressed, 403, HOW_TO_ENTER, is_page=scope["path"] == "/")
        else:
            self._admit(scope)
            try:
                await self._app(scope, self._counted(receive, headers), dressed)
            except Exception:
                LOGGER.exception("a request failed")
                if not is_answered:  # the answer of uvicorn would not have the headers of every response
                    await _answer(dressed, 500, "internal error; see the terminal")

    def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> tuple[int, str] | None:
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not self._door.knows(_text(hosts[0])):
            return 421, "the Host header names another server"
        origin = headers.get(b"origin")
        if origin is not None and origin.lower() != b"http://" + hosts[0].lower():
            return 403, "requests from pages of another origin are not allowed"
        site = headers.get(b"sec-fetch-site")
        if site is not None and _text(site).strip().lower() not in OWN_PAGE:
            return 403, "requests from pages of another site are not allowed"
        if scope["method"] not in SAFE_METHODS and headers.get(MARK) != b"1":
            return 403, "requests that change something need the header X-Unspool: 1"
        return None

    def _brings_token(self, scope: Scope) -> bool:
        """Whether the request is for the printed address, which contains the token."""
        if scope["path"] != "/" or scope["method"] != "GET":
            return False
        return self._door.admits(parse_qs(_text(scope["query_string"])).get("token", [""])[0])

    async def _keep_token(self, send: Send) -> None:
        """Move the token from the address into a cookie."""
        cookie = f"{self._door.cookie}={self._door.token}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", b"/"), (b"set-cookie", cookie.encode()), (b"content-length", b"0")]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    def _counted(self, receive: Receive, headers: dict[bytes, bytes]) -> Receive:
        """Return a `receive` that limits the body: 413 if it is too long, 408 if it takes too long."""
        most, patience = self._settings.body, self._settings.upload
        most_read = most + self._settings.drained
        too_large = HTTPException(413, f"too large: at most {most:,} bytes are accepted")
        length = _text(headers.get(b"content-length", b""))
        told = int(length[:20]) if length.isascii() and length.isdigit() else 0
        count = 0
        is_whole = False
        deadline: float | None = None

        async def more() -> Message:
            nonlocal count, is_whole, deadline
            if is_whole:  # the next message is the disconnect of the client, without a deadline
                return await receive()
            now = asyncio.get_running_loop().time()
            deadline = deadline or now + patience
            try:
                async with asyncio.timeout_at(deadline):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, "the body did not arrive in time", {"Connection": "close"}) from None
            count += len(message.get("body", b""))
            is_whole = not message.get("more_body", False)
            return message

        async def counted() -> Message:
            if told > most_read:
                raise too_large
            message = await more()
            if max(count, told) > most:
                while not is_whole and count <= most_read:
                    await more()
                raise too_large
            return message

        return counted


def _text(value: bytes) -> str:
    return value.decode("latin-1")


async def _answer(send: Send, status: int, words: str, *, is_page: bool = False) -> None:
    """Send a message as JSON or, with `is_page`, as plain text for a browser window."""
    body = f"unspool studio: {words}\n".encode() if is_page else json.dumps({"error": words}).encode()
    media = b"text/plain; charset=utf-8" if is_page else b"application/json"
    headers = [(b"content-type", media), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
