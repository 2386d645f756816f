import type { Runtime } from '#app/runtime.ts';
import type { Operation } from '#application/operations/operation.ts';
import { DigestFolder } from '#digests/digest-folder.ts';
import { type PublishedKey, publishedKey } from '#digests/digest-keys.ts';
import { DigestSchedule } from '#digests/digest-schedule.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { InclusionProofs } from '#digests/inclusion-proof.ts';
import { writeDigestOperation } from '#digests/write-digest-operation.ts';
import type { InclusionProof } from '#domain/history/digest.ts';

/** The digests for callers. */
export interface Digests {
  readonly operation: Operation<null>;
  readonly proveInclusion: (stream: string) => Promise<InclusionProof | null>;
  /** The keys whose signatures are accepted. */
  readonly publishedKeys: ReadonlyArray<PublishedKey>;
}

/** Starts to sign digests, if there is a key and this node has the role. */
export function openDigests({
  config: { digestKeys, digestDir, roles },
  events,
  blobs,
  leases,
  node,
  log,
  opened,
}: Runtime): Digests {
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
