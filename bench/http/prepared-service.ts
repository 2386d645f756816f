import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import { call, type Server, startService } from '#bench/http-processes/processes.ts';
import { preparedName, writeLogOf } from '#bench/logs/log-of-version.ts';
import { format, print } from '#bench/measure.ts';
import { poll } from '#test/support/run/poll.ts';

/** The flows in the project of the first key: enough that no cache of one flow serves most reads. */
export const usualFlows = 512;
const flowsOfPage = 100;
const createdAtOnce = 16;
const maxProcessMs = 600_000;

/**
 * Measures on a copy of a prepared data directory with a log of this many events and complete read models, so that one
 * run does not change the data of the next.
 * @param checkout the version that made it
 * @param projects the number of projects that the log creates
 * @param flows the number of flows that are created in addition to the log's, in the project of the first key
 */
export async function onCopy<Outcome>(
  events: number,
  measure: (folder: string) => Promise<Outcome>,
  checkout: Checkout = here,
  projects = 0,
  flows = usualFlows,
): Promise<Outcome> {
  const prepared = await prepare(events, checkout, projects, flows);
  const copy = await mkdtemp(join(tmpdir(), 'switchyard-bench-'));
  try {
    await cp(prepared, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    return await measure(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Returns the ids of the flows of a prepared service. */
export async function flowIds(service: Server): Promise<ReadonlyArray<string>> {
  const path = `/v1/projects/${await projectId(service)}/flows?limit=${flowsOfPage}`;
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const answer = await call(service, 'GET', cursor === '' ? path : `${path}&cursor=${encodeURIComponent(cursor)}`);
    const page = (await answer.json()) as { flows: ReadonlyArray<{ id: string }>; nextCursor?: string };
    ids.push(...page.flows.map(({ id }) => id));
    cursor = page.nextCursor ?? null;
  }
  return ids;
}

async function prepare(events: number, checkout: Checkout, projects: number, flows: number): Promise<string> {
  const further = [projects === 0 ? '' : `-${projects}`, flows === usualFlows ? '' : `-${flows}-flows`].join('');
  const name = `switchyard-bench-http-${events}${further}`;
  const folder = join(tmpdir(), preparedName(name, checkout));
  if (existsSync(folder)) return folder;
  print(`Making a service with ${format(events)} events in ${folder}, once.`);
  const unfinished = `${folder}-unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await (await startService(unfinished, {}, checkout)).stop();
  await writeLogOf(checkout, join(unfinished, 'events.db'), events, projects);
  const service = await startService(unfinished, {}, checkout);
  await processesDone(service);
  await createFlows(service, flows);
  await processesDone(service);
  await service.stop();
  await rename(unfinished, folder);
  return folder;
}

/** Waits until every process has handled the log. What one has left would run next to what is measured. */
async function processesDone(service: Server): Promise<void> {
  const areDone = async () => {
    const answer = await call(service, 'GET', '/v1/processes');
    const { processes } = (await answer.json()) as { processes: ReadonlyArray<{ position: number }> };
    return new Set(processes.map(({ position }) => position)).size === 1;
  };
  if (!(await poll(areDone, maxProcessMs))) throw new Error('The processes did not reach the end of the log.');
}

/** Creates flows in the project of the service's first key. */
export async function createFlows(service: Server, count: number): Promise<void> {
  const path = `/v1/projects/${await projectId(service)}/flows`;
  let created = 0;
  const createNext = async () => {
    while (created < count) {
      created += 1;
      await call(service, 'POST', path, {
        name: `Flow ${created}`,
        flowSchema: {},
        description: 'What callers ask for.',
      });
    }
  };
  await Promise.all(Array.from({ length: createdAtOnce }, createNext));
}

/** Returns the id of the project of the service's first key. */
export async function projectId(service: Server): Promise<string> {
  return ((await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string }).projectId;
}
