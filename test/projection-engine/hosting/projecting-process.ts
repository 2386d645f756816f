import { createInterface } from 'node:readline';
import { openMongoDbLeaseStore } from '#leases/lease-store.mongodb.ts';
import { NodeLeases } from '#leases/node-leases.ts';
import { runProjectionsUnderLease } from '#projection-engine/hosting/leased-projections.ts';
import { InMemoryEventStore } from '#test/support/fakes/in-memory-event-store.ts';
import { patientTimeoutMs } from '#test/support/run/patient-timeout.ts';
import { openMongoDbReadStoreWriter } from '#test/support/service/mongodb-read-store.ts';
import { flowsAndVersions, history } from './flows-and-versions.ts';

/**
 * A node that runs projections under a lease. Each line of its input is the number of events in the log,
 * which are the same for every process. It prints the terms that it holds and what it logs.
 */
const [url = '', holder = ''] = process.argv.slice(2);

const events = new InMemoryEventStore();
const leases = new NodeLeases({ store: openMongoDbLeaseStore({ url, timeoutMs: patientTimeoutMs }) });
const ending = new AbortController();
const print = (_: object, message: string) => process.stdout.write(`${message}\n`);

const input = createInterface({ input: process.stdin });
input.on('line', (length) => {
  const stored = events.events.length;
  events.append(...history(Number(length) - stored, stored));
});
input.on('close', () => ending.abort());

await runProjectionsUnderLease({
  projections: flowsAndVersions,
  events,
  tail: events.tail,
  leases,
  holder,
  openWriter: (fence) => {
    process.stdout.write(`term ${fence}\n`);
    return openMongoDbReadStoreWriter({ url, fence, timeoutMs: patientTimeoutMs });
  },
  log: { info: print, warn: print, error: print },
  signal: ending.signal,
});
await leases.close();
process.stdout.write('ended\n');
