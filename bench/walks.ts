import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Client, type Reply } from '#test/support/service/client.ts';
import { type Checkout, here } from './beside/checkout.ts';
import type { MeasureVersion } from './beside/compare.ts';
import { adminKey, type ServiceServer, startService } from './http-processes/processes.ts';
import { print } from './measure.ts';

/** The files that a request enters, sorted. */
export interface Walk {
  readonly what: string;
  readonly files: ReadonlyArray<string>;
  /** Files that fewer than half of the requests have entered: those of timers that run by chance. */
  readonly sometimes: ReadonlyArray<string>;
}

interface Request {
  readonly what: string;
  readonly send: () => Promise<Reply<unknown>>;
}

const preload = `--import ${pathToFileURL(join(import.meta.dirname, 'walks/called-files.ts')).href}`;
/** How long after an answer calls count: 50 ms, and what a timer of 50 ms then begins. */
const afterMs = 60;
const warmUps = 30;
const rounds = 11;
const minRounds = Math.ceil(rounds / 2);
/** What requests leave to do, such as a flush of usage, has ended after this time. */
const settleMs = 6_000;
/** Every frequent timer runs in this time. */
const restMs = 3_000;
/** The pauses before rounds differ, so that a timer that a request starts does not run during each next one. */
const pauseMs = { min: 300, step: 90 };

/** Prints the files of the project that three requests enter. */
export default async function walks(): Promise<void> {
  for (const { what, files, sometimes } of await measureWalks(here)) {
    print(`${what}: ${files.length} files`);
    for (const file of files) print(`  ${file}`);
    print(`and by chance, in fewer than half of ${rounds} requests: ${sometimes.join(', ') || 'none'}`);
    print();
  }
}

/** Measures the same of another version beside this one. */
export function beside(): MeasureVersion {
  return async (checkout) =>
    (await measureWalks(checkout)).map(({ what, files }) => ({ what, value: files.length, unit: ' files' }));
}

/**
 * Lists the files of a version whose functions run on the main thread of an embedded service from the sending of a warm
 * request until 50 ms after its answer, less those that run at rest.
 */
export async function measureWalks(checkout: Checkout): Promise<ReadonlyArray<Walk>> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const service = await startService(folder, { NODE_OPTIONS: preload, LOG_LEVEL: 'error' }, checkout);
  const client = new Client(service.url, adminKey);
  try {
    const requests = await requestsOf(client);
    for (let warmUp = 0; warmUp < warmUps; warmUp += 1) for (const { send } of requests) bodyOf(await send());
    await sleep(settleMs);
    const atRest = new Set(await filesCalledDuring(service, () => sleep(restMs)));
    const walks: Walk[] = [];
    for (const request of requests) walks.push(await walkOf(service, request, atRest));
    return walks;
  } finally {
    await client.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function requestsOf(client: Client): Promise<ReadonlyArray<Request>> {
  const { projectId } = bodyOf(await client.get<{ projectId: string }>('/v1/me'));
  const flow = { name: 'Flow', flowSchema: {} };
  const newFlow = () => client.post<{ id: string }>(`/v1/projects/${projectId}/flows`, flow);
  const { id } = bodyOf(await newFlow());
  const chat = { model: 'auto', messages: [{ role: 'user', content: 'Hello' }] };
  return [
    { what: 'GET of a flow', send: () => client.get(`/v1/flows/${id}`) },
    { what: 'POST of a flow', send: newFlow },
    { what: 'chat of the sandbox', send: () => client.post('/v1/chat/completions', chat) },
  ];
}

async function walkOf(service: ServiceServer, { what, send }: Request, atRest: ReadonlySet<string>): Promise<Walk> {
  const entries = new Map<string, number>();
  for (let round = 0; round < rounds; round += 1) {
    await sleep(pauseMs.min + round * pauseMs.step);
    for (const file of await filesCalledDuring(service, async () => bodyOf(await send()))) {
      if (!atRest.has(file)) entries.set(file, (entries.get(file) ?? 0) + 1);
    }
  }
  const sorted = [...entries].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    what,
    files: sorted.filter(([, count]) => count >= minRounds).map(([file]) => file),
    sometimes: sorted.filter(([, count]) => count < minRounds).map(([file]) => file),
  };
}

async function filesCalledDuring(service: ServiceServer, work: () => Promise<unknown>): Promise<ReadonlyArray<string>> {
  await service.ask('called files');
  await work();
  await sleep(afterMs);
  return (await service.ask('called files')) as ReadonlyArray<string>;
}

function bodyOf<Body>({ status, body, text }: Reply<Body>): Body {
  if (status >= 300) throw new Error(`A request was answered by ${status}: ${text}`);
  return body;
}
