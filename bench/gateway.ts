import type { MeasureVersion } from './beside/compare.ts';
import { burst, chat, chatLoad, manyStreams, oneStream, sendStreams } from './gateway-processes/chats.ts';
import { startWays, type Way, type Ways } from './gateway-processes/contestants.ts';
import { type Left, leave } from './gateway-processes/leaving-client.ts';
import type { Pacing } from './gateway-processes/pacing.ts';
import { idleMemory, peakMemory } from './gateway-processes/resident-memory.ts';
import { upload } from './gateway-processes/upload.ts';
import { gatewayFigures, gatewayRows } from './gateway-processes/version-figures.ts';
import { sendLoad } from './http-processes/processes.ts';
import {
  type Contestant,
  format,
  interleaved,
  interleavedRounds,
  median,
  print,
  printResults,
  type Result,
} from './measure.ts';

const rounds = 5;

const rows: Readonly<Record<string, (ways: Ways) => Promise<ReadonlyArray<Result>>>> = {
  calls,
  'first-token': (ways) => firstToken(ways, 1, oneStream, 2.5, 1.5),
  'first-token-64': (ways) => firstToken(ways, 64, manyStreams, 3, 1.6),
  bursts,
  slow,
  leave: leaves,
  upload: uploads,
};

/** Rows with separate processes, because a process that has grown before has memory that was counted then. */
const ofMemory: ReadonlySet<string> = new Set(['slow', 'upload']);

/**
 * Measures the gateway in front of a local upstream, against nginx and Portkey in front of the same upstream.
 * `npm run bench -- gateway` measures every row, `npm run bench -- gateway calls leave` only these. nginx is Debian's
 * (`apt-get install nginx-light`). Gateways use the last core, the load and the upstream the others.
 */
export default async function gateway(args: ReadonlyArray<string>): Promise<void> {
  const unknown = args.find((name) => !(name in rows));
  if (unknown !== undefined) {
    print(`There is no row ${unknown}: there are ${Object.keys(rows).join(', ')}.`);
    process.exitCode = 1;
    return;
  }
  const wanted = Object.entries(rows).filter(([name]) => args.length === 0 || args.includes(name));
  const results: Result[] = [];
  let ways = await startWays({ withPortkey: wanted.some(([name]) => name === 'calls') });
  try {
    for (const [name, measure] of wanted) {
      if (ofMemory.has(name)) {
        await ways.stop();
        ways = await startWays({ withPortkey: false });
      }
      results.push(...(await measure(ways)));
    }
  } finally {
    await ways.stop();
  }
  print();
  printResults(results);
}

/** Measures the gateway of another version beside this one, without the other gateways. */
export function beside(args: ReadonlyArray<string>): MeasureVersion {
  const unknown = args.find((name) => !gatewayRows.includes(name));
  if (unknown !== undefined) throw new Error(`There is no row ${unknown}: there are ${gatewayRows.join(', ')}.`);
  return (checkout) => gatewayFigures(checkout, args.length === 0 ? gatewayRows : args);
}

async function calls(ways: Ways): Promise<ReadonlyArray<Result>> {
  const figures = await measured(ways, async (way) => {
    return (await sendLoad(chatLoad(way))).perSecond;
  });
  printFigures('chats a second, 64 connections', figures, '/s');
  return [
    against('chat, of nginx', figures.switchyard, figures.nginx, ' ×', 0.2, 0.35),
    against('chat, of Portkey on its image’s Node 20', figures.switchyard, figures.portkey, ' ×', 12, 16),
    against('chat, of Portkey on this Node', figures.switchyard, figures.portkeyOnThisNode, ' ×', 12, 16),
  ];
}

async function firstToken(
  ways: Ways,
  connections: number,
  pacing: Pacing,
  required: number,
  aim: number,
): Promise<ReadonlyArray<Result>> {
  const round = async (way: Way) => (await sendStreams(way, connections, pacing)).wayMicroseconds / 1_000;
  const figures = await interleavedRounds(contestantsOf(withoutPortkey(ways), round), 7);
  const direct = figures.get('direct') ?? [];
  // The added time is small, so each round is compared with the direct round beside it.
  const added = (name: string) =>
    median((figures.get(name) ?? []).map((each, index) => each - (direct[index] ?? Number.NaN)));
  const [own, others] = [added('switchyard'), added('nginx')];
  const at = connections === 1 ? 'one stream' : `${connections} streams`;
  print(
    `first token, ${at}: ${format(median(direct))} ms on the way; switchyard adds ${format(own)} ms, nginx ${format(others)} ms`,
  );
  if (others <= 0) print('What nginx adds is lost in noise: measure on a quieter machine.');
  return [against(`first token added, ${at}, of nginx's`, own, others > 0 ? others : Number.NaN, ' ×', required, aim)];
}

async function bursts(ways: Ways): Promise<ReadonlyArray<Result>> {
  const figures = await measured(withoutPortkey(ways), async (way) => {
    return (await sendStreams(way, 64, burst)).perSecond;
  });
  printFigures('streams of 200 events a second, 64 at the same time', figures, '/s');
  return [against('bursts of 200 events, of nginx', figures.switchyard, figures.nginx, ' ×', 0.6, 1)];
}

