#!/usr/bin/env bash
# make bare: run both commands of the README, and the library, on a system without any installed tools.
#
# debootstrap makes a minimal Debian root from this machine's package source, with its pip and proxy settings. The root
# gets the packages that the README names and a clone of the last commit. There `make run` has to answer and to stop,
# and `make test` has to pass. The wheel of the library, installed by pip without and with numba, has to train a machine
# as the checkout does. All of it runs in separate namespaces. When these end, no process and no mount is left.
#
#   BARE=test make bare                      one of the three, or any target of the Makefile
#   BARE=library make bare                   only the library, in a root with nothing but Python
#   BARE="browser test-browser" make bare    for example only the browser tests
#   BARE_KEEP=1 make bare                    keeps the root, and prints its path
set -euo pipefail

refuse() { echo "make bare: $*" >&2; exit 1; }

outside() {
    . /etc/os-release 2>/dev/null || true
    [ "${ID:-}" = debian ] && [ -n "${VERSION_CODENAME:-}" ] || refuse "this builds a root like the Debian release that it runs on, and this is none."
    [ "$(id -u)" = 0 ] || refuse "only root may make a root for others: run it as root."
    command -v debootstrap >/dev/null || refuse "there is no debootstrap: apt install debootstrap."
    unshare --mount --pid --fork true 2>/dev/null ||
        refuse "this machine allows no name spaces of mounts and processes, without which something could be left behind."

    spaces=
    work=$(mktemp -d "${TMPDIR:-/tmp}/beadbox-bare-XXXXXX")
    trap leave EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    # In the background, since bash delays signals during a foreground command; in a process group of its own, since
    # otherwise it and its children would ignore SIGINT.
    set -m
    unshare --mount --pid --mount-proc --fork --kill-child \
        "$0" inside "$work/root" "$VERSION_CODENAME" "$PWD" </dev/null &
    spaces=$!
    wait "$spaces"
}

leave() {
    { kill -KILL "$spaces" && wait "$spaces" || true; } 2>/dev/null
    if [ -n "${BARE_KEEP:-}" ]; then
        echo "make bare: the root is kept: chroot $work/root. Remove it with rm -r $work."
    else
        # A killed namespace may take a moment to end. Its mounts were never visible outside.
        for _ in {1..100}; do rm -rf "$work" 2>/dev/null && break || sleep 0.1; done
    fi
}

inside() {
    root=$1 release=$2 repository=$3
    trap 'exit 143' INT TERM # the first process of a namespace receives only signals with a handler
    build
    for command in ${BARE:-run test library}; do
        what="make $command"
        [ "$command" != library ] || what="the library"
        echo "make bare: $what"
        if [ "$command" = run ]; then
            run_and_stop
        elif [ "$command" = library ]; then
            library
        else
            there CI=true make "$command" # a missing browser must not pass
        fi || refuse "$what failed."
        echo "make bare: $what passed."
    done
}

build() {
    echo "make bare: building a minimal Debian ($release)..."
    sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$release" '$3 ~ "^" release "(-updates|-security)?$" && $4 == "main"')
    mirror=$(awk -v release="$release" '$3 == release { print $2; exit }' <<<"$sources")
    [ -n "$mirror" ] || refuse "apt has no source for $release main."
    packages=python3,python3-venv,ca-certificates
    [ "${BARE:-}" = library ] || packages+=,make,git
    debootstrap --variant=minbase --include="$packages" \
        "$release" "$root" "$mirror" >"$root.log" 2>&1 || { cat "$root.log"; refuse "debootstrap failed."; }

    # Settings to reach this machine's registries, but none of its installed software.
    echo "$sources" >"$root/etc/apt/sources.list"
    apt-config dump Acquire >"$root/etc/apt/apt.conf.d/99machine"
    for file in /etc/resolv.conf /etc/hosts /etc/apt/auth.conf /etc/apt/auth.conf.d /usr/local/share/ca-certificates; do
        [ ! -e "$file" ] || cp -RLT "$file" "$root$file"
    done
    chroot "$root" update-ca-certificates >/dev/null 2>&1
    settings=()
    for name in $(compgen -e | grep -iE '^(https?|all|no)_proxy$'); do settings+=("$name=${!name}"); done
    # pip's settings from files first, then from the environment, which wins. Settings of folders here are left out.
    while IFS="=" read -r name value; do
        [[ $name != *cert ]] || cp -L --parents "$value" "$root"
        name=${name//-/_}
        settings+=("PIP_${name^^}=$value")
    done < <(.venv/bin/python -m pip config list | sort -r | sed -nE "s/ *file:[^ ']*//g
        s/^(global|:env:)\.((extra-)?index-url|trusted-host|proxy|(client-)?cert|(default-)?timeout|retries)='(.+)'$/\2=\6/p")
    for name in registry proxy https-proxy noproxy; do
        value=$(.venv/bin/npm config get "$name")
        case $value in "" | null) ;; *) settings+=("npm_config_${name//-/_}=$value") ;; esac
    done
    mount -t proc proc "$root/proc"
    mount -t devpts devpts "$root/dev/pts"
    mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"

    settings+=(${PORT:+"PORT=$PORT"})

    git clone --quiet --depth 1 "file://$repository" "$root/root/beadbox"
}

