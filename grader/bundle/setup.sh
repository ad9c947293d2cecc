#!/bin/sh
# Gradescope runs this once, as root, when it builds the autograder's image. All that is needed is in the
# zip; only where there is no Python 3.11 or newer is one fetched, from the system's own packages.
set -u
. /autograder/source/lab_check/python.sh

if [ -z "$python" ] && command -v apt-get >/dev/null; then
    apt-get update -q
    for package in python3.13 python3.12 python3.11; do
        DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$package" && break
    done
    . /autograder/source/lab_check/python.sh
fi
if [ -z "$python" ]; then
    echo "lab_check: there is no Python 3.11 or newer here that every user can read." >&2
    echo "Choose a newer base image in Gradescope (Ubuntu 24.04 has Python 3.12)." >&2
    exit 1
fi
"$python" -V
umask 077
# So that no submission waits for it.
"$python" -I -S -m compileall -q --invalidation-mode unchecked-hash /autograder/source/lab_check
mkdir -p /autograder/results
chown -R 0:0 /autograder/source
chmod -R go= /autograder/source
seal
autograder check
