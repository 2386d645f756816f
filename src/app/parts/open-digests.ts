import type { KeyObject } from 'node:crypto';
import type { Runtime } from '#app/runtime.ts';
import { waitForStore } from '#app/startup/wait-for-stores.ts';
import { ownDigestKey } from '#app/verification/own-digest-key.ts';
import { watchVerification } from '#app/verification/verification-metrics.ts';
import type { VerificationOrder } from '#app/verification/verify-in-thread.ts';
import type { Operation } from '#application/operations/operation.ts';
import { DailyVerification, readVerification, readVerifiedTime } from '#digests/daily-verification.ts';
import type { DigestFolder } from '#digests/digest-folder.ts';
import { keyIdOf, type PublishedKey, publicHalf, publicPemOf, publishedKey } from '#digests/digest-keys.ts';
import { DigestSchedule } from '#digests/digest-schedule.ts';
import { DigestStore } from '#digests/digest-store.ts';
import { DigestWriter } from '#digests/digest-writer.ts';
import { InclusionProofs } from '#digests/inclusion-proof.ts';
import type { VerificationResult } from '#digests/verify-history.ts';
import { writeDigestOperation } from '#digests/write-digest-operation.ts';
import type { DigestPlace, InclusionProof } from '#domain/history/digest.ts';
import type { LogVerification } from '#domain/history/verification.ts';
import { chance } from '#shared/chance.ts';
import { runOnOneNode } from './run-on-one-node.ts';

export interface Digests {
  readonly operation: Operation<null>;
  readonly proveInclusion: (stream: string) => Promise<InclusionProof | null>;
  readonly publishedKeys: ReadonlyArray<PublishedKey>;
  /** The last verification by any node; `off` if no digests are signed. @throws UnavailableError */
  readonly verification: () => Promise<LogVerification | null | 'off'>;
}

/** The part of a processor core that a verification may use. */
const verificationShare = 0.1;

/** What digests need outside the node's stores. */
export interface DigestSurroundings {
  /** The folder of the external copies. */
  readonly folder: DigestFolder;
  readonly verify: (order: VerificationOrder, signal: AbortSignal) => Promise<VerificationResult>;
}

/** Opens digests only if there is a key and this node has the role. @throws StartupError */
export async function openDigests(runtime: Runtime, { folder, verify }: DigestSurroundings): Promise<Digests> {
  const { config, events, blobs, records, metrics, leases, node, log, opened } = runtime;
  const verification = () => readVerification(records);
  const store = new DigestStore(blobs);
  const { signing: key, trusted } = await keysOf(runtime, store);
  const publishedKeys = trusted.map(publishedKey);
  if (key === null) {
    if (config.ownDigestKeyFile === null)
      log.warn({}, 'No DIGEST_SIGNING_KEY: no signed digests are written, and histories cannot be proved');
    return {
      operation: writeDigestOperation(null),
      proveInclusion: async () => null,
      publishedKeys,
      verification: async () => 'off',
    };
  }
  const proofs = new InclusionProofs(store);
  const writer = new DigestWriter({ eventLog: events, store, folder, key });
  const schedule = new DigestSchedule({ writer, leases, node, log });
  if (config.roles.has('projections')) {
    schedule.start();
    verifyDaily(runtime, store, trusted, verify);
  }
  watchVerification(metrics.registry, { last: verification, verifiedTime: () => readVerifiedTime(records) });
  opened.addWork('digests', () => schedule.stop());
  return {
    operation: writeDigestOperation(schedule),
    proveInclusion: async (stream) => proofs.prove(stream),
    publishedKeys,
    verification,
  };
}

/** The keys of the configuration, or those that this service has made for itself. */
async function keysOf({ config, log }: Runtime, store: DigestStore): Promise<Runtime['config']['digestKeys']> {
  const { digestKeys, ownDigestKeyFile: file, readOnly } = config;
  if (file === null || readOnly) return digestKeys;
  const newest = await waitForStore('BLOB_STORE_URL', log, () => store.newest());
  const accepted = new Set(digestKeys.trusted.map(keyIdOf));
  const signing = ownDigestKey({ file, newest, accepted, log });
  return signing === null ? digestKeys : { signing, trusted: [publicHalf(signing), ...digestKeys.trusted] };
}

function verifyDaily(
  runtime: Runtime,
  store: DigestStore,
  trusted: ReadonlyArray<KeyObject>,
  verify: DigestSurroundings['verify'],
): void {
  const { config, records, log } = runtime;
  const { eventStore, digestDir, verifyAtMinutes } = config;
  const publicKeys = trusted.map(publicPemOf).join('');
  const options = {
    hasDigest: async () => (await store.newest()) !== null,
    verify: (since: DigestPlace | null, signal: AbortSignal) =>
      verify({ eventStore, digestDir, publicKeys, since, share: verificationShare }, signal),
    // Not all installations verify at the same time, and each does so at the same time in every term.
    atMinutes: verifyAtMinutes + 60 * chance.random(),
    log,
  };
  runOnOneNode(runtime, {
    name: 'verification',
    failureMessage: 'The verification of the log has failed and is started again',
    work: ({ signal, guard }) => new DailyVerification({ ...options, records: guard(records) }).run(signal),
  });
}
