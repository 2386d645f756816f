import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DemoError } from '#examples/demo/demo-error.ts';
import { type Filled, fillPlatform } from '#examples/demo/fill.ts';
import { PlatformClient } from '#examples/demo/platform-client.ts';
import type { Timeline } from '#examples/demo/timeline.ts';
import { exportMonth } from './export-month.ts';
import { PastService } from './past-service.ts';
import { usageOfMonth } from './past-usage.ts';

const tools = join(import.meta.dirname, '../../../src/cli');

export interface MonthOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Empty. The history is stored in it. */
  readonly folder: string;
  /** The key of the first start. It works in the folder afterwards. */
  readonly adminKey: string;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/**
 * Makes thirty days of history: a service with a clock of its own is filled through the API, its log and invented usage
 * become an export, and `npm run events -- import` takes that into the folder.
 * @returns what the history shows
 * @throws DemoError
 */
export async function storeMonth({ environment, folder, adminKey, signal, print }: MonthOptions): Promise<Filled> {
  await using past = await PastService.start(environment, adminKey, signal);
  const filled = await fillPlatform(new PlatformClient(past.url, adminKey), timelineOf(past, signal, print));
  await past.stop();
  const file = join(past.folder, 'month.ndjson');
  await exportMonth(past.folder, usageOfMonth(filled.callingKeys, Date.now()), file);
  const target = { ...environment, DATA_DIR: folder, EVENT_STORE_URL: '', READ_STORE_URL: '' };
  const subjectKeysIn = (dataDir: string) => `sqlite:${join(dataDir, 'subject-keys.db')}`;
  await runTool('events', ['import', file], target);
  // The history has names and addresses of customers, which only their keys make readable.
  await runTool('subject-keys', ['copy', subjectKeysIn(past.folder), subjectKeysIn(folder)], target);
  return filled;
}

function timelineOf(past: PastService, signal: AbortSignal, print: (line: string) => void): Timeline {
  let ago = '';
  return {
    moveTo: async (daysAgo, time) => {
      signal.throwIfAborted();
      await past.moveTo(daysAgo, time);
      ago = `${daysAgo} ${daysAgo === 1 ? 'day' : 'days'} ago`;
    },
    print: (line) => print(`${ago.padEnd(12)} ${line}`),
  };
}

/** @throws DemoError with what the tool printed, when it fails */
async function runTool(name: string, args: ReadonlyArray<string>, environment: NodeJS.ProcessEnv): Promise<void> {
  try {
    await promisify(execFile)(process.execPath, [join(tools, `${name}.ts`), ...args], { env: environment });
  } catch (error) {
    const printed = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
    throw new DemoError(`npm run ${name} failed: ${printed.split('\n').at(-1)}`, { cause: error });
  }
}
