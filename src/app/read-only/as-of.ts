import { readFileSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as t from 'io-ts';
import { StartupError } from '#shared/errors/startup-error.ts';

const AsOf = t.type({
  /** Up to where the log was replayed. */
  position: t.number,
  /** When the last event up to there happened; null for none. */
  time: t.union([t.string, t.null]),
  /** The log that was replayed (`identityOfLog`). */
  log: t.string,
  /** The read models that were made. */
  projections: t.readonlyArray(t.type({ name: t.string, version: t.number })),
});

/** Of which moment the read models in a folder are. */
export type AsOf = t.TypeOf<typeof AsOf>;

const fileName = 'as-of.json';

/** Says in a folder of which moment its read models are, durably: the last step of making them. */
export async function writeAsOf(folder: string, asOf: AsOf): Promise<void> {
  const file = join(folder, fileName);
  const handle = await open(`${file}.part`, 'w', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(asOf)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(`${file}.part`, file);
}

/** Reads of which moment the read models in a folder are. @throws StartupError where none were made there */
export function readAsOf(folder: string): AsOf {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, fileName), 'utf8'));
    if (AsOf.is(read)) return read;
  } catch {
    // It says the same below.
  }
  throw new StartupError(
    `READ_ONLY=true needs a folder that was made by npm run replay -- --until <time|position> --into <folder>; DATA_DIR=${folder} is none, or is not whole.`,
  );
}

/** The moment in words: "2026-01-05T09:30:00.000Z (position 42)". */
export function describeAsOf({ position, time }: AsOf): string {
  return `${time ?? 'the beginning'} (position ${position})`;
}
