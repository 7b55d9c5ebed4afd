# shellcheck shell=bash
# Which Debian packages are there, and having the missing ones installed. Sourced by run and test.

# The names in infra/packages/NAME.txt.
listed_packages() {
    local list
    for list in "$@"; do sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$ROOT/infra/packages/$list.txt"; done
}

missing_packages() {
    local package status
    for package in $(listed_packages "$@"); do
        status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) || status=
        [[ $status == ii* ]] || printf '%s\n' "$package"
    done
}

# install_missing LIST…: installs what the lists name and the machine has not; asks for sudo only if there is something.
install_missing() {
    local missing log=$RUN_DIR/logs/install.log as_root=()
    mapfile -t missing < <(missing_packages "$@")
    ((${#missing[@]})) || return 0
    step "installing ${missing[*]}"
    command -v apt-get >/dev/null || fail "this is not Debian; please install by hand: ${missing[*]}"
    if ((EUID != 0)); then
        command -v sudo >/dev/null || fail "neither root nor sudo; please install by hand: ${missing[*]}"
        as_root=(sudo)
    fi
    "${as_root[@]}" bash "$ROOT/scripts/install-packages" "${missing[@]}" > >(tee "$log") 2>&1 ||
        fail_with_log "could not install ${missing[*]}" "$log"
}

require_swift() {
    command -v swift >/dev/null || fail "swift is not on the PATH; Swift 6.3 is needed (https://www.swift.org/install)"
    local version
    version=$(swift --version 2>&1 | sed -n 's/.*Swift version \([0-9.]*\).*/\1/p' | head -n 1)
    [[ -n $version ]] || fail "swift --version does not work here: $(swift --version 2>&1 | head -n 3)"
    [[ $(printf '%s\n' 6.2 "$version" | sort -V | head -n 1) == 6.2 ]] ||
        fail "Swift $version is too old; Swift 6.3 is needed"
}
