"""Keys at the command line: a store gets one, another one, or none; and where the key is.

No key is ever an argument: arguments are seen by everyone on the machine and end up in the shell's history. A key comes
from a file, from the keyring of the system, or is typed where nothing shows.
"""

import os
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import backup as copies
from ..errors import BadKeyFile, InvalidInput, MissingKey, NotFound, Refused, WrongKey
from . import output
from .doctor import DAMAGED, PANEL
from .session import Session, command, confirm, read_stdin

SHORTEST = 8
ACTIONS = ("status", "new", "save", "forget")

KeyFile = Annotated[
    Path | None,
    typer.Option("--key-file", metavar="FILE", help="The key is in FILE; where there is none, a new key is made and saved there.", show_default=False),
]  # fmt: skip
Keyring = Annotated[bool, typer.Option("--keyring", help="Make a new key and let the system's keyring keep it.")]
Passphrase = Annotated[bool, typer.Option("--passphrase", help="Type a passphrase; without a terminal it is read from standard input.")]  # fmt: skip
Backups = Annotated[bool, typer.Option("--backups/--no-backups", help="The backups of the store too.")]


@command("encrypt", panel=PANEL)
def encrypt(
    s: Session, key_file: KeyFile = None, keyring: Keyring = False, passphrase: Passphrase = False, backups: Backups = True
) -> None:  # fmt: skip
    """Encrypt the store and its backups. The old file goes only when the new one was read back and is the same."""
    from .. import crypt, keys

    where = _file(s)
    if keys.header_of(str(where)) is not None:
        key = _current(s, where)  # interrupted after the store itself: its backups are still to be done
        if key_file or keyring or passphrase:
            raise InvalidInput(f"{where} is encrypted already. `{s.command('rekey')}` gives it another key.")
    else:
        key = new_key(s, where, key_file, keyring, passphrase)
    with output.progress("copying", shown=not s.json) as bar:
        done = crypt.encrypt(where, key, backups=backups, progress=bar)
    _told(s, done, f"{where} is encrypted" if done.changed else f"{where} was encrypted already")
    if not s.json:
        _how_to_open(s, key)