there() {
    chroot "$root" /usr/bin/env -i -C /root/beadbox HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "${settings[@]}" "$@"
}

# The installed library must leave the same beads, random state and strength as the checkout, and the programs of ten
# pages must print the same. The examples of its documents must hold.
library() {
    training=tests/beadbox/installed_training.py
    wheels=/root/wheels programs=/root/environment/bin
    .venv/bin/python -m hatchling build --target wheel --directory "$root$wheels" >"$root.log" 2>&1 || { cat "$root.log"; return 1; }
    wheel=$wheels/$(ls "$root$wheels")
    expected=$(PYTHONPATH=. .venv/bin/python "$training")
    cp "$training" "$root/root/training.py"
    cp tests/beadbox/installed_examples.py "$root/root/examples.py"
    BEADBOX_LOCAL=1 .venv/bin/python manage.py shell --no-imports --command \
        "from pathlib import Path; from tests.learning.page_programs import write; write(Path('$root/root/pages'))" || return 1
    pages=$(for page in "$root"/root/pages/*.py; do PYTHONPATH=. .venv/bin/python "$page"; done)
    there python3 -m venv /root/environment
    for extras in "" "[fast]"; do
        there $programs/pip install --quiet --disable-pip-version-check "$wheel$extras"
        [ "$(there $programs/python -I /root/training.py)" = "$expected" ] || return 1
        echo "make bare: beadbox$extras trains as the checkout does."
        n_examples=$(there $programs/python -I /root/examples.py) || return 1
        echo "make bare: $n_examples examples of beadbox$extras hold."
        [ "$(for number in {0..9}; do there $programs/python -I /root/pages/page$number.py; done)" = "$pages" ] || return 1
        echo "make bare: the programs of ten pages print the same with beadbox$extras."
        in_pipe_and_terminal || return 1
        echo "make bare: beadbox$extras has its command, in a pipe and in a terminal."
    done
}

# Each command must print the same in a pipe as in a terminal of 80 columns, in which no line is longer; only a terminal
# gets a progress bar. Both trainings must write the same file.
in_pipe_and_terminal() {
    command=$programs/beadbox
    train="train --game noughts-and-crosses --games 200 --seed 1"
    for words in "$train /root/machine.json" "strength /root/machine.json" "show /root/machine.json" \
        "show /root/machine.json ........." "solve hexapawn" "show" "play hexapawn --against perfect"; do
        input=/dev/null
        [ "${words%% *}" != play ] || { echo resign >"$root/root/moves"; input=/root/moves; }
        there sh -c "$command $words <$input" >"$root.log" 2>&1 || { cat "$root.log"; return 1; }
        ! grep -q $'[\r\033]' "$root.log" || return 1
        [ "${words%% *}" != train ] || mv "$root/root/machine.json" "$root/root/piped.json"
        there script --quiet --return --command "stty cols 80 rows 24; $command $words <$input" \
            /dev/null >"$root.screen" || { cat "$root.screen"; return 1; }
        lines=$(tr '\r' '\n' <"$root.screen" | grep -v '^\[[#.]*\]' | grep . || true)
        [ "$lines" = "$(grep . "$root.log")" ] || { diff <(echo "$lines") "$root.log"; return 1; }
        ! LC_ALL=C.UTF-8 grep -E '.{81}' <(tr '\r' '\n' <"$root.screen") || return 1
    done
    cmp "$root/root/piped.json" "$root/root/machine.json" || return 1
    rm "$root/root/piped.json" "$root/root/machine.json"
}

# The site must answer at the address that it prints; after Ctrl-C none of its processes may run.
run_and_stop() {
    set -m # a process group of its own, to receive Ctrl-C
    there make run >"$root.log" 2>&1 &
    site=$!
    set +m
    until address=$(grep -om1 'http://localhost:[0-9]*' "$root.log"); do
        kill -0 "$site" 2>/dev/null || { cat "$root.log"; return 1; }
        sleep 0.5
    done
    there python3 -c 'import sys, urllib.request
for path in ("/", "/api/health"):
    print(urllib.request.urlopen(sys.argv[1] + path).status, sys.argv[1] + path)' "$address" || { cat "$root.log"; return 1; }
    kill -INT -- "-$site"
    wait "$site" || true # make ends by that signal
    cat "$root.log"
    grep -q 'Beadbox has stopped' "$root.log" || return 1
    for process in /proc/[0-9]*; do
        [ "$process" = "/proc/$$" ] || { echo "It still runs: $(tr '\0' ' ' <"$process/cmdline")"; return 1; }
    done
}

if [ "${1:-}" = inside ]; then inside "${@:2}"; else outside; fi
