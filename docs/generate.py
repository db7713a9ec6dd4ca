"""The reference, written from the code: `make docs` writes it anew, `--check` says whether it is up to date.

Nothing in docs/reference is typed by hand. A verb's words are its docstring, a setting's are its `doc`, a command's its
help, an error's its docstring, a field's the remark beside it (or the docstring below it), a column's the remark beside
it in the migration. Whatever has none is listed by `undocumented()`, and a test wants that list empty.
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import inspect
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import recollect
from recollect import aio, config, errors, model, store
from recollect.archive import VERSION
from recollect.archive import lines as recollect_archive
from recollect.db import migrate, sqlite
from recollect.verbs import arguments

admin = sys.modules[recollect.Admin.__module__]

HERE = Path(__file__).resolve().parent
REFERENCE = HERE / "reference"
NOTE = "<!-- Written by docs/generate.py from the code: run `make docs`, do not edit. -->"


# -- verbs -----------------------------------------------------------------------------------------------------------


def verbs() -> str:
    """Every verb with its signature and its docstring."""
    lines = head(
        "Verbs",
        "A `Store` is everything one user has said and done; its verbs are all there is. Times are milliseconds since "
        "1970, UTC. The values they give are in [values](values.md), what they raise in [errors](errors.md); `**entry` stands for "
        "the keywords of an [Entry](values.md#entry).",
    )
    lines += ["## Opening", ""]
    for name, function in openers().items():
        lines += entry(f"recollect.{name}", function, f"recollect.{name}")
    for section, names in sections(store.Store):
        lines += [f"## {section}", ""]
        for name in names:
            lines += entry(f"store.{name}", inspect.getattr_static(store.Store, name), f"store.{name}")
    lines += [
        "## AsyncStore",
        "",
        paragraph(aio.AsyncStore),
        "",
        paragraph(aio),
        "",
        "The same verbs with the same arguments, awaited:",
        "",
        ", ".join(f"[`{n}`](#store{n})" for n, v in public(aio.AsyncStore) if isinstance(v, aio._Mirror)) + ".",
        "",
    ]
    for name, member in public(aio.AsyncStore):
        if not isinstance(member, aio._Mirror):
            lines += entry(f"async_store.{name}", member, f"async_store.{name}")
    lines += ["## Admin", "", paragraph(admin), "", paragraph(recollect.Admin), ""]
    for name, member in public(recollect.Admin):
        lines += entry(f"admin.{name}", member, f"admin.{name}")
    return page(lines)


def openers() -> dict[str, Callable[..., Any]]:
    return {"open": recollect.open, "open_async": recollect.open_async, "admin": recollect.admin}


def public(cls: type) -> list[tuple[str, Any]]:
    """Public names, of the rooms that a class is made of too."""
    return [(name, member) for part in rooms(cls) for name, member in vars(part).items() if not name.startswith("_")]


def rooms(cls: type) -> list[type]:
    """A class of ours and the classes of ours that it is made of, the ground first."""
    return [part for part in reversed(cls.__mro__) if part.__module__.partition(".")[0] == recollect.__name__]


def sections(cls: type) -> list[tuple[str, list[str]]]:
    """Public names under the `# -- heading` they stand below in the source, room by room."""
    found: dict[str, list[str]] = {"The handle": []}
    for part in rooms(cls):
        title = "The handle"
        for line in inspect.getsource(part).splitlines():
            if heading := re.fullmatch(r"    # -- (.+)", line):
                title = heading[1].capitalize()
            elif (verb := re.match(r"    def ([a-z]\w*)\(", line)) and verb[1] != "open":
                found.setdefault(title, []).append(verb[1])
    return list(found.items())


def entry(title: str, member: Any, called: str) -> list[str]:
    text = doc(member) or ""
    if isinstance(member, property):
        signature = f"{called}: {annotation(inspect.signature(member.fget).return_annotation)}"  # type: ignore[arg-type]
    else:
        signature = call(called, member)
    return [f"### {title}", "", "```text", signature, "```", "", text, ""]


def call(called: str, function: Any) -> str:
    """A signature as a person would write it; one argument a line when it is long."""
    signature = inspect.signature(getattr(function, "__func__", function))
    parts: list[str] = []
    starred = False
    for name, p in signature.parameters.items():
        if name in ("self", "cls"):
            continue
        if p.kind is p.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        mark = {p.VAR_KEYWORD: "**", p.VAR_POSITIONAL: "*"}.get(p.kind, "")
        part = f"{mark}{name}: {annotation(p.annotation)}"
        parts.append(part if p.default is p.empty else f"{part} = {p.default!r}")
    back = annotation(signature.return_annotation)
    awaited = "await " if inspect.iscoroutinefunction(function) else ""
    line = f"{awaited}{called}({', '.join(parts)}) -> {back}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{awaited}{called}(", *(f"    {part}," for part in parts), f") -> {back}"])


def annotation(kind: Any) -> str:
    """A type without the modules it comes from, its aliases spelt out."""
    text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    text = re.sub(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z])", "", text).replace("'", "").replace("NoneType", "None")
    return re.sub(r"\w+", lambda word: aliases().get(word[0], word[0]), text)


@functools.cache
def aliases() -> dict[str, str]:
    """Names that stand for a type in signatures: assigned in model.py or verbs/arguments.py, mostly for type checkers only."""
    found: dict[str, str] = {}
    for module in (model, arguments):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                if re.fullmatch(r"[A-Z][a-z]\w*", name) and isinstance(
                    node.value, ast.BinOp | ast.Subscript | ast.Name
                ):
                    found[name] = re.sub(r"\b[a-z_]+\.(?=[A-Z])", "", ast.unparse(node.value))
    return found


# -- values ----------------------------------------------------------------------------------------------------------


def values() -> str:
    """Every dataclass of `model`, field by field."""
    lines = head("Values", paragraph(model))
    for name, cls in value_classes().items():
        lines += [f"## {name}", "", doc(cls) or "", "", "| field | type | meaning |", "|---|---|---|"]
        remarks = field_docs(cls)
        defaults = defaults_of(cls)
        for field, kind in cls.__annotations__.items():
            default = f" = `{defaults[field]}`" if field in defaults else ""
            lines.append(row(f"`{field}`", f"`{annotation(kind)}`{default}", remarks.get(field, "")))
        for prop, member in public(cls):
            if isinstance(member, property):
                kind = annotation(inspect.signature(member.fget).return_annotation)  # type: ignore[arg-type]
                lines.append(row(f"`{prop}`", f"`{kind}`, computed", doc(member) or ""))
        lines.append("")
    lines += ["## Words", ""]
    lines += ["Kinds of events: " + ", ".join(f"`{k}`" for k in model.KINDS) + ".", ""]
    lines += ["Roles of messages: " + ", ".join(f"`{r}`" for r in model.ROLES) + ".", ""]
    return page(lines)


def value_classes() -> dict[str, type]:
    own = {n: c for n, c in vars(model).items() if inspect.isclass(c) and c.__module__ == model.__name__}
    return {n: c for n, c in own.items() if inspect.get_annotations(c)}


def defaults_of(cls: type) -> dict[str, str]:
    if not dataclasses.is_dataclass(cls):
        return {}
    return {f.name: repr(f.default) for f in dataclasses.fields(cls) if f.default is not dataclasses.MISSING}


def field_docs(cls: type) -> dict[str, str]:
    """What is said of each field: a remark at the end of its line, or a docstring below it."""
    source = inspect.getsource(cls)
    remarks: dict[int, str] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT and token.line[: token.start[1]].strip():
            remarks[token.start[0]] = token.string.lstrip("# ").strip()
    found: dict[str, str] = {}
    body = ast.parse(source).body[0].body  # type: ignore[attr-defined]
    for i, node in enumerate(body):
        if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)):
            continue
        below = body[i + 1] if i + 1 < len(body) else None
        if node.end_lineno in remarks:
            found[node.target.id] = remarks[node.end_lineno]
        elif isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
            found[node.target.id] = " ".join(str(below.value.value).split())
    return found


# -- settings --------------------------------------------------------------------------------------------------------


def settings() -> str:
    """Every setting: name, variable, default, meaning."""
    lines = head("Settings", paragraph(config))
    lines += [
        "Three ways to say the same thing:",
        "",
        "```text",
        'recollect.open("chat.db", summary_threshold=40)    an argument',
        "RECOLLECT_SUMMARY_THRESHOLD=40                     a variable",
        "summary_threshold = 40                             a line of config.toml",
        "```",
        "",
        "A switch in a variable is `true`, `on`, `yes`, `1` or `false`, `off`, `no`, `0`.",
        "",
        "| setting | variable | default | meaning |",
        "|---|---|---|---|",
    ]
    said = field_docs(config.Settings)
    for f in dataclasses.fields(config.Settings):
        default = config.DEFAULTS[f.name]
        shown = ("off", "on")[default] if isinstance(default, bool) else "none" if default in ((), {}) else default
        shown = "unset" if shown is None else shown
        low = config._LOWEST.get(f.name)
        least = f" At least {low}." if low else ""
        lines.append(row(f"`{f.name}`", f"`{config.PREFIX}{f.name.upper()}`", str(shown), said.get(f.name, "") + least))
    return page(lines)


# -- errors ----------------------------------------------------------------------------------------------------------


def error_classes() -> list[type]:
    return [c for c in vars(errors).values() if inspect.isclass(c) and issubclass(c, errors.RecollectError)]


def error_page() -> str:
    """The tree as it is drawn in errors.py, and each error's own words."""
    said = inspect.getdoc(errors) or ""
    idea, _, rest = said.partition("\n\n")
    tree, _, end = rest.rpartition("\n\n")
    lines = head("Errors", idea)
    lines += ["```text", inspect.cleandoc(tree), "```", "", " ".join(end.split()), ""]
    lines += ["All of them are in `recollect.errors`.", "", "| error | is also a | meaning |", "|---|---|---|"]
    for cls in error_classes():
        parents = [b.__name__ for b in cls.__bases__]
        lines.append(row(f"`{cls.__name__}`", ", ".join(f"`{p}`" for p in parents), doc(cls) or ""))
    return page(lines)


