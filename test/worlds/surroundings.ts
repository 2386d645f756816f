import type { RequestSender } from '#app/parts/run-webhooks.ts';
import type { LineCalls } from '#application/batches/line-calls.ts';
import type { DigestFolder } from '#digests/digest-folder.ts';
import { InMemoryRecordStore } from '#test/support/fakes/in-memory-record-store.ts';
import { SharedBlobs } from './doubles/shared-blobs.ts';
import { SharedDeliveries } from './doubles/shared-deliveries.ts';
import { SharedDocuments } from './doubles/shared-documents.ts';
import { SharedLeases } from './doubles/shared-leases.ts';
import { SharedLog } from './doubles/shared-log.ts';
import type { HeldLeases } from './findings/held-leases.ts';
import type { Reach } from './reach.ts';
import type { SimulatedTime } from './simulated-time.ts';

/** The stores that the nodes of a world share. */
export class SharedStores {
  readonly events = new SharedLog();
  readonly records = new InMemoryRecordStore();
  readonly leases = new SharedLeases();
  readonly documents = new SharedDocuments();
  readonly blobs = new SharedBlobs();
  readonly deliveries = new SharedDeliveries();
  readonly subjectKeys = new Map<string, Uint8Array | null>();
}

/** What surrounds the nodes of a world. */
export interface Surroundings {
  readonly time: SimulatedTime;
  readonly shared: SharedStores;
  readonly reach: Reach;
  readonly lineCalls: (node: string) => LineCalls;
  readonly createSender: (node: string) => RequestSender;
  readonly heldLeases: HeldLeases;
  readonly digestFolder: DigestFolder;
  /** Called when a node has begun a term of a lease. */
  readonly onTerm: (lease: string) => void;
  /** Receives the log lines of nodes. */
  readonly onLine: (
    node: string,
    level: 'warn' | 'error',
    fields: Readonly<Record<string, unknown>>,
    message: string,
  ) => void;
}
