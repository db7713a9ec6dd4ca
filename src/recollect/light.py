"""Frozen dataclasses, patterns and JSON without the import bill.

`import dataclasses` brings `inspect`, `ast`, `dis`, `tokenize` and `re`, and every decorated class compiles half a dozen
functions: together 20 ms, as much as a whole bare process takes. Hooks and commands are one process an event, so the
values of `model` use this `dataclass` instead. To a type checker it *is* `dataclasses.dataclass`; at run time it makes
the same classes (frozen, equal when equal, `is_dataclass`, `fields`, `asdict` and `replace` work) from closures, and
what only introspection needs is built when introspection asks for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from dataclasses import dataclass as dataclass
    from typing import Any

    pattern = re.compile
else:

    def dataclass(*, frozen: bool):
        """For frozen classes with plain defaults; `uncompared = (...)` names fields that equality leaves out."""
        assert frozen
        return _make

    class pattern:
        """A regular expression, compiled when it is first used: to index an ordinary sentence takes none, and `re` with
        the thirty of `search` costs a new process 15 ms."""

        def __init__(self, source, flags=0):
            self._source, self._flags = source, flags

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            made = _compiled(self._source, self._flags)
            for verb in ("findall", "finditer", "match", "search", "split", "sub"):
                setattr(self, verb, getattr(made, verb))
            return getattr(made, name)

    def _compiled(source, flags):
        code = _shelf.get((source, flags))
        if code is not None:
            try:
                import _sre

                return _sre.compile(source, *code)
            except (TypeError, ValueError, OverflowError, RuntimeError):  # it is checked there: damaged code is refused
                del _shelf[source, flags]
        import re

        if _shelf_path:
            _new.append((source, flags))
        return re.compile(source, flags)


_shelf: dict[tuple[str, int], tuple[Any, ...]] = {}
"""(source, flags) -> what `_sre.compile` takes besides the source."""
_shelf_path = ""
_new: list[tuple[str, int]] = []


def shelve(path: str) -> None:
    """From now on patterns come compiled out of a file, and `put_away` adds those that are not in it yet. A question takes ten
    to twenty of them; to import `re` and to compile these is a quarter of what a prompt's hook spends, and always gives
    the same. As with Python's own compiled modules, the file is nobody's but ours: it holds no content, may be deleted at
    any time, and one of another Python is not read."""
    global _shelf_path
    _shelf_path = path
    try:
        with open(path, "rb") as f:
            head, _, codes = f.read().partition(b"\n")
        made_by, kept = loads(head.decode())
        if made_by != _maker():
            return
        words = memoryview(codes).cast("I")
        for source, given, flags, groups, names, start, end in kept:
            order = (None, *(dict(zip(names.values(), names, strict=True)).get(i) for i in range(1, groups + 1)))
            _shelf[source, given] = (flags, words[start:end].tolist(), groups, names, order)
    except (OSError, ValueError, TypeError, AttributeError):
        _shelf.clear()  # there is none yet, or it is damaged: it is made anew


def put_away() -> None:
    """Write down what was compiled since `shelve`. Most processes have nothing to add."""
    if not _new:
        return
    import json
    import os

    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]
    except ImportError:  # another Python's: it has its own way
        return
    kept: list[Any] = []
    words: list[int] = []

    def put(source: str, given: int, flags: int, code: list[int], groups: int, names: Any) -> None:
        kept.append([source, given, flags, groups, dict(names), len(words), len(words) + len(code)])
        words.extend(code)

    for (source, given), (flags, code, groups, names, _) in _shelf.items():
        put(source, given, flags, code, groups, names)
    import re

    for source, given in _new:
        made = re.compile(source, given)
        code = _compiler._code(_parser.parse(source, given), given)
        put(source, given, made.flags, code, made.groups, made.groupindex)
    _new.clear()
    from array import array

    os.makedirs(os.path.dirname(_shelf_path), mode=0o700, exist_ok=True)
    own = f"{_shelf_path}.{os.getpid()}"
    with open(own, "wb") as f:
        f.write(json.dumps([_maker(), kept]).encode() + b"\n" + array("I", words).tobytes())
    os.replace(own, _shelf_path)


def _maker() -> list[Any]:
    """Which Python compiled it."""
    import _sre  # type: ignore[import-not-found]
    import sys

    return [sys.version, _sre.MAGIC, _sre.CODESIZE]


def loads(text: str) -> Any:
    """`json.loads`, by the scanner that it is made of, without the seven patterns that importing `json` compiles (4 ms)."""
    try:
        from _json import make_scanner

        how: Any = _Plain
        value, end = make_scanner(how)(text, 0)
        if end == len(text):
            return value
    except (ImportError, StopIteration, SystemError):  # the last, of a text that ends in the middle
        pass
    import json  # white space around it, or an error to be told properly

    return json.loads(text)


class _Plain:
    """How the scanner is to read."""

    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def _make(cls: Any) -> Any:
    names = tuple(cls.__annotations__)
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    compared = tuple(name for name in names if name not in getattr(cls, "uncompared", ()))
    instead = getattr(cls, "_instead", lambda name: "")
    width = len(names) if not hasattr(cls, "__post_init__") else -1

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        if (
            len(args) == width and not kwargs
        ):  # by position and all of them: nothing to find out, in a third of the time
            self.__dict__.update(zip(names, args, strict=True))
            return
        if len(args) > len(names):
            raise TypeError(f"{cls.__name__} takes {len(names)} values, not {len(args)}")
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name in values or name not in names:
                if name in values:
                    raise TypeError(f"{cls.__name__} got two values for {name!r}")
                raise TypeError(f"{cls.__name__} got an unknown {name!r}{instead(name)}")
            values[name] = value
        if len(values) < len(names):
            for name in names:
                if name not in values:
                    if name not in defaults:
                        raise TypeError(f"{cls.__name__} needs {name!r}")
                    values[name] = defaults[name]
        self.__dict__.update(values)
        if hasattr(cls, "__post_init__"):
            self.__post_init__()

    def __eq__(self: Any, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        a, b = self.__dict__, other.__dict__
        return all(a[name] == b[name] for name in compared)

    def __hash__(self: Any) -> int:
        return hash(tuple(self.__dict__[name] for name in compared))

    def __repr__(self: Any) -> str:
        return f"{cls.__qualname__}({', '.join(f'{name}={self.__dict__[name]!r}' for name in names)})"

    def __setattr__(self: Any, name: str, value: object) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot assign to field {name!r}{instead(name)}")

    def __delattr__(self: Any, name: str) -> None:
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot delete field {name!r}")

    own_hash = () if "__hash__" in cls.__dict__ else (__hash__,)  # as the standard one does
    for method in (__init__, __eq__, *own_hash, __repr__, __setattr__, __delattr__):
        method.__qualname__ = f"{cls.__qualname__}.{method.__name__}"
        setattr(cls, method.__name__, method)
    setattr(cls, "__match_args__", names)  # noqa: B010 - a checker knows it as a class variable of the real one
    cls.__dataclass_fields__ = _Introspected("__dataclass_fields__")
    cls.__dataclass_params__ = _Introspected("__dataclass_params__")
    cls.__signature__ = _Introspected("__signature__")
    return cls


class _Introspected:
    """What the standard library's dataclass would have put there, made when it is first looked at."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, obj: object, cls: Any) -> Any:
        import dataclasses
        import inspect

        plain = {
            # A dict is no default to `dataclasses`; ours is never written to.
            name: dataclasses.field(default_factory=dict) if value == {} else value
            for name, value in cls.__dict__.items()
            if name in cls.__annotations__
        }
        twin = type(cls.__name__, (), {"__annotations__": cls.__annotations__, "__module__": cls.__module__, **plain})
        real: Any = dataclasses.dataclass(frozen=True)(twin)
        for name in getattr(cls, "uncompared", ()):
            real.__dataclass_fields__[name].compare = False
        cls.__dataclass_fields__ = real.__dataclass_fields__
        cls.__dataclass_params__ = real.__dataclass_params__
        cls.__signature__ = inspect.signature(real)
        return getattr(cls, self._name)
