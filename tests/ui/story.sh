#!/usr/bin/env bash
# story.sh MANTISSA MANTISSA_CLI PRESET: the main job in real windows, by keyboard. A set-up that its target refuses is
# opened, its first fix applied and saved, training started, the window closed mid-run; then the stored run is reviewed.
# Run by under_x.sh. Prints what is wrong and keeps a picture of it.
set -u
mantissa=$1 cli=$2 preset=$3
work=$(mktemp -d)
export XDG_CONFIG_HOME="$work/config" XDG_DATA_HOME="$work/data" XDG_RUNTIME_DIR="$work"
trap 'kill ${window:-} 2>/dev/null; rm -rf "$work"' EXIT
setup="$work/setup.yaml"
cp "$preset" "$setup"
sed -i 's/max_steps: .*/max_steps: 100000/; s/max_epochs: .*/max_epochs: 100/' "$setup"

fail() { import -window root "${TMPDIR:-/tmp}/mantissa-story.png" 2>/dev/null; echo "story: $*" >&2; exit 1; }
# until SECONDS COMMAND…: waits for a command to succeed.
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
press() { xdotool key --clearmodifiers "$@"; sleep 0.4; }
focus() { xdotool windowactivate --sync "$(shown | tail -n 1)" 2>/dev/null; sleep 0.3; }

"$cli" check "$setup" >/dev/null && fail "the preset should be refused"
"$mantissa" "$setup" 2>"$work/log" &
window=$!
until_true 20 shown || fail "no window within 20 s: $(cat "$work/log")"
sleep 1.5
focus
press F8
press Return
press ctrl+s
until_true 5 "$cli" check "$setup" || fail "the first fix was not applied and saved"
press ctrl+r
until_true 30 json 'runs and runs[0]["state"] == "running" and runs[0]["steps"] > 5' || fail "training did not start: $("$cli" runs)"
press ctrl+q
sleep 0.5
kill -0 $window 2>/dev/null || fail "the window closed mid-run without asking"
press Return
until_true 30 gone || fail "the window did not close"
json 'runs[0]["state"] == "stopped"' || fail "the run is not stored as stopped: $("$cli" runs)"
run=$("$cli" runs --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["run"])')
"$cli" show "$run" --json | python3 -c '
import json, os, sys
run = json.load(sys.stdin)
for name in ("loss", "loss_scale", "grad_norm"):
    points = run["series"][name][0]["step"]
    assert points == list(range(len(points))) and len(points) > 5, name
assert os.listdir(os.path.join(run["folder"], "checkpoints")), "no checkpoint"
' || fail "the stored run is not whole"

"$mantissa" 2>"$work/log" &
window=$!
until_true 20 shown || fail "no second window: $(cat "$work/log")"
sleep 1
focus
press ctrl+3
sleep 1
press Return
sleep 1.5
kill -0 $window 2>/dev/null || fail "opening the stored run ended the program: $(cat "$work/log")"
[ -n "${STORY_PICTURE:-}" ] && import -window root "$STORY_PICTURE"
press ctrl+q
until_true 10 gone || fail "the window did not close without a run"
echo "story: fixed, trained, stopped, reviewed"
