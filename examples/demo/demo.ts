import { once } from 'node:events';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { generateKey } from '#application/commands/new-values.ts';
import { runTool } from '#cli/shared/command-line.ts';
import { DemoError } from './demo-error.ts';
import { type Filled, fillPlatform } from './fill.ts';
import { refuseUsedPlatform } from './fresh-platform.ts';
import { storeMonth } from './month/store-month.ts';
import { PlatformClient } from './platform-client.ts';
import { chooseFolder, type DemoFolder, isEmpty, type SpawnedService, spawnService } from './spawned-service.ts';
import type { Timeline } from './timeline.ts';
import { fillToday } from './today/fill-today.ts';
import { ModelCalls } from './today/model-calls.ts';
import { Receiver } from './today/receiver.ts';
import { type DemoAddress, whatNext } from './what-next.ts';

const usage = `Usage: npm run demo [-- options]

  --stop        ends when all is made, instead of keeping the service running
  --url <url>   fills a running, empty Switchyard; SWITCHYARD_API_KEY is an admin key of it

Shows what partners do in a month: a partner, two templates with three versions each, five customers with an instance
each, rollbacks, and an upgrade that fails and is undone, all through the public API. Says what to look at.

Without --url it starts a service of its own, on the folder demo-data (or DATA_DIR), which must be empty, and the usual
port, or any other while that is taken. That demo has thirty days of history, calls of models that the sandbox answers
(GATEWAY_CONFIG is ${configurationPath()}), and a webhook to a receiver in this process.
With --url everything happens now, without calls of models, which may cost money there, and without a webhook.
`;

/** A running service dates everything by its own clock. */
const undated: Timeline = { moveTo: async () => undefined, print: sayIndented };

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
  say(`Filling ${url}, with everything dated now: only a service of the demo itself can have a history.`);
  const client = new PlatformClient(url, key);
  await refuseUsedPlatform(client);
  showWhatNext({ url, adminKey: null }, await fillPlatform(client, undated));
  return 0;
}

function addressOf(given: string): string {
  const url = URL.parse(given);
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.search === '' && url.hash === '') {
    return url.href.replace(/\/+$/, '');
  }
  throw new DemoError('--url must be where Switchyard listens, and no more. Example: --url http://127.0.0.1:8080');
}

/** Keeps the service running until it is stopped. */
async function fillOwn(stopAtEnd: boolean): Promise<number> {
  const folder = chooseFolder(process.env);
  const signal = interruption();
  await using opened = new AsyncDisposableStack();
  try {
    const adminKey = generateKey();
    say('Making thirty days of history, with a service whose clock is set back');
    const options = { environment: process.env, folder: folder.path, adminKey, signal, print: sayIndented };
    const filled = await storeMonth(options);
    const service = await spawnService({
      environment: process.env,
      variables: variablesFor(folder, adminKey),
      signal,
    });
    opened.defer(() => service.stop());
    say(`Filling the folder ${folder.typed}, with a service of its own at ${service.url}`);
    const calls = await fillWithCalls(new PlatformClient(service.url, adminKey), filled, opened, signal);
    showWhatNext({ url: service.url, adminKey }, filled);
    if (!stopAtEnd) await runUntilStopped(service, calls, folder, signal);
  } catch (error) {
    await opened.disposeAsync();
    throw withAdvice(signal.aborted ? new DemoError('Stopped half way.', { cause: error }) : error, folder);
  }
  await opened.disposeAsync();
  say(`\nStopped. Start it again with: ${startAgain(folder)}`);
  return 0;
}

function withAdvice(error: unknown, { path, typed }: DemoFolder): unknown {
  if (!(error instanceof DemoError) || isEmpty(path)) return error;
  return new DemoError(`${error.message} Delete the folder before the next try: rm -r ${typed}`, { cause: error });
}

/** @throws DemoError also when the demo is stopped meanwhile */
async function fillWithCalls(
  client: PlatformClient,
  filled: Filled,
  opened: AsyncDisposableStack,
  signal: AbortSignal,
): Promise<ModelCalls> {
  const receiver = await Receiver.open();
  opened.defer(() => receiver.close());
  const calls = new ModelCalls(client, filled.callingKeys);
  opened.defer(() => calls.stop());
  const filling = fillToday(client, filled, { receiver: receiver.url, calls, print: sayIndented });
  await Promise.race([filling, aborted(signal)]);
  signal.throwIfAborted();
  return calls;
}

async function runUntilStopped(
  { url, ended }: SpawnedService,
  calls: ModelCalls,
  folder: DemoFolder,
  signal: AbortSignal,
): Promise<void> {
  say(
    `\nThe service runs at ${url}. In a browser ${url}/dashboard shows it, with $ADMIN or $PARTNER as the key, and ${url}/docs its API. Stop it with Ctrl-C.`,
  );
  calls.keepCalling();
  await Promise.race([ended, aborted(signal)]);
  if (!signal.aborted) throw new DemoError(`The service has ended. Start it again: ${startAgain(folder)}`);
}

function variablesFor({ path }: DemoFolder, adminKey: string) {
  return {
    DATA_DIR: path,
    BOOTSTRAP_API_KEY: adminKey,
    GATEWAY_CONFIG: configurationPath(),
    // The receiver of the demo's webhooks is on this machine.
    WEBHOOK_ALLOW_PRIVATE_NETWORKS: 'true',
  };
}

function configurationPath(): string {
  return relative('', join(import.meta.dirname, 'gateway.json'));
}

function startAgain({ typed }: DemoFolder): string {
  return `DATA_DIR=${typed} GATEWAY_CONFIG=${configurationPath()} npm start`;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Aborts on SIGINT or SIGTERM. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => controller.abort());
  return controller.signal;
}

function showWhatNext(place: DemoAddress, filled: Filled): void {
  say(`\n${whatNext(place, filled)}`);
}

function sayIndented(line: string): void {
  say(`  ${line}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
