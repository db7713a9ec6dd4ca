"""Settings, saved where every door of Recollect reads them: the TOML file of `config`.

Lines of the file that are not about what changed stay as they are, remarks included. What an environment variable says
wins over the file, so such a setting is shown and cannot be changed here.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..config import DEFAULTS, PREFIX, Settings, config_file
from ..errors import SettingsError


def is_fixed(name: str) -> bool:
    """Whether the environment decides."""
    return PREFIX + name.upper() in os.environ


def save(changes: Mapping[str, Any]) -> Settings:
    """Write settings into the file; None takes one out, back to its default. Nothing is written that would not load."""
    path = Path(config_file())
    if path.exists() and not path.is_file():  # such as /dev/null, which says that there are no settings
        raise SettingsError(f"RECOLLECT_CONFIG is {path}, which is no file: nothing can be kept there.")
    text = path.read_text("utf-8") if path.exists() else ""
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as e:
        raise SettingsError(f"{path} cannot be read, so nothing was changed: {e}") from None
    wanted = {**before, **changes}
    wanted = {k: v for k, v in wanted.items() if v is not None and not (k in changes and _same(v, DEFAULTS.get(k)))}
    settings = Settings(**wanted)
    edited = _edited(text, changes, wanted)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        scratch.write_text(edited, "utf-8")
        os.replace(scratch, path)
    finally:
        scratch.unlink(missing_ok=True)
    return settings


def _same(value: Any, default: Any) -> bool:
    if isinstance(default, tuple):
        return tuple(value) == default
    return bool(value == default)


def _edited(text: str, changes: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """The file with its lines changed; written anew where that is not enough (a value over several lines, a table)."""
    lines = [line for line in text.splitlines() if not any(re.match(rf"\s*{re.escape(n)}\s*=", line) for n in changes)]
    first_table = next((i for i, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    lines[first_table:first_table] = [f"{n} = {said(wanted[n])}" for n in changes if n in wanted]
    edited = "\n".join(lines) + "\n"
    try:
        if _plain(tomllib.loads(edited)) == _plain(dict(wanted)):
            return edited
    except tomllib.TOMLDecodeError:
        pass
    return "".join(f"{name} = {said(value)}\n" for name, value in wanted.items())


def _plain(values: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(values))


def said(value: Any) -> str:
    """A value as TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{said(str(k))} = {said(v)}" for k, v in value.items()) + " }"
    return "[" + ", ".join(said(v) for v in value) + "]"