# -- commands --------------------------------------------------------------------------------------------------------


@functools.cache
def root_command() -> Any:
    """The command line as Typer builds it; None until there is one."""
    try:
        from typer.main import get_command

        from recollect.cli import app
    except ImportError:
        return None
    return get_command(app)


def commands() -> Iterator[tuple[str, Any]]:
    """(words, command) of every command, in the order in which `--help` lists them."""

    def walk(words: str, command: Any) -> Iterator[tuple[str, Any]]:
        below = getattr(command, "commands", None)
        if below is None:
            yield words, command
            return
        for name, inner in below.items():
            if not inner.hidden:
                yield from walk(f"{words} {name}", inner)

    root = root_command()
    if root is not None:
        yield from walk("recollect", root)


def command_page() -> str:
    """Every command with its arguments and options; what they all take is said once."""
    root = root_command()
    lines = head("Commands", plain(root.help) if root is not None and root.help else "The command line: `recollect`.")
    if root is None:
        return page(lines)
    lines += [plain(root.epilog or ""), "", "Every command takes, before or after its name:", ""]
    lines += [*options([p for p in parameters(root) if is_shared(p)]), "", "`recollect` itself also takes:", ""]
    lines += [*options([p for p in parameters(root) if not is_shared(p)]), ""]
    panel = None
    for words, command in commands():
        if (here := getattr(command, "rich_help_panel", None)) != panel and isinstance(here, str):
            panel = here
            lines += [f"## {panel}", ""]
        lines += [f"### {words}", "", "```text", usage(words, command), "```", "", plain(command.help or ""), ""]
        lines += [*options([p for p in parameters(command) if not is_shared(p)]), ""]
    return page(lines)


