import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { processorMs } from './gateway-processes/processor-time.ts';
import { adminKey, call, type Server, sendLoad, startService } from './http-processes/processes.ts';
import type { Viewers } from './live-feed-processes/viewers.ts';
import { interleavedRounds, median, print, printResults } from './measure.ts';

const viewers = 500;
const connections = 64;
const flowsOfOthers = 256;
const seconds = 4;
const rounds = 5;

/**
 * Measures what 500 live viewers of one tenant cost other tenants that write at full rate: commands a second with the
 * viewers against without them, in the same run, round by round; and the same for the service's processor time for each
 * command, without the viewers' own process. Once a second the viewers' tenant writes, too.
 */
export default async function liveFeed(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-live-feed-'));
  const service = await startService(folder, { REQUESTS_PER_MINUTE: '10000000', LOG_LEVEL: 'warn' });
  try {
    const watched = await makeTenant(service, 1);
    const others = await makeTenant(service, flowsOfOthers);
    const times = new Map<string, number[]>();
    const round = async (name: string) => {
      const began = processorMs(service.pid);
      const perSecond = await write(service, watched, others);
      times.set(name, [...(times.get(name) ?? []), (processorMs(service.pid) - began) / (perSecond * seconds)]);
      return perSecond;
    };
    const figures = await interleavedRounds(
      [
        { name: 'alone', round: () => round('alone') },
        { name: 'watched', round: () => runWithViewers(service, watched.key, () => round('watched')) },
      ],
      rounds,
    );
    const ratio = (of: ReadonlyMap<string, ReadonlyArray<number>>) =>
      median(of.get('watched') ?? []) / median(of.get('alone') ?? []);
    print(`${viewers} viewers, ${connections} connections, ${rounds} rounds of ${seconds} s each way.`);
    printResults([
      {
        what: 'commands a second, watched against alone',
        figure: ratio(figures),
        unit: ' ×',
        required: 0.9,
        aim: 0.95,
      },
      {
        what: 'processor time of the service for each command',
        figure: ratio(new Map([...times].map(([name, all]) => [name, all.slice(1)]))),
        unit: ' ×',
        required: 1.1,
        aim: 1.05,
      },
    ]);
  } finally {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A project with a key and flows. */
interface Tenant {
  readonly key: string;
  readonly flows: ReadonlyArray<string>;
}

async function makeTenant(service: Server, flows: number): Promise<Tenant> {
  const made = async <Answer>(path: string, body: object) =>
    (await (await call(service, 'POST', path, body)).json()) as Answer;
  const { id: project } = await made<{ id: string }>('/v1/projects', { name: 'Project' });
  const { key } = await made<{ key: string }>(`/v1/projects/${project}/keys`, { name: 'Key', keyType: 'project' });
  const ids: string[] = [];
  for (let index = 0; index < flows; index += 1)
    ids.push((await made<{ id: string }>(`/v1/projects/${project}/flows`, { name: 'Hours', flowSchema: {} })).id);
  return { key, flows: ids };
}

/** Writes at full rate for the other tenants, and once a second for the watched tenant. @returns commands a second */
async function write(service: Server, watched: Tenant, others: Tenant): Promise<number> {
  const [flow = ''] = watched.flows;
  let count = 0;
  const changing = setInterval(() => {
    count += 1;
    void call(service, 'PATCH', `/v1/flows/${flow}`, { name: `Hours ${Date.now()} ${count}` });
  }, 1_000);
  try {
    const { perSecond } = await sendLoad({
      url: service.url,
      method: 'POST',
      paths: others.flows.map((id) => `/v1/flows/${id}/versions`),
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ flowSchema: { text: 'x'.repeat(500) } }),
      connections,
      seconds,
    });
    return perSecond;
  } finally {
    clearInterval(changing);
  }
}

/** Runs work while the viewers read. @throws Error when the viewers received nothing */
async function runWithViewers(service: Server, key: string, run: () => Promise<number>): Promise<number> {
  const task: Viewers = { url: service.url, key, count: viewers };
  const script = join(import.meta.dirname, 'live-feed-processes/viewers.ts');
  const child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const figure = await run();
  const [[seen]] = (await Promise.all([once(child.stdout, 'data'), child.kill('SIGTERM')])) as [[Buffer], boolean];
  if (Number(seen) < viewers) throw new Error('the viewers saw no events');
  return figure;
}