/** Measures the memory of a thousand streams with one event a second. */
async function slow(ways: Ways): Promise<ReadonlyArray<Result>> {
  const streams = 1_000;
  const pacing: Pacing = { firstMs: 1_000, gapMs: 1_000, events: 10, ending: 'end' };
  const perStream = async (way: Way) => {
    const idle = await idleMemory(way.pid);
    const peak = await peakMemory(way.pid, () => sendStreams(way, streams, pacing, 0));
    return (peak - idle) / streams / 1_024;
  };
  // The first stream of a process loads code and allocates memory that stays.
  await sendStreams(ways.switchyard, 100, { firstMs: 10, gapMs: 10, events: 10, ending: 'end' });
  const own: number[] = [];
  const others: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    own.push(await perStream(ways.switchyard));
    if (ways.nginx !== null) others.push(await perStream(ways.nginx));
  }
  print(
    `memory for each of 1,000 slow streams: ${own.map(format).join(', ')} KB; nginx ${format(Math.max(...others))} KB`,
  );
  // The memory of the first streams stays with the process, so later rounds reuse it.
  const figure = Math.max(...own);
  return [{ what: 'memory for each of 1,000 slow streams', figure, unit: ' KB', required: 100, aim: 30 }];
}

async function leaves({ switchyard, direct, nginx }: Ways): Promise<ReadonlyArray<Result>> {
  const results: Result[] = [];
  for (const when of ['before-headers', 'mid-stream'] as const) {
    const own: number[] = [];
    const others: number[] = [];
    const left = (way: Way): Left => ({ url: way.url, headers: way.headers, upstreamUrl: direct.url, chat });
    for (let round = 0; round < 50; round += 1) {
      own.push(await leave(left(switchyard), when));
      if (nginx !== null) others.push(await leave(left(nginx), when));
    }
    print(
      `the client leaves ${when}: the provider's connection is closed after ${format(median(own))} ms, ${format(Math.max(...own))} ms at the most; nginx ${format(median(others))} ms`,
    );
    const what = `a client leaves ${when === 'mid-stream' ? 'in mid-stream' : 'before headers'}, provider left`;
    results.push({ what, figure: median(own), unit: ' ms', required: 5, aim: 1 });
  }
  return results;
}

async function uploads({ switchyard }: Ways): Promise<ReadonlyArray<Result>> {
  const megabyte = 1_024 * 1_024;
  // Small uploads load the code.
  for (let warmUp = 0; warmUp < 20; warmUp += 1) await upload(switchyard.url, switchyard.headers, megabyte);
  const above: number[] = [];
  for (let round = 0; round < 3; round += 1) {
    const idle = await idleMemory(switchyard.pid);
    const peak = await peakMemory(switchyard.pid, () => upload(switchyard.url, switchyard.headers, 90 * megabyte));
    above.push((peak - idle) / megabyte);
  }
  print(`memory above idle, upload of 90 MB: ${above.map(format).join(', ')} MB`);
  return [
    { what: 'upload of 90 MB, memory above idle', figure: Math.max(...above), unit: ' MB', required: 32, aim: 8 },
  ];
}

/** Returns a figure for each way; NaN for a missing one. */
interface Figures {
  readonly direct: number;
  readonly switchyard: number;
  readonly nginx: number;
  readonly portkey: number;
  readonly portkeyOnThisNode: number;
}

function withoutPortkey(ways: Ways): Ways {
  return { ...ways, portkey: null, portkeyOnThisNode: null };
}

function contestantsOf(
  { direct, switchyard, nginx, portkey, portkeyOnThisNode }: Omit<Ways, 'stop'>,
  round: (way: Way) => Promise<number>,
): ReadonlyArray<Contestant> {
  return Object.entries({ direct, switchyard, nginx, portkey, portkeyOnThisNode }).flatMap(([name, way]) =>
    way === null ? [] : [{ name, round: () => round(way) }],
  );
}

async function measured(ways: Ways, round: (way: Way) => Promise<number>): Promise<Figures> {
  const figures = await interleaved(contestantsOf(ways, round), rounds);
  const figure = (name: string) => figures.get(name) ?? Number.NaN;
  return {
    direct: figure('direct'),
    switchyard: figure('switchyard'),
    nginx: figure('nginx'),
    portkey: figure('portkey'),
    portkeyOnThisNode: figure('portkeyOnThisNode'),
  };
}

function printFigures(what: string, figures: Figures, unit: string): void {
  const parts = Object.entries(figures).filter(([, figure]) => !Number.isNaN(figure));
  print(`${what}: ${parts.map(([name, figure]) => `${name} ${format(figure)}${unit}`).join('; ')}`);
}

function against(what: string, figure: number, yardstick: number, unit: string, required: number, aim: number): Result {
  return { what, figure: figure / yardstick, unit, required, aim };
}
