import type { Checkout } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { sendLoad } from '#bench/http-processes/processes.ts';
import { burst, chatLoad, manyStreams, oneStream, sendStreams } from './chats.ts';
import { startWays, type Way, type Ways } from './contestants.ts';
import type { Pacing } from './pacing.ts';
import { processorMs } from './processor-time.ts';

const rows: Readonly<Record<string, (ways: Ways) => Promise<ReadonlyArray<Figure>>>> = {
  calls: ({ switchyard }) => calls(switchyard),
  'first-token': (ways) => firstToken(ways, 1, oneStream),
  'first-token-64': (ways) => firstToken(ways, 64, manyStreams),
  bursts: ({ switchyard }) => bursts(switchyard),
};

/** What is measured of one version. */
export const gatewayRows: ReadonlyArray<string> = Object.keys(rows);

/** Starts the gateway of one version before the upstream, and measures these rows. */
export async function gatewayFigures(
  checkout: Checkout,
  wanted: ReadonlyArray<string>,
): Promise<ReadonlyArray<Figure>> {
  const ways = await startWays({ withPortkey: false, withNginx: false, checkout });
  try {
    await sendLoad(chatLoad(ways.switchyard));
    const figures: Figure[] = [];
    for (const name of wanted) figures.push(...((await rows[name]?.(ways)) ?? []));
    return figures;
  } finally {
    await ways.stop();
  }
}

async function calls(way: Way): Promise<ReadonlyArray<Figure>> {
  const load = chatLoad(way);
  const before = processorMs(way.pid);
  const { perSecond } = await sendLoad(load);
  const processorUs = ((processorMs(way.pid) - before) * 1_000) / (perSecond * load.seconds);
  return [
    { what: `chats, ${load.connections} connections`, value: perSecond, unit: '/s' },
    { what: 'processor time of a chat', value: processorUs, unit: ' µs' },
  ];
}

/** Measures what the gateway adds to the first token, above the upstream alone just before and after. */
async function firstToken(ways: Ways, connections: number, pacing: Pacing): Promise<ReadonlyArray<Figure>> {
  const onTheWay = async (way: Way) => (await sendStreams(way, connections, pacing)).wayMicroseconds / 1_000;
  const before = await onTheWay(ways.direct);
  const own = await onTheWay(ways.switchyard);
  const after = await onTheWay(ways.direct);
  const what = `first token added, ${connections === 1 ? 'one stream' : `${connections} streams`}`;
  return [{ what, value: own - (before + after) / 2, unit: ' ms' }];
}

async function bursts(way: Way): Promise<ReadonlyArray<Figure>> {
  const { perSecond } = await sendStreams(way, 64, burst);
  return [{ what: 'streams of 200 events, 64 at the same time', value: perSecond, unit: '/s' }];
}
