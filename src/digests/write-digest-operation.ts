import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type Operation, post } from '#application/operations/operation.ts';
import type { ValidRequest } from '#application/operations/operation-request.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { Digest, DigestRefusedError } from './digest.ts';
import type { DigestSchedule } from './digest-schedule.ts';

const WriteDigestInput = t.partial({ afterRestore: t.boolean });

/** Makes the operation by which an operator requests a digest now. @param schedule null without a signing key */
export function writeDigestOperation(schedule: Pick<DigestSchedule, 'write'> | null): Operation<null> {
  return {
    name: 'write_digest',
    summary: 'Write a signed digest of the log now',
    description:
      'One is written every hour in which anything changed, too. Where nothing has changed, the newest one is the ' +
      'answer. With `afterRestore` a new chain of digests begins, which names the last digest of the chain before.',
    kind: 'command',
    plane: 'control',
    group: 'Digests',
    http: post('/v1/digests'),
    scope: 'operations:write',
    input: WriteDigestInput,
    output: Digest,
    failures: ['no-digest', 'digest-refused'],
    paged: false,
    hasRevision: false,
    example: { input: { afterRestore: false }, output: exampleDigest },
    loadSubject: async () => E.right(null),
    execute: async ({ input }: ValidRequest<null>) => {
      const { afterRestore = false } = input as t.TypeOf<typeof WriteDigestInput>;
      const written = schedule === null ? E.left(noSigningKey) : await write(schedule, afterRestore);
      return E.map((body: Digest) => ({ status: 200 as const, body }))(written);
    },
  };
}

async function write(
  schedule: Pick<DigestSchedule, 'write'>,
  afterRestore: boolean,
): Promise<E.Either<Failure, Digest>> {
  try {
    const digest = await schedule.write(afterRestore);
    return digest === null ? E.left(failure('no-digest', 'The log is empty.')) : E.right(digest);
  } catch (error) {
    if (error instanceof DigestRefusedError) return E.left(failure('digest-refused', error.message));
    throw error;
  }
}

const noSigningKey = failure('no-digest', 'This service signs no digests: DIGEST_SIGNING_KEY is not set.');

/** A believable digest, for documentation. */
export const exampleDigest: Digest = {
  chain: 1,
  number: 12,
  time: '2026-01-05T09:30:00.000Z',
  events: 4211,
  lastEvent: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61',
  position: 4873,
  positionBefore: 4872,
  sequence: '5f'.repeat(32),
  streams: 318,
  root: 'a1'.repeat(32),
  headsHash: '3c'.repeat(32),
  headsOf: 'changed',
  previous: { chain: 1, number: 11, hash: '9d'.repeat(32) },
  key: 'kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k',
  signature: 'b3'.repeat(43),
};
