import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { freePort } from '#test/support/run/free-port.ts';
import {
  adminKey,
  poll,
  type ServiceProcess,
  startService,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import { startFaultyProvider } from './faulty-provider.ts';
import { type Holdings, holdingsOf, openDescriptors } from './inspected-process.ts';
import { seededRandom } from './random.ts';
import { Traffic } from './traffic.ts';

/**
 * Runs the service for minutes under calls of every kind, with providers that fail in every way, clients that disconnect
 * and a changing configuration. In the end heap, buffers, sockets, descriptors and files must be as after the warm-up.
 * Exits with 1 when they are not.
 * `npm run soak -- --minutes 10 [--clients 32] [--seed 1]`
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    clients: { type: 'string', default: '32' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const minutes = Number(values.minutes);
const clients = Number(values.clients);
const seed = Number(values.seed);
if (!(minutes > 0) || !Number.isInteger(clients) || clients < 1 || !Number.isInteger(seed)) {
  print('usage: npm run soak -- --minutes 10 [--clients 32] [--seed 1]');
  process.exit(2);
}

const megabyte = 1_024 * 1_024;
const reconfigureMs = 5_000;
/** The allowed growth of the heap, by filled caches and late compilation. */
const heapSlack = 6 * megabyte;
const externalSlack = 4 * megabyte;
/** The allowed growth of the descriptors, because kept-alive connections vary. */
const descriptorSlack = 4;
const settleMs = 90_000;

const random = seededRandom(seed);
const folder = temporaryFolder();
const providers = [await startFaultyProvider(random), await startFaultyProvider(random)];
const configurationFile = join(folder.path, 'gateway.json');
const inspectorPort = await freePort();
const inspectorUrl = `http://127.0.0.1:${inspectorPort}`;
let changes = 0;
configure();
const service = await startService({
  dataDir: folder.path,
  environment: { GATEWAY_CONFIG: configurationFile, NODE_OPTIONS: `--inspect=127.0.0.1:${inspectorPort}` },
});
const faults: string[] = [];
try {
  await soak(service);
} finally {
  await service.kill();
  await Promise.all(providers.map((provider) => provider.stop()));
  folder.remove();
}
for (const fault of faults) print(`FAULT: ${fault}`);
print(faults.length === 0 ? 'Nothing has grown.' : `${faults.length} faults, with --seed ${seed}`);
process.exitCode = faults.length === 0 ? 0 : 1;

async function soak(service: ServiceProcess): Promise<void> {
  const { pid, url } = service;
  const traffic = new Traffic(url, adminKey, random);
  print(`Soaking for ${minutes} minutes with ${clients} clients, --seed ${seed}`);
  print(row(['', 'calls', 'heap MB', 'buffers MB', 'resident MB', 'descriptors', 'sockets']));
  const reconfiguring = setInterval(configure, reconfigureMs);
  const milliseconds = minutes * 60_000;
  // The warm-up fills caches and loads code.
  const warm = Math.min(60_000, milliseconds / 4);
  await traffic.run(clients, warm);
  const before = await holdingsOnceQuiet(pid, null);
  show('warm', traffic, before);
  const parts = Math.max(1, Math.round(minutes));
  for (let part = 1; part <= parts; part += 1) {
    await traffic.run(clients, (milliseconds - warm) / parts);
    show(
      `${Math.round((warm + (part * (milliseconds - warm)) / parts) / 1_000)} s`,
      traffic,
      await holdingsOf(pid, inspectorUrl),
    );
  }
  clearInterval(reconfiguring);
  const after = await holdingsOnceQuiet(pid, before);
  show('end', traffic, after);
  compare(before, after);
  for (const unexpected of traffic.report.unexpected) faults.push(unexpected);
  if (service.stdout !== '') faults.push(`the service logged an error: ${service.stdout.split('\n')[0]}`);
  const left = readdirSync(folder.path, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /upload|\.tmp$/.test(name),
  );
  if (left.length > 0) faults.push(`files of uploads are left: ${left.join(', ')}`);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  if (!metrics.includes('\nswitchyard_usage_calls_lost_total 0\n')) faults.push('the usage of calls was lost');
  const outcomes = [...traffic.report.counts].toSorted().map(([outcome, calls]) => `${outcome}: ${calls}`);
  print(`Outcomes of calls: ${outcomes.join(', ')}`);
}

/** Waits until all connections of the calls are closed, even kept-alive ones. @param before the level to return to */
async function holdingsOnceQuiet(pid: number, before: Holdings | null): Promise<Holdings> {
  let last = -1;
  await poll(async () => {
    await sleep(1_000);
    const open = openDescriptors(pid).length;
    const isQuiet = before === null ? open === last : open <= before.descriptors;
    last = open;
    return isQuiet;
  }, settleMs);
  return holdingsOf(pid, inspectorUrl);
}

function compare(before: Holdings, after: Holdings): void {
  const checkGrowth = (what: string, from: number, to: number, slack: number, unit = 1) => {
    if (to > from + slack) faults.push(`${what} grew from ${(from / unit).toFixed(1)} to ${(to / unit).toFixed(1)}`);
  };
  checkGrowth('the heap (MB)', before.heap, after.heap, heapSlack, megabyte);
  checkGrowth('buffers (MB)', before.external, after.external, externalSlack, megabyte);
  checkGrowth('descriptors', before.descriptors, after.descriptors, descriptorSlack);
  checkGrowth('sockets', before.sockets, after.sockets, descriptorSlack);
}

/** Writes a slightly different configuration each time, so that the service must release the previous one. */
function configure(): void {
  changes += 1;
  const timeouts = { connectMs: 1_000, headersMs: 400, firstContentMs: 400, idleMs: 400, totalMs: 5_000 };
  const provider = (index: number) => ({
    kind: 'openai-compatible',
    baseUrl: providers[index]?.baseUrl,
    headers: { 'x-change': String(changes) },
    timeouts,
  });
  const model = (onStreamFailure: string) => ({
    targets: [{ provider: 'one', model: 'm' }],
    fallbacks: [{ provider: 'two', model: 'm', prefill: true }],
    retries: 1,
    onStreamFailure,
  });
  const configuration = {
    providers: { one: provider(0), two: provider(1) },
    models: { plain: model('error'), continued: model('continue'), whole: model('whole') },
    voices: { narrator: { provider: 'one', voice: 'alloy', model: 'tts' } },
  };
  writeFileSync(configurationFile, JSON.stringify(configuration));
}

function show(when: string, { report }: Traffic, { heap, external, resident, descriptors, sockets }: Holdings): void {
  const calls = [...report.counts.values()].reduce((sum, count) => sum + count, 0);
  const inMegabytes = [heap, external, resident].map((bytes) => (bytes / megabyte).toFixed(1));
  print(row([when, String(calls), ...inMegabytes, String(descriptors), String(sockets)]));
}

function row([first = '', ...cells]: ReadonlyArray<string>): string {
  return first.padEnd(8) + cells.map((cell) => cell.padStart(12)).join('');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
