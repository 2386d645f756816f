import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { here } from './beside/checkout.ts';
import { chatLoad, responseLoad } from './gateway-processes/chats.ts';
import { startSwitchyard, type Way } from './gateway-processes/contestants.ts';
import { getLoad, postLoad } from './http/flow-load.ts';
import { flowIds, onCopy } from './http/prepared-service.ts';
import type { Load } from './http-processes/load.ts';
import { adminKey, type ServiceServer, sendLoad, startPrintingPort, startService } from './http-processes/processes.ts';
import { chosenParts, format, print, printTable } from './measure.ts';
import { type Profile, partOf, sharesOf } from './profile/profile-figures.ts';

const events = 10_000;
const preload = `--import ${pathToFileURL(join(import.meta.dirname, 'profile/answer-profiles.ts')).href}`;
const environment = { NODE_OPTIONS: preload, LOG_LEVEL: 'warn' };
const functionsShown = 30;

const profiles: Readonly<Record<string, () => Promise<void>>> = {
  get: () => ofFlows('GET of a flow', (service, ids) => getLoad(service, ids)),
  post: () => ofFlows('POST of a version, many flows', (service, ids) => postLoad(service, ids)),
  'post-to-one': () => ofFlows('POST of a version, one flow', (service, ids) => postLoad(service, ids.slice(0, 1))),
  chat: () => ofTexts('chat', (way) => chatLoad(way)),
  response: () => ofTexts('stored response of another protocol', (way) => responseLoad(way)),
};

/**
 * Prints where the main thread's time of a request goes, with 64 connections: by part of the program, and the functions
 * that take most. The profiler itself makes everything slower. `npm run bench -- profile get chat` profiles only these.
 */
export default async function profile(args: ReadonlyArray<string>): Promise<void> {
  for (const run of chosenParts(profiles, args)) await run();
}

function ofFlows(what: string, loadOf: (service: ServiceServer, ids: ReadonlyArray<string>) => Load): Promise<void> {
  return onCopy(events, async (folder) => {
    const service = await startService(folder, environment);
    try {
      await printProfile(what, service, loadOf(service, await flowIds(service)));
    } finally {
      await service.stop();
    }
  });
}

async function ofTexts(what: string, loadOf: (way: Way) => Load): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const upstream = await startPrintingPort(join(import.meta.dirname, 'gateway-processes/upstream.ts'));
  const service = await startSwitchyard(folder, upstream.url, here, environment);
  try {
    await printProfile(what, service, loadOf({ ...service, headers: { authorization: `Bearer ${adminKey}` } }));
  } finally {
    await service.stop();
    await upstream.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function printProfile(what: string, service: ServiceServer, load: Load): Promise<void> {
  await sendLoad(load);
  await service.ask('start profile');
  const { perSecond } = await sendLoad(load);
  const profile = (await service.ask('end profile')) as Profile;
  const requests = perSecond * load.seconds;
  print(`${what}: ${format(perSecond)} a second; the main thread's time of each request, in µs`);
  printShares(sharesOf(profile, requests, partOf));
  printShares(sharesOf(profile, requests, (name) => name).slice(0, functionsShown));
}

function printShares(shares: ReturnType<typeof sharesOf>): void {
  print();
  printTable(
    ['', 'µs'],
    shares
      .filter(({ microseconds }) => microseconds >= 0.05)
      .map(({ name, microseconds }) => [name, microseconds.toFixed(2)]),
  );
  print();
}