@functools.cache
def shared_options() -> set[str]:
    """The options that every command has."""
    names = [{p.name for p in command.params if not is_argument(p)} for _, command in commands()]
    return set.intersection(*names) if names else set()


def is_shared(parameter: Any) -> bool:
    """Whether it is the option that every command has. `hooks --user` is another one of the same name."""
    said = {p.name: p.opts for p in parameters(root_command())}
    return parameter.name in shared_options() and parameter.opts == said.get(parameter.name)


def parameters(command: Any) -> list[Any]:
    return [p for p in command.params if not getattr(p, "hidden", False) and p.name != "help"]


def is_argument(parameter: Any) -> bool:
    return getattr(parameter, "param_type_name", "") == "argument"


def usage(words: str, command: Any) -> str:
    parts = [words]
    for p in parameters(command):
        if is_argument(p):
            word = metavar(p) + ("..." if p.nargs == -1 else "")
            parts.append(word if p.required else f"[{word}]")
    if any(not is_argument(p) and not is_shared(p) for p in parameters(command)):
        parts.append("[OPTIONS]")
    return " ".join(parts)


def options(shown: list[Any]) -> list[str]:
    rows = []
    for p in shown:
        name = metavar(p) if is_argument(p) else ", ".join(p.opts)
        if not is_argument(p) and p.metavar:
            name += f" {p.metavar}"
        if getattr(p, "secondary_opts", None):
            name += " / " + ", ".join(p.secondary_opts)
        told = getattr(p, "show_default", None)
        default = told if isinstance(told, str) else p.default
        unsaid = default in (None, False, (), ...) or callable(default) or p.required
        rows.append(row(f"`{name}`", "" if unsaid else f"`{default}`", plain(getattr(p, "help", None) or "")))
    return ["| | default | meaning |", "|---|---|---|", *rows] if rows else []


