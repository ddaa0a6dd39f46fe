#!/usr/bin/env bash
# story_signals.sh MANTISSA MANTISSA_CLI PRESET: a window that trains is told to end as a log-out, a terminal or `kill` does. The
# run must stop with its checkpoint, the exit code name the signal, and a text that was not saved come back. Run by
# under_x.sh; its last part needs no display.
source "$(dirname "${BASH_SOURCE[0]}")/story_steps.sh"
focus() { xdotool windowactivate --sync "$(shown | tail -n 1)" 2>/dev/null; sleep 0.3; }
printf 'mantissa:\n  mode: extended\n' >>"$setup"

# A shell's background programs ignore SIGINT, and what is ignored at the start stays so.
printf '#!/bin/sh\nexec env --default-signal=INT %q "$@"\n' "$mantissa" >"$work/mantissa"
chmod +x "$work/mantissa"
mantissa=$work/mantissa

for signal in INT:130 TERM:143 HUP:129; do
    open_window "$setup"
    focus
    xdotool key --clearmodifiers ctrl+r
    until_true 30 json 'runs[0]["state"] == "running" and runs[0]["steps"] > 5' || fail "training did not start: $("$cli" runs)"
    kill -"${signal%:*}" $window
    wait $window
    code=$?
    [ $code = "${signal#*:}" ] || fail "SIG${signal%:*} gave exit code $code: $(cat "$work/log")"
    json 'runs[0]["state"] == "stopped"' || fail "after SIG${signal%:*} the run is not stopped: $("$cli" runs)"
    checkpoints=$(ls -d "$XDG_DATA_HOME"/mantissa/history/*/checkpoints/*/ | wc -l)
    runs=$("$cli" runs --json | python3 -c "import json, sys; print(len(json.load(sys.stdin)))")
    [ "$checkpoints" = "$runs" ] || fail "$runs runs, $checkpoints checkpoints"
done

open_window "$setup"
focus
xdotool key --clearmodifiers F8 # The first fix, not saved.
sleep 0.3
xdotool key --clearmodifiers Return
sleep 0.5
before=$(cat "$setup")
kill -TERM $window
wait $window
[ "$(cat "$setup")" = "$before" ] || fail "the file was written without being asked to"
grep -q '^\[draft\]' "$XDG_CONFIG_HOME/mantissa/mantissa.conf" || fail "what was not saved is lost"

unset DISPLAY QT_QPA_PLATFORM WAYLAND_DISPLAY
message=$("$mantissa" 2>&1)
code=$?
[ $code = 2 ] || fail "without a display the exit code is $code: $message"
[[ $message == *--headless* ]] || fail "without a display it says: $message"
message=$(DISPLAY=:977 "$mantissa" 2>&1)
code=$?
[ $code = 2 ] || fail "with a display that does not answer the exit code is $code: $message"
"$mantissa" --version | grep -qi mantissa || fail "--version needs a display"
echo "story of signals: stopped, told, kept"
