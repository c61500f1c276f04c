#!/bin/sh
# Put the committed notebooks back. What was changed is kept in a folder beside them.
set -e
cd "$(dirname "$0")/.."
git rev-parse --git-dir >/dev/null 2>&1 || {
  echo "This copy was not made with git, so the originals are not here: download the suite again." >&2
  exit 1
}
changed=$(git diff --name-only HEAD -- 'notebooks/*.ipynb')
[ -n "$changed" ] || { echo "The notebooks are as they were: nothing to do."; exit 0; }
mine="notebooks/mine-$(date +%Y%m%d-%H%M%S)"
mkdir -p "$mine"
for book in $changed; do
  [ ! -f "$book" ] || cp "$book" "$mine/"
done
git checkout -q HEAD -- 'notebooks/*.ipynb'
echo "The original notebooks are back; yours are in $mine."