def metavar(argument: Any) -> str:
    return str(argument.metavar or (argument.name or "").upper())


def plain(text: str) -> str:
    """Help without Rich's marks, paragraphs kept."""
    text = re.sub(r"\[/?(?:bold|dim|italic|green|red|yellow|cyan|b|i)\]", "", inspect.cleandoc(text)).replace("\b", "")
    return "\n\n".join(" ".join(block.split()) for block in text.split("\n\n"))


# -- schema ----------------------------------------------------------------------------------------------------------


def schema() -> str:
    """The tables of a database built this moment, with the remarks that stand in the migrations."""
    tables, indexes = built()
    notes, remarks = migration_remarks()
    there = postgres_types()
    lines = head(
        "Schema",
        f"Schema {migrate.LATEST}. Both databases have the same tables and columns, in `main` on SQLite and in the schema "
        "`recollect` on Postgres. They are ours to change between versions: read them to understand, go through the verbs to "
        "use them, and never open the file with another SQLite ([why](../how-to/several-processes.md)).",
    )
    for table, columns in tables.items():
        lines += [
            f"## {table}",
            "",
            notes.get(table, ""),
            "",
            "| column | SQLite | Postgres | meaning |",
            "|---|---|---|---|",
        ]
        for name, kind, required in columns:
            null = "" if required else ", may be null"
            lines.append(row(f"`{name}`", kind + null, there.get((table, name), "–"), remarks.get((table, name), "")))
        lines.append("")
        for index in indexes.get(table, []):
            lines.append(f"- {index}")
        lines += [""] if indexes.get(table) else []
    return page(lines)


FTS5 = "FTS5"


def built() -> tuple[dict[str, list[tuple[str, str, bool]]], dict[str, list[str]]]:
    """Tables with their columns, and the indexes of each, of a database made in memory. The columns of a full-text table
    have no type of their own; the tables that FTS5 keeps behind it are its own business."""
    engine = sqlite.SQLite(None, busy_timeout_ms=0)
    try:
        ask = engine._current().query
        kinds = {name: kind for _, name, kind, *_ in ask("pragma main.table_list") if kind in ("table", "virtual")}
        names = [r[0] for r in ask("select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'")]
        tables = {
            name: [
                (column, FTS5 if kinds[name] == "virtual" else kind.lower(), bool(required or key or not kind))
                for _, column, kind, required, _, key in ask(f"pragma table_info({name})")
            ]
            for name in names
            if name in kinds
        }
        indexes: dict[str, list[str]] = {}
        made = "select tbl_name, name, sql from sqlite_schema where type = 'index' and sql is not null"
        for table, name, sql in ask(made):
            over = re.sub(r".*? on \w+ ", "", " ".join(sql.split()), count=1, flags=re.IGNORECASE)
            kind = "unique index" if sql.lower().startswith("create unique") else "index"
            indexes.setdefault(table, []).append(f"{kind} `{name}` {over}")
        return tables, indexes
    finally:
        engine.close()


def migration_remarks() -> tuple[dict[str, str], dict[tuple[str, str], str]]:
    """What the SQLite migrations say: of a table, in the remark above it; of a column, at the end of its line."""
    notes: dict[str, str] = {}
    remarks: dict[tuple[str, str], str] = {}
    for _, script in migrate.scripts("sqlite", 0):
        above: list[str] = []
        table = ""
        for line in script.splitlines():
            if begins := re.match(r"(?:create table|create virtual table|alter table) (\w+)", line):
                table = begins[1]
                if above:
                    notes[table] = " ".join(above)
            if column := re.match(r"(?:  |.* add column )([a-z]\w*) .*?-- (.+)", line):
                remarks[table, column[1]] = column[2].strip()
            above = [*above, line.removeprefix("-- ")] if line.startswith("-- ") else []
    return notes, remarks


