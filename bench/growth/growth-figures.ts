import { join } from 'node:path';
import { here } from '#bench/beside/checkout.ts';
import { idleMemory } from '#bench/gateway-processes/resident-memory.ts';
import { getLoad, postLoad } from '#bench/http/flow-load.ts';
import { flowIds, onCopy, projectId } from '#bench/http/prepared-service.ts';
import type { Load } from '#bench/http-processes/load.ts';
import { type Server, sendLoad, startService } from '#bench/http-processes/processes.ts';
import { median } from '#bench/measure.ts';
import { rebuildInChild } from '#bench/rebuild.ts';

/** What one size of data is called, and how large it is. */
export interface DataSize {
  readonly events: number;
  /** The number of projects that the log creates. */
  readonly projects: number;
}

/** The costs of one size of data, by what was measured. More is always worse. */
export type Costs = ReadonlyMap<string, number>;

const rounds = 3;
const megabyte = 1e6;

/**
 * Measures what operations cost on an embedded service with data of several sizes. The services run at the same time,
 * and each load goes to one after the other, so that other work on the machine affects all of them.
 */
export async function measureCosts(sizes: ReadonlyArray<DataSize>): Promise<ReadonlyArray<Costs>> {
  const costs = sizes.map(() => new Map<string, number>());
  await onCopies(sizes, async (folders) => {
    const services: Server[] = [];
    try {
      for (const [index, folder] of folders.entries()) {
        costs[index]?.set('rebuild, an event, µs', await rebuildUs(folder, sizes[index]?.events ?? 0));
        const service = await startAgain(folder);
        services.push(service);
        costs[index]?.set('start to ready, ms', service.startMs);
        costs[index]?.set('memory at rest, MB', (await idleMemory(service.pid)) / megabyte);
      }
      await measureLoads(services, costs);
    } finally {
      await Promise.all(services.map((service) => service.stop()));
    }
  });
  return costs;
}

/** Copies the prepared data of all sizes. @param measure gets the folders of the copies in the same order */
async function onCopies(
  sizes: ReadonlyArray<DataSize>,
  measure: (folders: ReadonlyArray<string>) => Promise<void>,
  folders: ReadonlyArray<string> = [],
): Promise<void> {
  const [size, ...others] = sizes;
  if (size === undefined) return measure(folders);
  await onCopy(size.events, (folder) => onCopies(others, measure, [...folders, folder]), here, size.projects);
}

/** The first start on a copy reads files that nothing has read since they were copied. The second one counts. */
async function startAgain(folder: string): Promise<Server> {
  await (await startService(folder)).stop();
  return startService(folder);
}

async function rebuildUs(folder: string, events: number): Promise<number> {
  const { seconds } = await rebuildInChild(join(folder, 'events.db'), here);
  return (seconds * 1e6) / events;
}

async function measureLoads(services: ReadonlyArray<Server>, costs: ReadonlyArray<Map<string, number>>): Promise<void> {
  const loads = await Promise.all(services.map(loadsOf));
  for (const what of Object.keys(loads[0] ?? {})) {
    const times = services.map((): number[] => []);
    for (let round = 0; round <= rounds; round += 1) {
      for (const [index, load] of loads.entries()) {
        const { perSecond } = await sendLoad(load[what] as Load);
        // The first round is a warm-up.
        if (round > 0) times[index]?.push(1e6 / perSecond);
      }
    }
    for (const [index, values] of times.entries()) costs[index]?.set(`${what}, µs`, median(values));
  }
}

async function loadsOf(service: Server): Promise<Readonly<Record<string, Load>>> {
  const flows = await flowIds(service);
  const reads = getLoad(service, flows);
  const read = (path: string): Load => ({ ...reads, paths: [path] });
  return {
    'query: a flow': reads,
    'query: the history of a flow': { ...reads, paths: flows.map((id) => `/v1/flows/${id}/history`) },
    'list: 20 flows of a project': read(`/v1/projects/${await projectId(service)}/flows?limit=20`),
    'list: 20 projects': read('/v1/projects?limit=20'),
    'list: 20 entries of the audit': read('/v1/audit?limit=20'),
    'command: a new version of a flow': postLoad(service, flows),
  };
}
