#!/usr/bin/env bash
# story_mouse.sh MANTISSA MANTISSA_CLI PRESET: the main job again, by mouse alone, in a window of 1280×720: a block of the
# palette, the first fix, Save, Start, the window manager's own close button mid-run, and the stored run in History.
# Run by under_x.sh with openbox. Prints what is wrong and keeps a picture of it.
source "$(dirname "${BASH_SOURCE[0]}")/story_steps.sh"

# Where things are, from the left and the top of the screen that the window fills.
accumulation=92,484 two_batches=150,165 diagram=700,305 first_fix=430,563 file_menu=20,32 save=60,82
start=1233,70 close=1271,9 stop_and_close=1080,124 history=36,193 first_run=240,177

click() { xdotool mousemove "${1%,*}" "${1#*,}"; sleep 0.3; xdotool click "${@:2}" 1; sleep 0.5; }

"$cli" check "$setup" >/dev/null && fail "the preset should be refused"
open_window "$setup"
click $accumulation
click $two_batches
click $diagram
click $first_fix
click $file_menu
click $save
until_true 5 grep -q 'accumulate_grad_batches: 2' "$setup" || fail "the palette's block is not in the saved file"
until_true 5 "$cli" check "$setup" || fail "the first fix was not applied and saved"
click $start
until_true 30 json 'runs and runs[0]["state"] == "running" and runs[0]["steps"] > 5' || fail "training did not start: $("$cli" runs)"
import -window root "$work/one.png"
sleep 2
import -window root "$work/two.png"
cmp -s "$work/one.png" "$work/two.png" && fail "nothing moves on the run page"
click $close
sleep 0.5
kill -0 $window 2>/dev/null || fail "the window closed mid-run without asking"
click $stop_and_close
until_true 30 gone || fail "the window did not close"
json 'runs[0]["state"] == "stopped"' || fail "the run is not stored as stopped: $("$cli" runs)"

open_window
click $history
sleep 1
import -window root "$work/list.png"
click $first_run --repeat 2 --delay 80
sleep 1.5
import -window root "$work/run.png"
kill -0 $window 2>/dev/null || fail "opening the stored run ended the program: $(cat "$work/log")"
changed=$(compare -metric AE "$work/list.png" "$work/run.png" null: 2>&1)
[ "${changed%%.*}" -gt 20000 ] || fail "the run in the list did not open"
[ -n "${STORY_PICTURE:-}" ] && cp "$work/run.png" "$STORY_PICTURE"
click $close
until_true 10 gone || fail "the window did not close without a run"
echo "story by mouse: block, fix, save, start, close, review"