@command("decrypt", panel=PANEL)
def decrypt(
    s: Session,
    backups: Backups = True,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Turn the store and its backups into plain files, which anyone who gets hold of them can read."""
    from .. import crypt, keys

    where = _file(s)
    key = _current(s, where) if keys.header_of(str(where)) is not None else keys.of(str(where), s.settings, None)
    if key is None:
        raise Refused(f"{where} is not encrypted: there is nothing to decrypt.")
    confirm(f"{where} will lie on the disk in the clear.", yes)
    with output.progress("copying", shown=not s.json) as bar:
        done = crypt.decrypt(where, key, backups=backups, progress=bar)
    _told(s, done, f"{where} is a plain file now")
    if s.settings.key_file and not s.json:
        output.line("The setting key_file still names a key: take it out, or the store is not opened.", style="yellow")


@command("rekey", panel=PANEL)
def rekey(
    s: Session, key_file: KeyFile = None, keyring: Keyring = False, passphrase: Passphrase = False, backups: Backups = True
) -> None:  # fmt: skip
    """Give an encrypted store and its backups another key; every page is written anew."""
    from .. import crypt, keys

    where = _file(s)
    if not (key_file or keyring or passphrase):
        raise InvalidInput("Say what the new key is: --key-file FILE, --keyring, or --passphrase.")
    # Interrupted after the store itself, it has the new key, and its backups are still to be done with the old one.
    is_begun = key_file is not None and key_file.exists() and keys.header_of(str(where)) is not None
    resumes = is_begun and _fits(keys.read(str(key_file.absolute())), where) if key_file is not None else False
    old = s.key_for(where) if resumes else _current(s, where)
    if old is None:
        raise MissingKey(f"The old key of {where} was not found, and its backups may still have it.")
    if keyring:  # beside the old one, until the file has it
        new = keys.Key.new("the keyring")
        keys.save_keyring(new, str(where) + keys.NEXT)
    else:
        new = new_key(s, where, key_file, keyring, passphrase)
    with output.progress("copying", shown=not s.json) as bar:
        done = crypt.rekey(where, old, new, backups=backups, progress=bar)
    if keyring:
        keys.save_keyring(new, str(where))
    _told(s, done, f"{where} has another key; the old one opens it no more")
    if not s.json:
        _how_to_open(s, new)
    if keyring:
        keys.forget_keyring(str(where) + keys.NEXT)


def complete_action(incomplete: str) -> list[str]:
    return [a for a in ACTIONS if a.startswith(incomplete)]


@command("key", panel=PANEL)
def key(
    s: Session,
    action: Annotated[str, typer.Argument(metavar="status|new|save|forget", help="Whether the store is encrypted and where its key is; make a new key; save the one in use once more; take it out of the keyring.", autocompletion=complete_action, show_default=False)],
    path: Annotated[Path | None, typer.Argument(metavar="FILE", help="The key file to make.", show_default=False)] = None,
    keyring: Annotated[bool, typer.Option("--keyring", help="The system's keyring instead of a file.")] = False,
) -> None:  # fmt: skip
    """Look after the key: where it is, whether it fits, a new one, one more copy of it."""
    from .. import keys

    if action not in ACTIONS:
        raise InvalidInput(f"There is no `recollect key {action}`. There is: {', '.join(ACTIONS)}.")
    if action == "status":
        _status(s)
        return
    where = _file(s, there=action != "new")
    if action == "forget":
        gone = keys.forget_keyring(str(where))
        _say(
            s,
            {"forgotten": gone},
            "The keyring has no key of it any more." if gone else "The keyring had no key of it.",
        )
        return
    if (path is None) == (not keyring):
        raise InvalidInput(f"Say where it goes: `{s.command('key', action, 'FILE')}`, or --keyring.")
    saved = keys.Key.new() if action == "new" else _current(s, where)
    if path is not None:
        to = keys.save_file(saved, str(path))
    else:
        if action == "new" and keys.from_keyring(str(where)) is not None:
            raise Refused("The keyring has a key for this store already: a second one would take its place.")
        keys.save_keyring(saved, str(where))
        to = "the keyring"
    _say(s, {"saved": to}, f"{'A new key' if action == 'new' else 'The key'} is in {to}.")
    if not s.json:
        output.line(keys.LOST, style="bold")
        if path is not None:
            output.line(f"Programs find it by the setting key_file:  export RECOLLECT_KEY_FILE={output.quoted(to)}")
        if action == "new":
            words = ("--key-file", to) if path is not None else ()
            output.hint(f"To encrypt the store with it: {s.command('encrypt', *words)}")


def _say(s: Session, document: dict[str, Any], text: str) -> None:
    if s.json:
        output.emit(document)
    else:
        output.line(text)


# -- status


def _status(s: Session) -> None:
    from .. import keys
    from ..db.cipher import PASSPHRASE

    if not isinstance(s.where, Path):
        raise Refused(f"{s.location} is no file. What Postgres stores is encrypted by its disk or its server: docs/how-to/encryption.md.")  # fmt: skip
    where = s.where
    header = keys.header_of(str(where)) if where.exists() else None
    found: dict[str, Any] = {"location": str(where), "exists": where.exists(), "encrypted": header is not None}
    found |= {"form": None, "key": None, "fits": None, "plain_backups": [], "problem": None}
    if header is not None:
        found["form"] = "passphrase" if header[3] == PASSPHRASE else "raw key"
        try:
            at_hand = s.key_for(where)
            found["key"] = at_hand.source if at_hand is not None else None
            found["fits"] = at_hand is not None and at_hand.unlock(header) is not None
        except (BadKeyFile, InvalidInput) as e:
            found["fits"], found["problem"] = False, str(e)
    elif s.settings.key_file:
        found["key"] = s.settings.key_file
    found["plain_backups"] = [str(b.path) for b in copies.found(where) if keys.header_of(str(b.path)) is None]
    if s.json:
        output.emit(found)
    else:
        _show_status(s, found)
    if found["fits"] is False:
        raise typer.Exit(DAMAGED)


def _show_status(s: Session, found: dict[str, Any]) -> None:
    rows = [("store", found["location"])]
    if not found["exists"]:
        rows.append(
            ("file", "there is none yet" + ("; it will be encrypted" if found["key"] else "; it will be plain"))
        )
    elif not found["encrypted"]:
        rows.append(("file", f"not encrypted. `{s.command('encrypt')}` encrypts it"))
    else:
        rows.append(("file", f"encrypted (ChaCha20-Poly1305) with a {found['form']}"))
        fits = "it fits" if found["fits"] else "it is not the one of this file"
        rows.append(("key", f"from {found['key']}: {fits}" if found["key"] else found["problem"] or "none found. Looked for: the setting key_file (RECOLLECT_KEY_FILE), the keyring of the system"))  # fmt: skip
    output.show(output.facts(rows))
    if found["encrypted"] and found["plain_backups"]:
        n = len(found["plain_backups"])
        output.warn(f"{output.count(n, 'backup')} of it in the clear: `{s.command('encrypt')}` encrypts them too.")
        for path in found["plain_backups"]:
            output.line(path)


# -- parts


def _file(s: Session, *, there: bool = True) -> Path:
    if isinstance(s.where, str):
        raise Refused(f"{s.location} is no file. What Postgres stores is encrypted by its disk or its server: docs/how-to/encryption.md.")  # fmt: skip
    if s.where is None:
        raise Refused("Persistence is off (the setting `enabled`): there is no file.")
    if there and not s.where.exists():
        raise NotFound(
            f"There is no store at {s.where} yet. With the setting key_file (RECOLLECT_KEY_FILE) it is made encrypted."
        )
    return s.where


def _fits(key: Any, where: Path) -> bool:
    from .. import keys

    header = keys.header_of(str(where))
    return header is not None and key.unlock(header) is not None


def _current(s: Session, where: Path) -> Any:
    """The key that the store has now, found to be the right one."""
    from .. import keys

    header = keys.header_of(str(where))
    if header is None:
        raise Refused(f"{where} is not encrypted. `{s.command('encrypt')}` encrypts it.")
    found = s.key_for(where)
    if found is None:
        raise MissingKey(
            f"{where} is encrypted and no key was found. `{s.command('key', 'status')}` says where it was looked for."
        )
    if found.unlock(header) is None:
        raise WrongKey(f"The key ({found.source}) is not the one that {where} was encrypted with.")
    return found


def new_key(s: Session, where: Path | None, key_file: Path | None, keyring: bool, passphrase: bool) -> Any:
    """The key that a file gets: an existing one, or a new one that is saved before it is used."""
    from .. import keys

    if (key_file is not None) + keyring + passphrase > 1:
        raise InvalidInput("One key is enough: choose --key-file, --keyring or --passphrase.")
    if keyring:
        found = keys.from_keyring(str(where))
        if found is None:
            found = keys.Key.new("the keyring")
            keys.save_keyring(found, str(where))
            _lost(s, "A new key is in the keyring.")
        return found
    named = str(key_file.expanduser().absolute()) if key_file is not None else s.settings.key_file
    if passphrase or (named is None and output.is_interactive()):
        return _typed(s, where)
    if named is None:
        raise InvalidInput(
            "Say what the key is: --key-file FILE (made if it is not there), --keyring, or --passphrase."
        )
    if not os.path.exists(named):
        keys.save_file(keys.Key.new(named), named)
        _lost(s, f"A new key is in {named}.")
    return keys.read(named)


def _lost(s: Session, text: str) -> None:
    from .. import keys

    if not s.json:
        output.line(text)
        output.line(keys.LOST, style="bold")


def _typed(s: Session, where: Path | None) -> Any:
    from .. import keys

    if output.is_interactive():
        output.write(f"{keys.LOST}\n", err=True)
        found = keys.Key(
            typer.prompt(
                output.clean(f"New passphrase for {where.name if where else 'the export'}"),
                hide_input=True,
                confirmation_prompt=True,
                err=True,
            ),
            "the passphrase",
        )
    else:
        found = keys.Key(read_stdin().strip("\r\n"), "standard input")
    found.check()
    if found.length < SHORTEST:
        raise InvalidInput(
            f"The passphrase is too short: take {SHORTEST} characters or more, better four words or more."
        )
    return found


def _told(s: Session, done: Any, said: str) -> None:
    if s.json:
        output.emit({
            "location": done.path, "events": done.events, "bytes": done.bytes, "changed": done.changed, "backups": list(done.backups),
            "left": [{"path": path, "why": why} for path, why in done.left],
        })  # fmt: skip
        return
    more = f", {output.count(len(done.backups), 'backup')} too" if done.backups else ""
    output.line(
        f"{said}{more}: {output.count(done.events, 'event')}, {output.size(done.bytes)}. Read back, row by row."
    )
    for path, why in done.left:
        output.warn(f"{path} stayed as it was: {why}")


def _how_to_open(s: Session, key: Any) -> None:
    if os.path.isabs(key.source) and key.source != s.settings.key_file:
        output.line(
            f"Programs find the key by the setting key_file:  export RECOLLECT_KEY_FILE={output.quoted(key.source)}"
        )
    elif key.source in ("the passphrase", "standard input"):
        output.hint(f"To let the system's keyring remember it: {s.command('key', 'save', '--keyring')}")
