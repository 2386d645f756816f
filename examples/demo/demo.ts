import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { runTool } from '#cli/shared/command-line.ts';
import { DemoError } from './demo-error.ts';
import { fillPlatform } from './fill.ts';
import { refuseUsedPlatform } from './fresh-platform.ts';
import { startOwnService } from './own-service.ts';
import { PlatformClient } from './platform-client.ts';
import { type DemoAddress, whatNext } from './what-next.ts';

const usage = `Usage: npm run demo [-- options]

  --stop        ends when all is made, instead of keeping the service running
  --url <url>   fills a running, empty Switchyard; SWITCHYARD_API_KEY is an admin key of it

Shows what partners do: it makes a partner, two templates with three versions each, five customers with an instance each,
and an upgrade that fails and is undone, all through the public API, and says what to look at.

Without --url it starts a service of its own, on the folder demo-data (or DATA_DIR), which must be empty, and the usual
port, or any other while that is taken.
`;

interface DemoOptions {
  readonly stop: boolean;
  readonly url: string | null;
}

await runTool('demo', usage, run, DemoError);

async function run(words: string[]): Promise<number> {
  const asked = readOptions(words);
  if (asked.url !== null) return fillOther(asked.url);
  return fillOwn(asked.stop);
}

/** @throws DemoError for an unknown argument */
function readOptions(words: string[]): DemoOptions {
  const { stop = false, url } = parsed(words);
  if (stop && url !== undefined) throw new DemoError('--stop is for a service of its own: it does not go with --url.');
  return { stop, url: url ?? null };
}

function parsed(words: string[]) {
  const options = { stop: { type: 'boolean' }, url: { type: 'string' } } as const;
  try {
    return parseArgs({ args: words, options }).values;
  } catch (error) {
    // The error names the argument.
    throw new DemoError(error instanceof Error ? error.message : String(error));
  }
}

async function fillOther(given: string): Promise<number> {
  const url = addressOf(given);
  const key = process.env.SWITCHYARD_API_KEY?.trim();
  if (!key) throw new DemoError(`Set SWITCHYARD_API_KEY to an admin key of ${url}.`);
  say(`Filling ${url}`);
  await fill(new PlatformClient(url, key), { url, adminKey: null });
  return 0;
}

function addressOf(given: string): string {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '') {
    return url.href.replace(/\/+$/, '');
  }
  throw new DemoError('--url must be where Switchyard listens, and no more. Example: --url http://127.0.0.1:8080');
}

/** Fills a new service, and keeps it running until it is stopped. */
async function fillOwn(stopAtEnd: boolean): Promise<number> {
  const signal = interruption();
  const interrupted = once(signal, 'abort');
  const { url, folder, adminKey, stop, ended } = await startOwnService(process.env, signal);
  try {
    say(`Filling the folder ${folder}, with a service of its own at ${url}`);
    const filling = fill(new PlatformClient(url, adminKey), { url, adminKey });
    await Promise.race([filling, interrupted]);
    if (signal.aborted) throw new DemoError('Stopped half way.');
  } catch (error) {
    await stop();
    if (!(error instanceof DemoError)) throw error;
    throw new DemoError(`${error.message} Delete the folder before the next try: rm -r ${folder}`, { cause: error });
  }
  if (!stopAtEnd) {
    say(
      `\nThe service runs at ${url}. In a browser ${url}/dashboard shows it, with $ADMIN or $PARTNER as the key, and ${url}/docs its API. Stop it with Ctrl-C.`,
    );
    await Promise.race([ended, interrupted]);
    if (!signal.aborted) throw new DemoError(`The service has ended. Start it again: DATA_DIR=${folder} npm start`);
  }
  await stop();
  say(`\nStopped. Start it again with: DATA_DIR=${folder} npm start`);
  return 0;
}

/** Returns a signal that aborts when this process receives SIGINT or SIGTERM. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

async function fill(client: PlatformClient, place: DemoAddress): Promise<void> {
  await refuseUsedPlatform(client);
  const filled = await fillPlatform(client, (line) => say(`  ${line}`));
  say(`\n${whatNext(place, filled)}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
