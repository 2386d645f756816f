import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '#test/support/service/client.ts';
import { type Checkout, here } from './beside/checkout.ts';
import type { Figure, MeasureVersion } from './beside/compare.ts';
import { countsBetween, type IdleAppends, type ServiceCounts } from './followers/service-counts.ts';
import { adminKey, type ServiceServer, startService } from './http-processes/processes.ts';
import { format, median, print, printResults, printTable, type Result } from './measure.ts';

const preloads = ['count-statements.ts', 'append-idly.ts'].map(
  (name) => `--import ${pathToFileURL(join(import.meta.dirname, 'followers', name)).href}`,
);
const newVersion = { flowSchema: { nodes: [{ id: 'start', say: 'x'.repeat(1_960) }] } };
const maxReads = 6;
const maxAppendRatio = 0.45;
/** The characters of a statement that are printed. */
const shownLength = 110;

/** What the requests of one kind cost, sent one at a time. */
interface Posts {
  readonly count: number;
  readonly counts: ServiceCounts;
  readonly p50Ms: number;
}

interface Measured {
  readonly versions: Posts;
  readonly flows: Posts;
  readonly idle: IdleAppends | null;
}

/**
 * Counts the statements that read the log of the embedded store, in all threads, for each POST of one client that sends
 * them one at a time; and measures the main thread's processor time for each append while all followers are idle.
 */
export default async function followers(args: ReadonlyArray<string>): Promise<void> {
  const { versions, flows, idle } = await measure(here, args.includes('quick'));
  printStatements('POST of a version', versions);
  printStatements('POST of a flow', flows);
  if (idle !== null)
    print(`An append with idle followers: ${format(idle.mainThreadUs)} µs of the main thread, ${format(idle.ms)} ms.`);
  print();
  printResults([readsResult('a version', versions), readsResult('a flow', flows)]);
}

/** Measures the same of another version beside this one. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  return async (checkout) => figuresOf(await measure(checkout, args.includes('quick')));
}

function figuresOf({ versions, flows, idle }: Measured): ReadonlyArray<Figure> {
  return [
    ...postFigures('version', versions),
    ...postFigures('flow', flows),
    ...(idle === null
      ? []
      : [
          {
            what: 'main thread, an append with idle followers',
            value: idle.mainThreadUs,
            unit: ' µs',
            maxRatio: maxAppendRatio,
          },
          { what: 'time of such an append', value: idle.ms, unit: ' ms' },
        ]),
  ];
}

function postFigures(kind: string, posts: Posts): ReadonlyArray<Figure> {
  const { count, counts, p50Ms } = posts;
  return [
    { what: `reads of the log, POST of a ${kind}`, value: readsPerPost(posts), unit: '' },
    { what: `main thread, POST of a ${kind}`, value: counts.mainThreadUs / count, unit: ' µs' },
    { what: `all threads, POST of a ${kind}`, value: counts.allThreadsUs / count, unit: ' µs' },
    { what: `p50, POST of a ${kind}`, value: p50Ms, unit: ' ms' },
  ];
}

function readsPerPost({ count, counts }: Posts): number {
  return counts.statements.reduce((sum, statement) => sum + statement.count, 0) / count;
}

function readsResult(kind: string, posts: Posts): Result {
  const bounds = { required: maxReads, aim: 4 };
  return { what: `reads of the log, POST of ${kind}`, figure: readsPerPost(posts), unit: '', ...bounds };
}

function printStatements(what: string, posts: Posts): void {
  const { count, counts } = posts;
  print(`${what}: ${format(readsPerPost(posts))} reads of the log, ${format(posts.p50Ms)} ms`);
  print(
    `processor time: main thread ${format(counts.mainThreadUs / count)} µs, all ${format(counts.allThreadsUs / count)} µs`,
  );
  const rows = counts.statements
    .filter((statement) => statement.count > 0)
    .toSorted((one, other) => other.count - one.count)
    .map((statement) => [
      `${statement.thread}: ${statement.sql}`.slice(0, shownLength),
      format(statement.count / count),
    ]);
  printTable(['thread: statement', 'for each'], rows);
  print();
}

async function measure(checkout: Checkout, isQuick: boolean): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  const service = await startService(folder, { NODE_OPTIONS: preloads.join(' '), LOG_LEVEL: 'error' }, checkout);
  const client = new Client(service.url, adminKey);
  try {
    const posts = isQuick ? 100 : 400;
    const { body: me } = await client.get<{ projectId: string }>('/v1/me');
    const newFlow = () => create(client, `/v1/projects/${me.projectId}/flows`, { name: 'Flow', flowSchema: {} });
    const flow = await newFlow();
    const newVersionOfFlow = () => create(client, `/v1/flows/${flow}/versions`, newVersion);
    for (let warmUp = 0; warmUp < posts; warmUp += 1) await newVersionOfFlow();
    const versions = await counted(service, posts, newVersionOfFlow);
    const flows = await counted(service, posts, newFlow);
    const idle = (await service.ask('idle appends')) as IdleAppends | null;
    return { versions, flows, idle };
  } finally {
    await client.close();
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Sends requests one at a time, and returns what was counted meanwhile. */
async function counted(service: ServiceServer, count: number, post: () => Promise<unknown>): Promise<Posts> {
  const before = (await service.ask('counts')) as ServiceCounts;
  const durations: number[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const began = performance.now();
    await post();
    durations.push(performance.now() - began);
  }
  const after = (await service.ask('counts')) as ServiceCounts;
  return { count, counts: countsBetween(before, after), p50Ms: median(durations) };
}

/** @returns the new id */
async function create(client: Client, path: string, body: object): Promise<string> {
  const { status, body: made, text } = await client.post<{ id: string }>(path, body);
  if (status !== 201) throw new Error(`${path} was answered by ${status}: ${text}`);
  return made.id;
}