def postgres_types() -> dict[tuple[str, str], str]:
    """The type of each column as the Postgres migrations say it."""
    found: dict[tuple[str, str], str] = {}
    for _, script in migrate.scripts("postgres", 0):
        table = ""
        for line in script.splitlines():
            if begins := re.match(r"(?:create table|alter table) (\w+)", line):
                table = begins[1]
            kind = r"(bigint|text(?:\[\])?|double precision|bytea|bit varying|tsvector)(?![\w\[])"
            if column := re.match(rf"(?:  |.* add column )([a-z]\w*) {kind}", line):
                found[table, column[1]] = column[2]
    return found


# -- writing ---------------------------------------------------------------------------------------------------------


def doc(member: Any) -> str | None:
    """A docstring of the thing's own, in one line a paragraph; inherited ones and dataclasses' automatic ones are none."""
    text = getattr(member, "__doc__", None)
    if inspect.isclass(member) and text and text.startswith(f"{member.__name__}("):
        return None
    if not text:
        return None
    return escaped("\n\n".join(" ".join(block.split()) for block in inspect.cleandoc(text).split("\n\n")))


def escaped(text: str) -> str:
    """Markdown takes `<` for the beginning of a tag, except in code."""
    return "`".join(part if i % 2 else part.replace("<", "&lt;") for i, part in enumerate(text.split("`")))


def paragraph(member: Any) -> str:
    """A docstring as prose; nothing when there is none."""
    return doc(member) or ""


def head(title: str, idea: str) -> list[str]:
    return [NOTE, "", f"# {title}", "", idea, ""]


def row(*cells: str) -> str:
    return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"


def archive_page() -> str:
    """What may stand on a line of an export."""
    known = recollect_archive
    lines = head(
        "Archives",
        f"What `store.export` and `recollect export` write: one JSON object a line, in UTF-8, version {VERSION} of the format. Each has a "
        "`type` and the fields of that type; what has no value is left out. A reader refuses what it does not know and names the line, and "
        "refuses a newer version. There are no embeddings and no index in it: they are made anew. [How to](../how-to/export.md).",
    )
    for kind, known_fields in known.TYPES.items():
        lines += [f"## {kind}", "", known.ABOUT[kind], "", "| field | must be there | what it is |", "|---|---|---|"]
        lines += [
            f"| `{name.removesuffix('!')}` | {'yes' if name.endswith('!') else ''} | {known.words(check)} |"
            for name, check in known_fields.items()
        ]
        lines.append("")
    return page(lines)


def http_page() -> str:
    """Every route of the sidecar, from the schema that it serves itself."""
    described = http_schema()
    lines = head(
        "HTTP",
        "What `recollect serve` answers to; the same, for programs, is at `/openapi.json`. Every request needs `Authorization: Bearer "
        "<token>`. A `workspace` is what to look from: what belongs to another is not found. Times are milliseconds since 1970, UTC. "
        "[How to](../how-to/any-language.md).",
    )
    for where, operation in http_operations(described):
        lines += [f"## {where}", "", operation["description"], ""]
        asked = [(p["name"], p.get("required"), p) for p in operation.get("parameters", ())]
        if asked:
            lines += ["| parameter | must be there | what it is |", "|---|---|---|"]
            lines += [row(f"`{name}`", "yes" if need else "", said_of(p)) for name, need, p in asked]
            lines.append("")
        for kind, body in operation.get("requestBody", {}).get("content", {}).items():
            names = [
                one["$ref"].rsplit("/", 1)[1]
                for one in [body["schema"], *body["schema"].get("anyOf", ())]
                if "$ref" in one
            ]
            lines += [
                f"Body: `{kind}`" + (", " + " or ".join(f"[{n}](#{n.lower()})" for n in names) if names else "") + ".",
                "",
            ]
    lines += ["## Bodies", ""]
    for name in HTTP_BODIES:
        body = described["components"]["schemas"][name]
        lines += [
            f"### {name}",
            "",
            body.get("description", ""),
            "",
            "| field | must be there | what it is |",
            "|---|---|---|",
        ]
        lines += [
            row(f"`{field}`", "yes" if field in body.get("required", ()) else "", said_of(about))
            for field, about in body["properties"].items()
        ]
        lines.append("")
    lines += ["## Errors", "", 'One shape: `{"error": {"code": "...", "message": "...", "details": [...]}}`.', ""]
    first = next(operation for _, operation in http_operations(described))
    lines += ["| status | what happened |", "|---|---|"]
    lines += [row(number, about["description"]) for number, about in first["responses"].items() if number != "200"]
    return page(lines)


HTTP_BODIES = ("Record", "Batch", "ContextRequest", "Remember", "Target", "Edit", "Fork", "Forget")


