import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type Operation, post } from '#application/operations/operation.ts';
import type { Decoded } from '#application/operations/operation-request.ts';
import { Digest, exampleDigest } from '#domain/history/digest.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { DigestRefusedError } from './digest.ts';
import type { DigestSchedule } from './digest-schedule.ts';

const WriteDigestInput = t.partial({ afterRestore: t.boolean });

/** Lets an operator request a digest now. @param schedule null without a signing key */
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
    execute: async ({ input }: Decoded<unknown, null>) => {
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
