import { existsSync } from 'node:fs';
import { cp, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import { call, type Server, startService } from '#bench/http-processes/processes.ts';
import { preparedName, writeLogOf } from '#bench/logs/log-of-version.ts';
import { format, print } from '#bench/measure.ts';
import { poll } from '#test/support/run/poll.ts';

const flows = 512;
const maxProcessMs = 600_000;

/**
 * Measures on a copy of a prepared data directory with a log of this many events and complete read models, so that one
 * run does not change the data of the next.
 * @param checkout the version that made it
 * @param projects the number of projects that the log creates
 */
export async function onCopy<Outcome>(
  events: number,
  measure: (folder: string) => Promise<Outcome>,
  checkout: Checkout = here,
  projects = 0,
): Promise<Outcome> {
  const prepared = await prepare(events, checkout, projects);
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
  const answer = await call(service, 'GET', `/v1/projects/${await projectId(service)}/flows`);
  const { flows: found } = (await answer.json()) as { flows: ReadonlyArray<{ id: string }> };
  return found.map(({ id }) => id);
}

async function prepare(events: number, checkout: Checkout, projects: number): Promise<string> {
  const name = `switchyard-bench-http-${events}${projects === 0 ? '' : `-${projects}`}`;
  const folder = join(tmpdir(), preparedName(name, checkout));
  if (existsSync(folder)) return folder;
  print(`Making a service with ${format(events)} events in ${folder}, once.`);
  const unfinished = `${folder}-unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await (await startService(unfinished, {}, checkout)).stop();
  await writeLogOf(checkout, join(unfinished, 'events.db'), events, projects);
  const service = await startService(unfinished, {}, checkout);
  await processesDone(service);
  await createFlows(service);
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
export async function createFlows(service: Server): Promise<void> {
  const path = `/v1/projects/${await projectId(service)}/flows`;
  for (let number = 0; number < flows; number += 1) {
    await call(service, 'POST', path, { name: `Flow ${number}`, flowSchema: {}, description: 'What callers ask for.' });
  }
}

/** Returns the id of the project of the service's first key. */
export async function projectId(service: Server): Promise<string> {
  return ((await (await call(service, 'GET', '/v1/me')).json()) as { projectId: string }).projectId;
}
