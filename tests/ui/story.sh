#!/usr/bin/env bash
# story.sh MANTISSA MANTISSA_CLI PRESET: the main job in real windows, by keyboard. A set-up that its target refuses is
# opened, its first fix applied and saved, training started, the window closed mid-run; then the stored run is reviewed.
# Run by under_x.sh. Prints what is wrong and keeps a picture of it.
source "$(dirname "${BASH_SOURCE[0]}")/story_steps.sh"
press() { xdotool key --clearmodifiers "$@"; sleep 0.4; }
focus() { xdotool windowactivate --sync "$(shown | tail -n 1)" 2>/dev/null; sleep 0.3; }

"$cli" check "$setup" >/dev/null && fail "the preset should be refused"
open_window "$setup"
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

open_window
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
