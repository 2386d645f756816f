#!/bin/sh
# Makes a backup of embedded stores while the service runs, and verifies it: backup.sh <folder>
#
# It copies the log first, then the keys and the files, because their copies may be newer than that of the log and never older.
# It does not copy digest-key.pem: a key that signs the log belongs elsewhere.
# The copy gets its name when it is complete. DATA_DIR is the folder of the service (default: data). KEEP_BACKUPS is how many
# backups stay (default: 7); older ones are removed.
set -eu
umask 077

folder=${1:?Usage: backup.sh <folder>}
data=${DATA_DIR:-data}
keep=${KEEP_BACKUPS:-7}
root=$(cd "$(dirname "$0")/.." && pwd)
node=$root/node_modules/.bin/node
[ -x "$node" ] || node=node
[ -e "$data/events.db" ] || { echo "backup.sh: DATA_DIR=$data has no events.db" >&2; exit 1; }

name=$(date -u +%Y%m%dT%H%M%SZ)
# A backup of the same second keeps its name.
while [ -e "$folder/$name" ]; do
  sleep 1
  name=$(date -u +%Y%m%dT%H%M%SZ)
done
copy=$folder/.$name
mkdir -p "$copy"
trap 'rm -rf "$copy"' EXIT

# The keys come last, so that they open all that is copied before.
for file in responses.db events.db subject-keys.db; do
  "$node" -e 'const [from, to] = process.argv.slice(1);
    new (require("node:sqlite").DatabaseSync)(from, { readOnly: true }).prepare("VACUUM INTO ?").run(to)' \
    "$data/$file" "$copy/$file"
done
cp "$data/format.json" "$copy/"
if [ -d "$data/blobs" ]; then cp -R "$data/blobs" "$copy/"; fi
(cd "$root" && "$node" src/cli/events.ts verify --store "sqlite:$(realpath "$copy")/events.db")

mv "$copy" "$folder/$name"
echo "$folder/$name"
ls -1d "$folder"/[0-9]*Z | sort -r | tail -n "+$((keep + 1))" | while read -r old; do rm -rf "$old"; done
