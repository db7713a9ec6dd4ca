#!/bin/sh
# constraints.sh RUN DEV: install each into a fresh environment and write down what came, as name==version lines.
set -eu
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
sh tools/make-venv.sh "$fresh/venv"
pip="$fresh/venv/bin/python -m pip --disable-pip-version-check"

write() {  # only what has a version: neither ourselves (editable) nor anything taken from a path
    # shellcheck disable=SC2086
    $pip freeze --exclude-editable | grep -E '^[A-Za-z0-9._-]+==[^ /@]+$' | grep -vi '^recollect==' >"$fresh/list"
    mkdir -p constraints
    mv "$fresh/list" "constraints/$1.txt"
    echo "constraints/$1.txt: $(wc -l <"constraints/$1.txt") packages"
}

$pip install -qq -e "$1"
write run
$pip install -qq -e "$2"
write dev
# LangGraph's server has an environment of its own, beside the tests': see tools/clients.py.
sh tools/make-venv.sh "$fresh/server"
pip="$fresh/server/bin/python -m pip --disable-pip-version-check"
"$fresh/venv/bin/python" -c 'import sys; sys.path.insert(0, "tools"); import clients; print("\n".join(clients.server_packages()))' >"$fresh/wanted"
$pip install -qq -r "$fresh/wanted"
write langgraph-server
