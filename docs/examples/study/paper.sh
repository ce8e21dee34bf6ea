#!/bin/sh
# The ablations of the paper, in one command: makes what the arms of paper.toml need, then
# runs the study in this folder. When it was interrupted, the same command goes on.
#
#     sh paper.sh [PROGRAM]
set -eu
cd "$(dirname "$0")"
program=${1:-autocomp}

# All that is known of the machine, but nothing to choose from.
if [ ! -e without-menu/target ]; then
    rm -rf without-menu
    "$program" target export gemmini-int8-16 --skill without-menu/skill
    rm -r without-menu/skill/references/examples
    cat >without-menu/skill/references/menu.md <<'MENU'
# Optimizations to choose from

## other

Any change that makes the kernel faster, named in the plan.
MENU
    "$program" target import without-menu/skill --name gemmini-no-menu \
        --like gemmini-int8-16 --out without-menu/target
fi

# The run of another shape whose schedule is reused, by the rewriter alone.
if [ -e source/run.sqlite ]; then
    "$program" optimize --resume source
else
    "$program" optimize gemmini/gemm-256x256x256 --seed 1 --max-evaluations 20 --run-dir source
fi

"$program" study paper.toml
