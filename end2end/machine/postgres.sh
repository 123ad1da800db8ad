# A PostgreSQL of our own: a fresh data folder, a free port on 127.0.0.1, gone when the run ends.
# It leaves every cluster that the machine already has alone, and is never left running by an ended run.
# fsync stays on, because the product refuses a server without it; what is turned off only matters after a power cut.

POSTGRES_URL=""
POSTGRES_HOME=""   # data/ and logs, removed by postgres_stop
POSTGRES_BIN=""
POSTGRES_PACKAGED=${POSTGRES_PACKAGED:-/usr/lib/postgresql} # VERSION/bin below it
POSTGRES_TRIES=20  # ports tried before giving up
POSTGRES_ICU_FROM=15
POSTGRES_READY_S=60
POSTGRES_STOP_S=30

# The newest server that Debian installed, else one on PATH (a whole bin folder: initdb, pg_ctl, postgres).
postgres_folder() {
  local folder
  folder=$(for bin in "$POSTGRES_PACKAGED"/*/bin; do
    if [ -x "$bin/initdb" ] && [ -x "$bin/postgres" ]; then echo "$bin"; fi
  done | sort -V | tail -n 1)
  if [ -z "$folder" ] && command -v initdb >/dev/null && command -v postgres >/dev/null; then
    folder=$(dirname "$(readlink -f "$(command -v postgres)")")
  fi
  echo "$folder"
}

# Debian's postgresql makes and starts a cluster called main. postgresql-common comes first, so that its setting is
# there to be changed, and gets it back afterwards: the machine's next PostgreSQL is its owner's business.
install_postgres() {
  local setting=/etc/postgresql-common/createcluster.conf ended=0
  apt_get install --no-install-recommends postgresql-common || return 1
  as_root cp -p "$setting" "$setting.before-ascertain" || return 1
  echo "create_main_cluster = false" | as_root tee -a "$setting" >/dev/null
  apt_get install --no-install-recommends postgresql || ended=1
  as_root mv "$setting.before-ascertain" "$setting"
  return "$ended"
}

# postgres refuses to run as root; then it runs as Debian's postgres, else as nobody.
postgres_owner() {
  local name
  for name in postgres nobody; do
    if id "$name" >/dev/null 2>&1; then echo "$name"; return; fi
  done
}

as_postgres() {
  if [ "$(id -u)" != 0 ]; then
    (cd "$POSTGRES_HOME" && exec "$@")
  else
    local owner
    owner=$(postgres_owner)
    (cd "$POSTGRES_HOME" && exec setpriv --reuid="$owner" --regid="$(id -g "$owner")" --clear-groups env HOME="$POSTGRES_HOME" "$@")
  fi
}

# A folder the server's owner can reach; TMPDIR may lie in root's home.
postgres_home() {
  local parent
  for parent in "${TMPDIR:-/tmp}" /tmp; do
    POSTGRES_HOME=$(mktemp -d "$parent/ascertain-pg.XXXXXX") || continue
    if [ "$(id -u)" = 0 ]; then chown "$(postgres_owner)" "$POSTGRES_HOME"; fi
    if as_postgres test -w "$POSTGRES_HOME" 2>/dev/null; then return 0; fi
    rm -rf "$POSTGRES_HOME"
    POSTGRES_HOME=""
  done
  echo "no folder that PostgreSQL's user can write to" >&2
  return 1
}

# Outside the ephemeral range, so that no client socket takes it meanwhile.
port_to_try() { echo $((20000 + (RANDOM * 32768 + RANDOM) % 12000)); }

port_answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

postgres_settings() {
  cat <<'CONF'
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
max_connections = 300
fsync = on
full_page_writes = off
wal_level = minimal
max_wal_senders = 0
max_wal_size = 2GB
checkpoint_timeout = 30min
shared_buffers = 128MB
log_min_messages = warning
CONF
}

# Sorted by language, not by byte, where the server can: what forgets COLLATE "C" is found out in a test.
postgres_create() {
  local locale=(--locale=C)
  if [ "$("$POSTGRES_BIN/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')" -ge "$POSTGRES_ICU_FROM" ]; then
    locale=(--locale=C.UTF-8 --locale-provider=icu --icu-locale=und)
  fi
  as_postgres "$POSTGRES_BIN/initdb" -D "$POSTGRES_HOME/data" -U ascertain --auth=trust --encoding=UTF8 \
    --no-sync "${locale[@]}" >"$POSTGRES_HOME/initdb.log" 2>&1 || { cat "$POSTGRES_HOME/initdb.log" >&2; return 1; }
  postgres_settings >>"$POSTGRES_HOME/data/postgresql.conf"
}

# pg_ctl asks until the server takes connections, and fails at once when it ends instead (the port was taken).
postgres_start() {
  local tries port
  POSTGRES_BIN=$(postgres_folder)
  postgres_home && postgres_create || return 1
  for ((tries = 0; tries < POSTGRES_TRIES; tries++)); do
    port=$(port_to_try)
    port_answers "$port" && continue
    if as_postgres "$POSTGRES_BIN/pg_ctl" start -D "$POSTGRES_HOME/data" -l "$POSTGRES_HOME/server.log" -w -t "$POSTGRES_READY_S" \
      -o "-p $port" >/dev/null 2>&1 && port_answers "$port"; then
      POSTGRES_URL="postgres://ascertain@127.0.0.1:$port/postgres"
      return 0
    fi
    grep -q "could not bind" "$POSTGRES_HOME/server.log" 2>/dev/null || break
  done
  echo "PostgreSQL did not start:" >&2
  tail -n 20 "$POSTGRES_HOME/server.log" >&2
  return 1
}

postgres_runs() { as_postgres "$POSTGRES_BIN/pg_ctl" status -D "$POSTGRES_HOME/data" >/dev/null 2>&1; }

postgres_stop() {
  [ -n "$POSTGRES_HOME" ] || return 0
  if [ -n "$POSTGRES_BIN" ] && postgres_runs; then
    as_postgres "$POSTGRES_BIN/pg_ctl" stop -D "$POSTGRES_HOME/data" -m immediate -w -t "$POSTGRES_STOP_S" >/dev/null 2>&1 ||
      echo "PostgreSQL in $POSTGRES_HOME did not stop within $POSTGRES_STOP_S s" >&2
  fi
  rm -rf "$POSTGRES_HOME"
  POSTGRES_HOME=""
}
