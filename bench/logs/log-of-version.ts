import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Checkout } from '#bench/beside/checkout.ts';
import { nodeOf, sharedEnvironment } from '#bench/beside/node-command.ts';

const script = join(import.meta.dirname, 'write-log.ts');

/**
 * Fills an event file with a realistic log, by the code of a version.
 * @param file of a service that has been stopped, or new
 * @param projects the number of projects that the log creates; without it, its flows belong to projects that no event created
 */
export async function writeLogOf(checkout: Checkout, file: string, events: number, projects = 0): Promise<void> {
  const args = [script, checkout.folder, file, String(events), String(projects)];
  await promisify(execFile)(nodeOf(checkout), args, { cwd: checkout.folder, env: sharedEnvironment() });
}

/** Returns a name of prepared data: that of this version alone, or with that of another version. */
export function preparedName(name: string, checkout: Checkout): string {
  return checkout.name === 'here' ? name : `${name}-${checkout.name}`;
}
