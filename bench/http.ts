import { setTimeout as sleep } from 'node:timers/promises';
import { here } from './beside/checkout.ts';
import type { Figure, MeasureVersion } from './beside/compare.ts';
import { getLoad, gets, newVersion, posts } from './http/flow-load.ts';
import { flowIds, onCopy } from './http/prepared-service.ts';
import { httpFigures } from './http/version-figures.ts';
import type { BareAnswer } from './http-processes/bare-server.ts';
import { call, type Server, sendLoad, startBareServer, startService } from './http-processes/processes.ts';
import { format, interleaved, median, print, printResults, type Result } from './measure.ts';

const rounds = 5;
const few = 10_000;
/** Clients read many flows, each now and then. */
const manyFlows = 10_000;
const many = 1_000_000;

/**
 * Measures the real service over HTTP: reads and durable writes against bare node:http that answers the same bytes,
 * the effect of a rebuild on reads, and the cost of a log of a million events. Logs are created once in the temporary
 * folder. `npm run bench -- http quick` omits the rows that need a million events.
 */
export default async function http(args: ReadonlyArray<string>): Promise<void> {
  const results = await onCopy(few, againstBareHttp, here, 0, manyFlows);
  if (args[0] !== 'quick') {
    results.push(...(await onCopy(few, (small) => onCopy(many, (large) => withManyEvents(small, large)))));
  }
  print();
  printResults(results);
}

/** Measures another version beside this one, by itself: on a log of 10,000 events, and on one of a million. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  const logs = args[0] === 'quick' ? [few] : [few, many];
  return async (checkout) => {
    const figures: Figure[] = [];
    for (const events of logs) figures.push(...(await httpFigures(checkout, events, manyFlows)));
    return figures;
  };
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
        { name: 'get of one', round: () => gets(service, ids.slice(0, 1)) },
        { name: 'bare post', round: () => posts(barePost, ids) },
        { name: 'post', round: () => posts(service, ids) },
      ],
      rounds,
    );
    const figure = (name: string) => figures.get(name) ?? Number.NaN;
    print(
      `GET of one of ${format(ids.length)} flows: ${format(figure('get'))}/s, of a single flow ${format(figure('get of one'))}/s; bare node:http ${format(figure('bare get'))}/s`,
    );
    print(`POST of a version: ${format(figure('post'))}/s; bare node:http ${format(figure('bare post'))}/s`);
    return [
      {
        what: `GET of one of ${format(ids.length)} flows, of bare node:http`,
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

/** Returns the bytes of an answer of the service, which bare node:http then answers. */
async function answerOf(service: Server, method: string, path: string, body?: object): Promise<BareAnswer> {
  const answer = await call(service, method, path, body);
  // node:http adds these itself.
  const own = new Set(['date', 'connection', 'keep-alive']);
  const headers = [...answer.headers].filter(([name]) => !own.has(name)).flat();
  return { status: answer.status, headers, body: await answer.text() };
}
