import type { Random } from './random.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { SharedStores } from './surroundings.ts';
import type { Weather } from './weather.ts';

export interface DirectedFaultsOptions {
  readonly time: SimulatedTime;
  readonly random: Random;
  readonly weather: Weather;
  readonly shared: SharedStores;
  /** Makes a resource on which many depend. @returns what removes it */
  readonly prepareCascade: () => Promise<() => Promise<void>>;
  /** Asks some node for a digest, and waits for the answer. */
  readonly writeDigest: () => Promise<void>;
  readonly note: (what: string) => void;
}

/** What MongoDB stores. */
const readStore: ReadonlySet<string> = new Set([
  'leases',
  'records',
  'documents',
  'read-models',
  'polled',
  'blobs',
  'subject-keys',
  'deliveries',
]);
const leases: ReadonlySet<string> = new Set(['leases']);
/** A left term is noticed after 10 s. */
const calmMs = 12_000;

/** Faults in an order that chance alone rarely gives. */
export function directedFaults(options: DirectedFaultsOptions): ReadonlyArray<() => Promise<void>> {
  return [() => loseShorterExpiry(options), () => leaveDigest(options)];
}

/** What some worlds do when nothing else fails any more, so that everything that follows comes from it alone. */
export async function lastDisturbance(random: Random, options: DirectedFaultsOptions): Promise<void> {
  const chosen = random.next();
  if (chosen < 0.15) await slowLeases(options);
  else if (chosen < 0.3) await restartReadStore(options);
}

/** The store of leases gets slow and stays so, until the world ends. */
async function slowLeases({ time, weather, prepareCascade, note }: DirectedFaultsOptions): Promise<void> {
  note('leases become slow for good, and then a cascade begins');
  const remove = await prepareCascade();
  weather.begin({ node: null, calls: leases, rate: 0, fates: [], slowMs: 1_000 });
  // The terms that began on a fast store are over by then.
  await time.wait(5_000);
  await remove();
}

/** The read store restarts while the log is slow and a process reacts: appends succeed while its term ends. */
async function restartReadStore({ time, random, weather, prepareCascade, note }: DirectedFaultsOptions): Promise<void> {
  note('the log is slow, a cascade begins, and the read store restarts');
  const remove = await prepareCascade();
  const slowMs = 200 + 400 * random.next();
  const endSlow = weather.begin({ node: null, calls: new Set(['events']), rate: 0, fates: [], slowMs });
  void remove();
  await time.wait(slowMs * (1 + 4 * random.next()));
  const endRestart = weather.begin({ node: null, calls: readStore, rate: 1, fates: ['lost'], slowMs: 0 });
  await time.wait(1_500 + 1_500 * random.next());
  endRestart();
  endSlow();
  await time.wait(calmMs);
}

/** Files are stored late: a node has given its digest up when another one writes the next digest. */
async function leaveDigest({ time, weather, writeDigest, note }: DirectedFaultsOptions): Promise<void> {
  note('some files are stored late while digests are written');
  const endLate = weather.begin({
    node: null,
    calls: new Set(['blobs.put']),
    rate: 0.5,
    fates: ['answered late'],
    slowMs: 0,
  });
  await writeDigest();
  endLate();
  await writeDigest();
  await time.wait(calmMs);
}

/** The store of leases gets fast again, and the holder that first writes a shorter expiry is cut off meanwhile. */
async function loseShorterExpiry({ time, random, weather, shared, note }: DirectedFaultsOptions): Promise<void> {
  note('leases become slow and fast again, and the first holder with a shorter expiry is cut off');
  const slowMs = 1_500 + 1_500 * random.next();
  const endSlow = weather.begin({ node: null, calls: leases, rate: 0, fates: [], slowMs });
  await time.wait(5_000 + 3_000 * random.next());
  endSlow();
  let endCut = () => {};
  shared.leases.onShorterExpiry = (node) => {
    shared.leases.onShorterExpiry = null;
    endCut = weather.begin({ node, calls: leases, rate: 1, fates: ['lost'], slowMs: 0 });
  };
  // A node forgets slow calls after 32 others.
  for (let looks = 0; looks < 60 && shared.leases.onShorterExpiry !== null; looks += 1) await time.wait(250);
  shared.leases.onShorterExpiry = null;
  await time.wait(4_000 + 3_000 * random.next());
  endCut();
}
