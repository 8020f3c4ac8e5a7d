#!/usr/bin/env bash
# make bare: both commands of the README where nothing was ever installed by hand.
#
# A minimal Debian root, made by debootstrap from this machine's own package source, with its pip and proxy settings,
# gets what the README asks for and a clone of what is committed. There `make run` has to answer and to stop, and
# `make test` to pass. All of it happens in name spaces of its own: when they end, no process and no mount is left.
#
#   BARE=test make bare                      only one of the two, or other targets of the Makefile
#   BARE="browser test-browser" make bare    such as the browser tests alone
#   BARE_KEEP=1 make bare                    leaves the root for a look, and says where
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
    # In the background, since bash would let a signal wait for a command in front; in a group of its own, since it
    # would else ignore SIGINT, with all its children.
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
        # A name space that was killed may take a moment to end. Its mounts were never to be seen out here.
        for _ in {1..100}; do rm -rf "$work" 2>/dev/null && break || sleep 0.1; done
    fi
}

inside() {
    root=$1 release=$2 repository=$3
    trap 'exit 143' INT TERM # the first process of a name space gets no signal that it does not ask for
    build
    for command in ${BARE:-run test}; do
        echo "make bare: make $command"
        if [ "$command" = run ]; then
            run_and_stop
        else
            there CI=true make "$command" # a browser that could not be installed is no reason to pass
        fi || refuse "make $command failed."
        echo "make bare: make $command passed."
    done
}

build() {
    echo "make bare: building a minimal Debian ($release)..."
    sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v release="$release" '$3 ~ "^" release "(-updates|-security)?$" && $4 == "main"')
    mirror=$(awk -v release="$release" '$3 == release { print $2; exit }' <<<"$sources")
    [ -n "$mirror" ] || refuse "apt has no source for $release main."
    debootstrap --variant=minbase --include=python3,python3-venv,make,git,ca-certificates \
        "$release" "$root" "$mirror" >"$root.log" 2>&1 || { cat "$root.log"; refuse "debootstrap failed."; }

    # How this machine reaches its registries; nothing of what it has installed.
    echo "$sources" >"$root/etc/apt/sources.list"
    apt-config dump Acquire >"$root/etc/apt/apt.conf.d/99machine"
    for file in /etc/resolv.conf /etc/hosts /etc/apt/auth.conf /etc/apt/auth.conf.d /usr/local/share/ca-certificates; do
        [ ! -e "$file" ] || cp -RLT "$file" "$root$file"
    done
    chroot "$root" update-ca-certificates >/dev/null 2>&1
    settings=()
    for name in $(compgen -e | grep -iE '^(https?|all|no)_proxy$'); do settings+=("$name=${!name}"); done
    # What pip reads from files first, then what the environment says instead. Folders of this machine are not there.
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

# The site answers at the address that it prints, and after Ctrl-C nothing of it runs any more.
run_and_stop() {
    set -m # a group of its own, to which Ctrl-C can be sent
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
    wait "$site" || true # make ends by the signal that it got
    cat "$root.log"
    grep -q 'Beadbox has stopped' "$root.log" || return 1
    for process in /proc/[0-9]*; do
        [ "$process" = "/proc/$$" ] || { echo "It still runs: $(tr '\0' ' ' <"$process/cmdline")"; return 1; }
    done
}

if [ "${1:-}" = inside ]; then inside "${@:2}"; else outside; fi
