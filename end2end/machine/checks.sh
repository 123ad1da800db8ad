# Checks on the text of the tree that no other tool makes. They read what git tracks or would track.

LINE_LIMIT=600

# What people write by hand; lock files, snapshots and files that say they are generated are not.
sources() {
  git ls-files -z --cached --others --exclude-standard -- '*.rs' '*.js' '*.css' '*.sql' '*.sh' '*.html' '*.toml' dev |
    while IFS= read -r -d '' file; do
      if [ -f "$file" ] && ! head -n 5 "$file" | grep -q '@generated'; then printf '%s\0' "$file"; fi
    done
}

lines_within_limit() {
  local long
  long=$(sources | xargs -0 awk -v limit="$LINE_LIMIT" 'FNR == limit + 1 { print FILENAME }') || return 1
  if [ -n "$long" ]; then
    printf 'over %s lines: %s\n' "$LINE_LIMIT" $long
    return 1
  fi
}

# A registry's host, or a folder of one machine, works for whoever wrote it and for nobody else.
# Cargo.lock names its index by design. git grep: 0 found, 1 nothing, more is an error.
names_no_machine() {
  local ended=0
  git grep -nIE --untracked \
    -e 'registry[.]npmjs|(index|static)[.]crates[.]io|files[.]pythonhosted|(deb|security)[.]debian[.]org' \
    -e '(^|[^[:alnum:]_.-])/wor[k]/' \
    -- ':!Cargo.lock' || ended=$?
  [ "$ended" -eq 1 ]
}
