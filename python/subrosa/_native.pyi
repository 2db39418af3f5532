from collections.abc import Callable
from typing import Literal, TypedDict

BUILD: str
VERSION: str

class Source(TypedDict):
    file: str | None
    text: str
    base: str
    data: str | None
    overrides: list[str]

class Given(TypedDict):
    name: str
    version: str
    begin: Callable[[], Callable[[str, str], str]]

class How(TypedDict):
    out: str
    threads: int
    fail_fast: bool
    progress: Callable[[int, int], None] | None
    announce: Callable[[list[str]], None]

def command(arguments: list[str]) -> int: ...
def printed(arguments: list[str]) -> tuple[int, str, str]: ...
def check(source: Source, callbacks: list[Given]) -> str: ...
def value(source: Source, path: str) -> str | None: ...
def account(text: str) -> str: ...
def charts(folder: str) -> str: ...
def drawn(folder: str, id: str, format: Literal["svg", "png", "pdf"]) -> bytes: ...
def run(source: Source, how: How, callbacks: list[Given]) -> str: ...
