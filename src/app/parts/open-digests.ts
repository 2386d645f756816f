import type { Config } from '#app/config.ts';
import type { Operation } from '#application/operations/operation.ts';
import type { BlobStore } from '#blob-store/blob-store.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { type PublishedKey, publishedKey } from '#digests/digest-keys.ts';
import { DigestSchedule } from '#digests/digest-schedule.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { InclusionProofs } from '#digests/inclusion-proof.ts';
import { writeDigestOperation } from '#digests/write-digest-operation.ts';
import type { InclusionProof } from '#domain/history/digest.ts';
import type { RawLog } from '#event-store/transfer/raw-log.ts';
import type { Leases } from '#leases/leases.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** The dependencies of digests. */
export interface DigestDependencies {
  readonly events: RawLog;
  readonly blobs: BlobStore;
  readonly leases: Leases | null;
  /** The unique name of this node. */
  readonly node: string;
  readonly log: Logger;
  /** Collects everything that must be stopped. */
  readonly opened: AsyncDisposableStack;
}

/** The digests for callers. */
export interface Digests {
  readonly operation: Operation<null>;
  readonly proveInclusion: (stream: string) => Promise<InclusionProof | null>;
  /** The keys whose signatures are accepted. */
  readonly publishedKeys: ReadonlyArray<PublishedKey>;
}

/** Starts to sign digests, if there is a key and this node has the role. */
export function openDigests(
  { digestKeys, digestDir, roles }: Pick<Config, 'digestKeys' | 'digestDir' | 'roles'>,
  { events, blobs, leases, node, log, opened }: DigestDependencies,
): Digests {
  const { signing: key, trusted } = digestKeys;
  const publishedKeys = trusted.map(publishedKey);
  if (key === null) {
    log.warn({}, 'No DIGEST_SIGNING_KEY: no signed digests are written, and histories cannot be proved');
    return { operation: writeDigestOperation(null), proveInclusion: async () => null, publishedKeys };
  }
  const store = new DigestStore(blobs);
  const proofs = new InclusionProofs(store);
  const now = Date.now;
  const writer = new DigestWriter({ eventLog: events, store, folder: new DigestFolder(digestDir), key, now });
  const schedule = new DigestSchedule({ writer, leases, node, log, now });
  if (roles.has('projections')) schedule.start();
  opened.defer(() => schedule.stop());
  return {
    operation: writeDigestOperation(schedule),
    proveInclusion: async (stream) => proofs.prove(stream),
    publishedKeys,
  };
}
