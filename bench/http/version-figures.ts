import { join } from 'node:path';
import type { Checkout } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { processorMs } from '#bench/gateway-processes/processor-time.ts';
import type { Load } from '#bench/http-processes/load.ts';
import { type Server, sendLoad, startService } from '#bench/http-processes/processes.ts';
import { format } from '#bench/measure.ts';
import { getLoad, postLoad } from './flow-load.ts';
import { countLogPages } from './log-pages.ts';
import { flowIds, onCopy } from './prepared-service.ts';

/** Starts one version on a log of this many events, and measures reads and durable writes. */
export function httpFigures(checkout: Checkout, events: number, flows: number): Promise<ReadonlyArray<Figure>> {
  return onCopy(events, (folder) => measure(checkout, folder, `${format(events)} events`), checkout, 0, flows);
}

async function measure(checkout: Checkout, folder: string, log: string): Promise<ReadonlyArray<Figure>> {
  const service = await startService(folder, { LOG_LEVEL: 'warn' }, checkout);
  try {
    const ids = await flowIds(service);
    const loads = {
      [`GET of one of ${format(ids.length)} flows`]: getLoad(service, ids),
      'GET of a single flow': getLoad(service, ids.slice(0, 1)),
      POST: postLoad(service, ids),
      'POST to one flow': postLoad(service, ids.slice(0, 1)),
    };
    const figures: Figure[] = [{ what: `start to ready, ${log}`, value: service.startMs, unit: ' ms' }];
    for (const load of Object.values(loads)) await sendLoad(load);
    for (const [method, load] of Object.entries(loads)) {
      const { perSecond, processorUs } = await costOf(service, load);
      figures.push(
        { what: `${method}, ${load.connections} connections, ${log}`, value: perSecond, unit: '/s' },
        { what: `processor time of a ${method}, ${log}`, value: processorUs, unit: ' µs' },
      );
    }
    figures.push(await logPagesOfPost(join(folder, 'read.db'), loads.POST));
    return figures;
  } finally {
    await service.stop();
  }
}

/** The pages of 8 KiB that the read models write for a POST into their write-ahead log. */
async function logPagesOfPost(file: string, load: Load): Promise<Figure> {
  let posts = 0;
  const pages = await countLogPages(file, async () => {
    posts = (await sendLoad(load)).perSecond * load.seconds;
  });
  return {
    what: `pages of the log of read models for a POST, ${load.connections} connections`,
    value: pages / posts,
    unit: '',
  };
}

async function costOf(service: Server, load: Load): Promise<{ perSecond: number; processorUs: number }> {
  const before = processorMs(service.pid);
  const { perSecond } = await sendLoad(load);
  return { perSecond, processorUs: ((processorMs(service.pid) - before) * 1_000) / (perSecond * load.seconds) };
}
