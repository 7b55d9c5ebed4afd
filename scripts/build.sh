# shellcheck shell=bash
# Building, with what the compiler says visible and kept. Sourced by run.

build_products() {
    local log=$RUN_DIR/logs/build.log
    step "building ($CONFIGURATION); the first time takes some minutes"
    swift build --package-path "$ROOT" -c "$CONFIGURATION" > >(tee "$log") 2>&1 || fail_with_log "the build" "$log"
}

require_products() {
    local name
    for name in "${SERVICES[@]}" islandctl isthmus-parked; do
        [[ -x $BIN/$name ]] || fail "$BIN/$name is not built; run without --no-build"
    done
}
