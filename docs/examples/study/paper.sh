#!/bin/sh
# Makes the target of the arm `no-menu` in paper.toml: all that is known of the machine, but
# nothing to choose from. From this folder: sh without-menu.sh
set -eu
rm -rf without-menu
autocomp target export gemmini-int8-16 --skill without-menu/skill
rm -r without-menu/skill/references/examples
cat >without-menu/skill/references/menu.md <<'MENU'
# Optimizations to choose from

## other

Any change that makes the kernel faster, named in the plan.
MENU
autocomp target import without-menu/skill --name gemmini-no-menu --like gemmini-int8-16 \
  --out without-menu
