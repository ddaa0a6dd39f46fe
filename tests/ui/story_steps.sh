# Shared by the stories: sourced with their arguments MANTISSA MANTISSA_CLI PRESET. Makes a place of their own, a copy of
# the preset that trains long enough to be closed, and the words of which they are told.
set -u
mantissa=$1 cli=$2 preset=$3
work=$(mktemp -d)
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_RUNTIME_DIR="$work"
trap 'kill ${window:-} 2>/dev/null; rm -rf "$work"' EXIT
setup="$work/setup.yaml"
cp "$preset" "$setup"
sed -i 's/max_steps: .*/max_steps: 100000/; s/max_epochs: .*/max_epochs: 100/' "$setup"

fail() { import -window root "${TMPDIR:-/tmp}/mantissa-$(basename "$0" .sh).png" 2>/dev/null; echo "story: $*" >&2; exit 1; }
# until_true SECONDS COMMAND…: waits for a command to succeed.
until_true() {
    local left=$(($1 * 10))
    shift
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ $left -gt 0 ] || return 1
        sleep 0.1
    done
}
shown() { xdotool search --onlyvisible --name 'Mantissa' ; }
gone() { ! kill -0 "$window"; }
json() { "$cli" runs --json | python3 -c "import json, sys; runs = json.load(sys.stdin); sys.exit(0 if ($1) else 1)"; }
open_window() {
    "$mantissa" "$@" 2>"$work/log" &
    window=$!
    until_true 20 shown || fail "no window within 20 s: $(cat "$work/log")"
    sleep 1.5
}
