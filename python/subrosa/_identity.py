"""The identity of a class or function: a line that changes when its source or a value that it uses changes."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import types
import weakref
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), range, slice, PurePath, Enum, np.generic)
# Lists, dictionaries and sets that were empty when the class or function that uses them was first seen: logs and caches.
_LOGS: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


def identity(part: Any, version: str) -> str:
    """One line for a class or a function: its name, a hash of all that it uses, and the version.

    The hash is of its source, of default arguments, captured variables, attributes of classes and objects, of the global
    variables that it names, and of the same for functions and classes of its own module. Of a function of another module it
    covers the same without global variables; of a class of another module, and of a module, the name and the version of the
    package. Lists, dictionaries and sets that were empty when the class or function was first seen (:func:`first_seen`) are
    left out.

    Raises:
        ValueError: the version is not one short line; or the contents of an object cannot be read, and there is no version.
    """
    reader = _Reader({id(log) for log in _logs(part)}, _module(part))
    reader.read(part)
    name = getattr(part, "__qualname__", type(part).__qualname__)
    if reader.unread and not version:
        raise ValueError(
            f"{name} uses {', '.join(reader.unread)}, whose contents cannot be compared from run to run: give it a "
            "`version` that you change with them"
        )
    line = f"{f'{_module(part)}.{name}'[:80]} {reader.digest.hexdigest()[:16]} {version}".strip()
    if len(line) > 200 or not line.isprintable():
        raise ValueError("version: expected one line of at most 100 letters")
    return line


def first_seen(part: Any) -> None:
    """Notes which lists, dictionaries and sets that a class or function uses are empty now."""
    _logs(part)


def _logs(part: Any) -> list[Any]:
    # Each lookup of a method makes a new bound method, so the function is the key.
    key = getattr(part, "__func__", part)
    try:
        if key not in _LOGS:
            reader = _Reader(set(), _module(part))
            reader.read(part)
            _LOGS[key] = reader.empty
        return _LOGS[key]
    except TypeError:  # An object that has no weak references or no hash.
        return []


def _module(part: Any) -> str:
    """The module in which a class or function is written."""
    inner = getattr(part, "__func__", None) or (part.func if isinstance(part, functools.partial) else None)
    if inner is not None:
        return _module(inner)
    return str(getattr(part, "__module__", type(part).__module__))


def _package(module: str) -> str:
    """The version of the package that a module belongs to; empty if it states none."""
    return str(getattr(sys.modules.get(module.partition(".")[0]), "__version__", ""))


class _Reader:
    """Reads objects into a hash, each once."""

    def __init__(self, logs: set[int], own: str) -> None:
        self.logs, self.own = logs, own
        self.digest = hashlib.sha256()
        self.places: dict[int, int] = {}
        # Objects that were read are kept alive: `places` has their ids, which Python may otherwise give to others.
        self.alive: list[Any] = []
        self.empty: list[Any] = []
        self.unread: list[str] = []

    def put(self, *words: str) -> None:
        for word in words:
            self.digest.update(f"{len(word)}:{word}".encode("utf-8", "surrogatepass"))

    def read(self, value: Any, name: str = "an object") -> None:
        if isinstance(value, _PLAIN):
            self.put(type(value).__name__, repr(value))
            return
        if id(value) in self.logs:
            return
        if id(value) in self.places:
            self.put("again", str(self.places[id(value)]))
            return
        self.places[id(value)] = len(self.places)
        self.alive.append(value)
        if isinstance(value, (list, dict, set)) and not value:
            self.empty.append(value)
        self.put(type(value).__qualname__)
        match value:
            case types.ModuleType():
                self.put(value.__name__, _package(value.__name__))
            case np.ndarray() if not value.dtype.hasobject:
                self.put(str(value.dtype), str(value.shape))
                self.digest.update(np.ascontiguousarray(value).tobytes())
            case np.ndarray():
                self.all(value.tolist(), name)
            case pd.DataFrame() | pd.Series() | pd.Index():
                self.frame(value, name)
            case tuple() | list():
                self.all(value, name)
            case set() | frozenset():
                self.all(sorted(value, key=repr), name)
            case Mapping():
                self.pairs(value.items(), name)
            case functools.partial():
                self.all([value.func, value.args, value.keywords], name)
            case types.MethodType():
                self.all([value.__func__, value.__self__], name)
            case staticmethod() | classmethod():
                self.read(value.__func__, name)
            case property():
                self.all([value.fget, value.fset, value.fdel], name)
            case types.FunctionType():
                self.function(value)
            case type():
                self.type(value)
            case types.BuiltinFunctionType() | types.GetSetDescriptorType() | types.MemberDescriptorType():
                self.put(_module(value), value.__qualname__, _package(_module(value)))
            case _:
                self.instance(value, name)

    def all(self, values: Iterable[Any], name: str) -> None:
        for value in values:
            self.read(value, name)
        self.put("end")

    def pairs(self, items: Iterable[tuple[Any, Any]], name: str) -> None:
        for key, value in items:
            self.read(key, name)
            self.read(value, key if isinstance(key, str) else name)
        self.put("end")

    def frame(self, frame: Any, name: str) -> None:
        self.all([str(getattr(frame, "dtypes", frame.dtype if isinstance(frame, pd.Index) else ""))], name)
        self.all(list(getattr(frame, "columns", [])), name)
        try:
            self.read(np.asarray(pd.util.hash_pandas_object(frame)), name)
        except TypeError:
            self.all(frame.to_numpy().tolist(), name)

    def function(self, value: types.FunctionType) -> None:
        self.put(_module(value), value.__qualname__)
        # Two functions on the same line have the same source, so the compiled code is read too.
        self.put(_source(value), _compiled(value.__code__))
        if _module(value) != self.own:
            self.put(_package(_module(value)))
        for cell, name in zip(value.__closure__ or (), value.__code__.co_freevars, strict=True):
            try:
                self.read(cell.cell_contents, name)
            except ValueError:
                self.put("not yet")
        self.read(value.__defaults__, "a default argument")
        self.read(value.__kwdefaults__, "a default argument")
        if _module(value) == self.own:
            for name in sorted(_names(value.__code__)):
                if name in value.__globals__:
                    self.put(name)
                    self.read(value.__globals__[name], name)

    def type(self, value: type) -> None:
        self.put(_module(value), value.__qualname__, _package(_module(value)))
        if _module(value) != self.own:
            return
        self.put(_source(value))
        for base in value.__mro__[1:]:
            self.read(base)
        for name, inner in sorted(vars(value).items()):
            # Names with two underscores come from Python itself, unless they are methods.
            method = (types.FunctionType, staticmethod, classmethod, property)
            if not name.startswith(("__", "_abc_")) or isinstance(inner, method):
                self.put(name)
                self.read(inner, f"{value.__qualname__}.{name}")

    def instance(self, value: Any, name: str) -> None:
        self.read(type(value))
        if hasattr(value, "__wrapped__"):  # Such as by functools.lru_cache.
            self.read(value.__wrapped__, name)
            return
        try:
            reduced = value.__reduce_ex__(2)
        except Exception:  # A foreign object may raise anything.
            self.unread.append(f"{name} ({type(value).__module__}.{type(value).__qualname__})")
            return
        if isinstance(reduced, str):
            self.put(reduced)
            return
        # How pickle would make it again: a function, its arguments, attributes, items of a list and of a dictionary.
        self.all(reduced[:3], name)
        for items in reduced[3:5]:
            self.all(items or (), name)


def _names(code: types.CodeType) -> set[str]:
    """The global variables and attributes that a function names, and those of the functions in it."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, types.CodeType)]
    return set(code.co_names).union(*inner)


def _source(part: Any) -> str:
    """The source of a class or function; empty if there is none."""
    try:
        return inspect.getsource(part)
    except (OSError, TypeError):
        return ""


def _compiled(code: types.CodeType) -> str:
    """The compiled code of a function, without memory addresses."""
    return repr((code.co_code, [_constant(one) for one in code.co_consts], code.co_names))


def _constant(value: Any) -> str:
    if isinstance(value, types.CodeType):
        return _compiled(value)
    # The order of a set of texts changes from process to process.
    return repr(sorted(map(repr, value)) if isinstance(value, frozenset) else value)
