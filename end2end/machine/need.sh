# What a machine must have, and how it gets it. `need rust node …` returns only when all of them are there;
# else it names each missing thing and the command that brings it, and ends the run.
# It never downloads a browser, a toolchain or a binary from anywhere but Debian's packages.

NODE_AT_LEAST=18

may_install() {
  command -v apt-get >/dev/null || return 1
  [ "$(id -u)" = 0 ] || sudo -n true 2>/dev/null
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Without standard input and without questions; waits for another apt rather than failing on its lock.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2
}

apt_install() {
  echo "Installing: $*" >&2
  apt_get update || echo "apt-get update failed; going on with the lists that are here" >&2
  # Sourced parts are functions of this shell: a package can have its own way in.
  local package
  for package in "$@"; do
    case "$package" in
      postgresql) install_postgres ;;
      *) apt_get install --no-install-recommends "$package" ;;
    esac || return 1
  done
}

# Each has_THING leaves the machine as it is.
has_rust() { command -v cargo >/dev/null && cargo fmt --version >/dev/null 2>&1 && cargo clippy --version >/dev/null 2>&1; }
has_node() { command -v npm >/dev/null && command -v node >/dev/null && [ "$(node -p 'parseInt(process.versions.node)')" -ge "$NODE_AT_LEAST" ]; }
has_chromium() { [ -x "${CHROMIUM:-/usr/bin/chromium}" ]; }
has_postgres() { [ -n "$(postgres_folder)" ]; }
has_compiler() { command -v cc >/dev/null; }

# Debian's packages that bring a thing; Rust is not among them, Debian's is older than this workspace.
packages_of() {
  case "$1" in
    compiler) echo gcc libc6-dev ;;
    node) echo nodejs npm ;;
    chromium) echo chromium ;;
    postgres) echo postgresql ;;
  esac
}

how_to_get() {
  case "$1" in
    rust) echo "Rust $(rust_at_least) or newer: https://rustup.rs, then rustup component add rustfmt clippy" ;;
    node) echo "Node.js $NODE_AT_LEAST or newer, with npm: apt-get install --no-install-recommends nodejs npm" ;;
    *) echo "$1: apt-get install --no-install-recommends $(packages_of "$1")" ;;
  esac
}

need() {
  local packages=() missing=() thing
  for thing in "$@"; do
    # Unquoted: one thing can be several packages.
    # shellcheck disable=SC2207
    "has_$thing" || packages+=($(packages_of "$thing"))
  done
  if [ ${#packages[@]} -gt 0 ] && may_install; then
    apt_install "${packages[@]}" || echo "apt-get could not install all of: ${packages[*]}" >&2
  fi
  for thing in "$@"; do
    "has_$thing" || missing+=("$(how_to_get "$thing")")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    printf '\nMissing:\n' >&2
    printf '  %s\n' "${missing[@]}" >&2
    exit 1
  fi
}

rust_at_least() { sed -n 's/^rust-version = "\(.*\)"/\1/p' "$TOP/Cargo.toml"; }

# The one npm package the journeys use; it drives Debian's Chromium and brings no browser.
browser_driver() {
  local have=$TOP/end2end/node_modules/.package-lock.json
  [ "$have" -nt "$TOP/end2end/package-lock.json" ] && return 0
  echo "Installing the browser driver with npm" >&2
  (cd "$TOP/end2end" && PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 npm install --no-audit --no-fund </dev/null >&2) || {
    printf '\nMissing:\n  the npm packages of end2end/package.json: cd end2end && npm install\n' >&2
    exit 1
  }
  touch "$have"
}
