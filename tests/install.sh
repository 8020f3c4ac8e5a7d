#!/bin/sh
# install.sh WHAT TEST=PACKAGES...: install Debian packages for each TEST that fails. Only with root and apt-get.
what=$1
shift
missing=
for each; do
    sh -c "${each%%=*}" >/dev/null 2>&1 || missing="$missing ${each#*=}"
done
if [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing for $what:$missing"
    { apt-get update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive \
        apt-get -o DPkg::Lock::Timeout=300 install --yes --no-install-recommends $missing; } >/dev/null || true
fi
