import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteEventStore } from '#event-store/sqlite/sqlite-event-store.ts';
import type { BareAnswer } from './http-processes/bare-server.ts';
import { adminKey, call, type Server, sendLoad, startBareServer, startService } from './http-processes/processes.ts';
import { writeRealisticLog } from './logs/realistic-log.ts';
import { format, interleaved, median, print, printResults, type Result } from './measure.ts';

const connections = 64;
const rounds = 5;
const seconds = 2;
const flows = 512;
const few = 10_000;
const many = 1_000_000;

const newVersion = { flowSchema: { nodes: [{ id: 'start', say: 'x'.repeat(1_960) }] } };

/**
 * Measures the real service over HTTP: reads and durable writes against bare node:http that answers the same bytes,
 * the effect of a rebuild on reads, and the cost of a log of a million events. Logs are created once in the temporary
 * folder. `npm run bench -- http quick` omits the rows that need a million events.
 */
export default async function http(args: ReadonlyArray<string>): Promise<void> {
  const results = await onCopy(few, againstBareHttp);
  if (args[0] !== 'quick') {
    results.push(...(await onCopy(few, (small) => onCopy(many, (large) => withManyEvents(small, large)))));
  }
  print();
  printResults(results);
}

/** Measures on a copy of a prepared data directory, so that one run does not change the data of the next. */
async function onCopy(events: number, measure: (folder: string) => Promise<Result[]>): Promise<Result[]> {
  const prepared = await prepare(events);
  const copy = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  try {
    await cp(prepared, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    return await measure(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function againstBareHttp(folder: string): Promise<Result[]> {
  const service = await startService(folder);
  const ids = await flowIds(service);
  const bareGet = await startBareServer(await answerOf(service, 'GET', `/v1/flows/${ids[0]}`));
  const barePost = await startBareServer(await answerOf(service, 'POST', `/v1/flows/${ids[0]}/versions`, newVersion));
  try {
    const figures = await interleaved(
      [
        { name: 'bare get', round: () => gets(bareGet, ids) },
        { name: 'get', round: () => gets(service, ids) },
        { name: 'bare post', round: () => posts(barePost, ids) },
        { name: 'post', round: () => posts(service, ids) },
      ],
      rounds,
    );
    const figure = (name: string) => figures.get(name) ?? Number.NaN;
    print(`GET of a flow: ${format(figure('get'))}/s; bare node:http ${format(figure('bare get'))}/s`);
    print(`POST of a version: ${format(figure('post'))}/s; bare node:http ${format(figure('bare post'))}/s`);
    return [
      {
        what: 'GET, of bare node:http',
        figure: figure('get') / figure('bare get'),
        unit: ' ×',
        required: 0.45,
        aim: 0.6,
      },
      {
        what: 'durable POST, of bare',
        figure: figure('post') / figure('bare post'),
        unit: ' ×',
        required: 0.25,
        aim: 0.35,
      },
    ];
  } finally {
    await Promise.all([service.stop(), bareGet.stop(), barePost.stop()]);
  }
}

async function withManyEvents(small: string, large: string): Promise<Result[]> {
  const starts: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const service = await startService(large);
    starts.push(service.startMs);
    await service.stop();
  }
  const [withFew, withMany] = [await startService(small), await startService(large)];
  try {
    const [fewIds, manyIds] = [await flowIds(withFew), await flowIds(withMany)];
    const figures = await interleaved(
      [
        { name: 'few get', round: () => gets(withFew, fewIds) },
        { name: 'many get', round: () => gets(withMany, manyIds) },
        { name: 'few post', round: () => posts(withFew, fewIds) },
        { name: 'many post', round: () => posts(withMany, manyIds) },
      ],
      rounds,
    );
    const cost = (kind: string) => (figures.get(`few ${kind}`) ?? 0) / (figures.get(`many ${kind}`) ?? 0);
    return [
      { what: 'start to ready, 1,000,000 events', figure: median(starts) / 1_000, unit: ' s', required: 2, aim: 0.5 },
      { what: 'a query with 1,000,000 events, of 10,000', figure: cost('get'), unit: ' ×', required: 1.3, aim: 1.1 },
      { what: 'a command, the same', figure: cost('post'), unit: ' ×', required: 1.3, aim: 1.1 },
      await readsDuringRebuild(withMany, manyIds),
    ];
  } finally {
    await Promise.all([withFew.stop(), withMany.stop()]);
  }
}

async function readsDuringRebuild(service: Server, ids: ReadonlyArray<string>): Promise<Result> {
  const load = getLoad(service, ids);
  const alone = [await sendLoad(load), await sendLoad(load), await sendLoad(load)].map((result) => result.p99Ms);
  await call(service, 'POST', '/v1/projections/flow-versions/rebuild');
  await sleep(200);
  const during: number[] = [];
  while (during.length < 5 && (await isRebuilding(service))) during.push((await sendLoad(load)).p99Ms);
  print(`p99 of GETs: ${format(median(alone))} ms, while a rebuild runs ${format(median(during))} ms`);
  // The measurement has whole milliseconds, so less than one counts as one.
  const ratio = Math.max(1, median(during)) / Math.max(1, median(alone));
  return { what: 'p99 of GETs during a rebuild', figure: ratio, unit: ' ×', required: 3, aim: 1.5 };
}

async function isRebuilding(service: Server): Promise<boolean> {
  const text = await (await call(service, 'GET', '/v1/projections')).text();
  return text.includes('"rebuilding"');
}

function getLoad(server: Server, ids: ReadonlyArray<string>) {
  return {
    url: server.url,
    method: 'GET',
    paths: ids.map((id) => `/v1/flows/${id}`),
    headers: { authorization: `Bearer ${adminKey}` },
    body: null,
    connections,
    seconds,
  } as const;
}

async function gets(server: Server, ids: ReadonlyArray<string>): Promise<number> {
  return (await sendLoad(getLoad(server, ids))).perSecond;
}

async function posts(server: Server, ids: ReadonlyArray<string>): Promise<number> {
  const result = await sendLoad({
    ...getLoad(server, ids),
    method: 'POST',
    paths: ids.map((id) => `/v1/flows/${id}/versions`),
    headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(newVersion),
  });
  return result.perSecond;
}

/** Returns the bytes of an answer of the service, which bare node:http then answers. */
async function answerOf(service: Server, method: string, path: string, body?: object): Promise<BareAnswer> {
  const answer = await call(service, method, path, body);
  // node:http adds these itself.
  const own = new Set(['date', 'connection', 'keep-alive']);
  const headers = [...answer.headers].filter(([name]) => !own.has(name)).flat();
  return { status: answer.status, headers, body: await answer.text() };
}

/** Returns a data directory with a log of this many events and complete read models. */
async function prepare(events: number): Promise<string> {
  const folder = join(tmpdir(), `switchyard-bench-http-${events}`);
  if (existsSync(folder)) return folder;
  print(`Making a service with ${format(events)} events in ${folder}, once.`);
  const unfinished = `${folder}-unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await (await startService(unfinished)).stop();
  const store = await openSqliteEventStore({ file: join(unfinished, 'events.db') });
  await writeRealisticLog(store, events);
  await store.close();
  const service = await startService(unfinished);
  await createFlows(service);
  await service.stop();
  await rename(unfinished, folder);
  return folder;
}

async function createFlows(service: Server): Promise<void> {
  const path = `/v1/projects/${await projectId(service)}/flows`;
  for (let number = 0; number < flows; number += 1) {
    await call(service, 'POST', path, { name: `Flow ${number}`, flowSchema: {}, description: 'What callers ask for.' });
  }
}

async function flowIds(service: Server): Promise<ReadonlyArray<string>> {
  const answer = await call(service, 'GET', `/v1/projects/${await projectId(service)}/flows`);
  const { flows: found } = (await answer.json()) as { flows: ReadonlyArray<{ id: string }> };
  return found.map(({ id }) => id);
}

async function projectId(service: Server): Promise<string> {
  return ((await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string }).projectId;
}