def http_schema() -> dict[str, Any]:
    from recollect.server.app import create_app

    with recollect.open(":memory:", background=False, semantic=False) as made:
        described: dict[str, Any] = create_app(made, token="")._app.api.openapi()  # type: ignore[attr-defined]
        return described


def http_operations(described: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{m.upper()} {path}", operation) for path, item in described["paths"].items() for m, operation in item.items()
    ]


def said_of(about: dict[str, Any]) -> str:
    """A parameter or a field in words: its description, what it may be, and what it is when it is not said."""
    schema = about.get("schema", about)
    words = [about.get("description") or schema.get("description") or ""]
    choices = next((one["enum"] for one in [schema, *schema.get("anyOf", ())] if "enum" in one), None)
    words += [f"One of {', '.join(f'`{c}`' for c in choices)}."] if choices else []
    words += [f"Unsaid: `{schema['default']}`."] if schema.get("default") not in (None, "", False) else []
    return " ".join(words)


def http_silent() -> list[str]:
    """Routes, parameters and fields that say nothing of themselves."""
    described = http_schema()
    silent = []
    for where, operation in http_operations(described):
        silent += [] if operation.get("description") else [where]
        silent += [f"{where} {p['name']}" for p in operation.get("parameters", ()) if not said_of(p)]
    for name in HTTP_BODIES:
        silent += [
            f"{name}.{f}"
            for f, about in described["components"]["schemas"][name]["properties"].items()
            if not said_of(about)
        ]
    return silent


def page(lines: Iterable[str]) -> str:
    text = "\n".join(line.rstrip() for line in lines)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


PAGES: dict[str, Callable[[], str]] = {
    "verbs.md": verbs,
    "values.md": values,
    "settings.md": settings,
    "errors.md": error_page,
    "commands.md": command_page,
    "schema.md": schema,
    "archive.md": archive_page,
    "http.md": http_page,
}


def undocumented() -> list[str]:
    """Everything public that says nothing of itself."""
    silent: list[str] = []
    for name, function in openers().items():
        silent += [] if doc(function) else [f"recollect.{name}"]
    for cls in (store.Store, aio.AsyncStore, recollect.Admin):
        silent += [
            f"{cls.__name__}.{name}" for name, member in public(cls) if not doc(getattr(member, "__func__", member))
        ]
    for name, cls in value_classes().items():
        said = field_docs(cls)
        silent += [] if doc(cls) else [name]
        silent += [f"{name}.{field}" for field in cls.__annotations__ if not said.get(field)]
        silent += [f"{name}.{p}" for p, member in public(cls) if isinstance(member, property) and not doc(member)]
    said = field_docs(config.Settings)
    silent += [f"setting {f.name}" for f in dataclasses.fields(config.Settings) if not said.get(f.name)]
    drawn = errors.__doc__ or ""
    for cls in error_classes():
        silent += [] if doc(cls) else [cls.__name__]
        silent += [] if re.search(rf"\b{cls.__name__}\b", drawn) else [f"{cls.__name__} in the tree of errors.py"]
    for words, command in commands():
        silent += [] if command.help else [words]
        silent += [f"{words} {p.name}" for p in parameters(command) if not getattr(p, "help", None)]
    silent += http_silent()
    tables, _ = built()
    notes, remarks = migration_remarks()
    silent += [f"table {table}" for table in tables if table not in notes]
    silent += [
        f"column {t}.{c}"
        for t, columns in tables.items()
        for c, kind, _ in columns
        if kind != FTS5 and (t, c) not in remarks
    ]
    return silent


def stale() -> list[str]:
    """Pages that are not what the code says now, or that no code makes."""
    old = []
    for name, make in PAGES.items():
        there = None
        with contextlib.suppress(FileNotFoundError):
            there = (REFERENCE / name).read_text("utf-8")
        if there != make():
            old.append(name)
    return old + sorted(p.name for p in REFERENCE.glob("*.md") if p.name not in PAGES)


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: docs/generate.py [--check]")
        return 2
    if arguments:
        old = stale()
        for name in old:
            print(f"docs/reference/{name} is stale: run `make docs`")
        return 1 if old else 0
    REFERENCE.mkdir(exist_ok=True)
    for name in stale():
        if name in PAGES:
            (REFERENCE / name).write_text(PAGES[name](), "utf-8", newline="\n")
            print(f"wrote docs/reference/{name}")
        else:
            (REFERENCE / name).unlink()
            print(f"removed docs/reference/{name}")
    for thing in undocumented():
        print(f"undocumented: {thing}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
