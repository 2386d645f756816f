import { join } from 'node:path';
import { processorMs } from './gateway-processes/processor-time.ts';
import type { KoaTask } from './http-processes/koa-server.ts';
import { type Server, sendLoad, startBareServer, startPrintingPort } from './http-processes/processes.ts';
import { format, interleavedRounds, median, print, printTable } from './measure.ts';

const rounds = 7;
const seconds = 1;
const connections = 32;

const id = 'cm3v8k2p90000qzrm4d1x7w5b';
const flow = {
  id,
  projectId: 'cm3v8k2p90001qzrm4d1x7w5b',
  name: 'Support line',
  type: 'graph',
  description: 'What callers ask for.',
  tier: 'standard',
  agentProfileId: null,
  createdAt: '2026-01-05T09:30:00.000Z',
  updatedAt: '2026-01-05T09:30:00.000Z',
};
const headers = [
  'Content-Type',
  'application/json',
  'Cache-Control',
  'no-store',
  'ETag',
  '"3"',
  'Switchyard-Position',
  '5120',
];
const newVersion = { flowSchema: { nodes: [{ id: 'start', say: 'x'.repeat(1_960) }] } };

/**
 * Measures what the way around Koa saves: the HTTP adapter's share of a GET and of a POST with 2 KB of JSON, against
 * bare node:http: by plain Koa with @koa/router and koa-body; by the same with the service's reader of bodies, which
 * limits bytes and values; by the service's own callback, router and writer with that reader. In turn, in short
 * rounds. Counted in requests for a second of the server's processor time, which other work on the machine does not
 * change much.
 */
export default async function koa(): Promise<void> {
  const answer = { status: 200, headers, body: JSON.stringify(flow) };
  const script = join(import.meta.dirname, 'http-processes/koa-server.ts');
  const start = (kind: KoaTask['kind']) =>
    startPrintingPort(script, JSON.stringify({ kind, ...answer } satisfies KoaTask));
  const servers = {
    'bare node:http': await startBareServer(answer),
    'plain Koa': await start('plain'),
    'plain Koa, bodies limited': await start('plain, bodies limited'),
    'the way around Koa': await start('around'),
  };
  try {
    for (const method of ['GET', 'POST'] as const) await compare(method, servers);
  } finally {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
  }
}

async function compare(method: 'GET' | 'POST', servers: Readonly<Record<string, Server>>): Promise<void> {
  const contestants = Object.entries(servers).map(([name, server]) => ({
    name,
    round: () => requestsPerCpuSecond(server, method),
  }));
  const figures = await interleavedRounds(contestants, rounds);
  const bare = figures.get('bare node:http') ?? [];
  print(`${method}: requests for a second of processor time, medians of ${rounds} rounds`);
  printTable(
    ['', 'requests', 'of bare node:http'],
    [...figures].map(([name, values]) => [
      name,
      format(median(values)),
      `${format(median(values.map((value, round) => value / (bare[round] ?? Number.NaN))))} ×`,
    ]),
  );
  print();
}

async function requestsPerCpuSecond(server: Server, method: 'GET' | 'POST'): Promise<number> {
  const before = processorMs(server.pid);
  const { perSecond } = await sendLoad({
    url: server.url,
    method,
    paths: [method === 'GET' ? `/v1/flows/${id}` : `/v1/flows/${id}/versions`],
    headers: method === 'GET' ? {} : { 'content-type': 'application/json' },
    body: method === 'GET' ? null : JSON.stringify(newVersion),
    connections,
    seconds,
  });
  return (perSecond * seconds) / ((processorMs(server.pid) - before) / 1_000);
}
