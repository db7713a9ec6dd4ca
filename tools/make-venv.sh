#!/bin/sh
# make-venv.sh FOLDER: a virtual environment of the first Python that is 3.11 or newer and can make one.
set -eu
folder=$1
# A name on the PATH may be a version manager's empty shim: ask it, do not trust it.
for python in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11 python; do
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 || continue
    if ! "$python" -c 'import venv, ensurepip' >/dev/null 2>&1; then
        echo "$python cannot make virtual environments (on Debian: apt-get install python3-venv)" >&2
        continue
    fi
    rm -rf "$folder"
    "$python" -m venv "$folder"
    exit 0
done
echo "Recollect needs Python 3.11 or newer with venv; none was found. Name one: make PYTHON=path/to/python" >&2
exit 1
