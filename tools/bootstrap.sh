#!/usr/bin/env bash
# Creates the development environment: `bootstrap.sh .venv`. Called by `make install`.
set -euo pipefail
venv=$1

python=""
for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11; do
  if [ -n "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
    python=$candidate
    break
  fi
done
if [ -z "$python" ]; then
  echo "trainway needs Python 3.11 or newer; install it, or name it: make install PYTHON=/path/to/python3" >&2
  exit 1
fi

# Debian and Ubuntu keep the part of venv that brings pip in a package of its own.
if ! "$python" -c 'import ensurepip' 2>/dev/null; then
  version=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
  as_root=""
  [ "$(id -u)" -eq 0 ] || as_root=sudo
  if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! command -v sudo >/dev/null; }; then
    echo "$python cannot make virtual environments: install its venv package ($version on Debian and Ubuntu)" >&2
    exit 1
  fi
  $as_root apt-get update -qq
  $as_root apt-get install -y -qq "$version"
fi

[ -x "$venv/bin/python" ] && "$venv/bin/python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || "$python" -m venv --clear "$venv"
"$venv/bin/pip" install -q --disable-pip-version-check 'uv>=0.5'
export VIRTUAL_ENV=$PWD/$venv
"$venv/bin/uv" pip install -q --compile-bytecode --require-hashes -r requirements/dev.txt
"$venv/bin/uv" pip install -q --no-deps --no-build-isolation -e .
