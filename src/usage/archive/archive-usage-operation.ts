import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { type Operation, post } from '#application/operations/operation.ts';
import type { Decoded } from '#application/operations/operation-request.ts';
import { instant } from '#domain/codecs/time.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { UnreadableEventError } from '#event-store/recorded-event.ts';
import { UnreadableStreamError } from '#event-store/unreadable-stream.ts';
import { UsageArchiveError } from './day-closing.ts';
import type { ArchivedDay } from './usage-archive.ts';

const ArchiveUsageInput = t.type({ before: instant });

const ArchivedUsage = t.type({
  days: t.readonlyArray(t.type({ day: t.string, streams: t.number, events: t.number, bytes: t.number })),
});

export interface ArchiveUsage {
  readonly latest: () => Date;
  readonly archive: (before: Date) => Promise<ReadonlyArray<ArchivedDay>>;
}

/** Moves the metering of past days out of the log. */
export function archiveUsageOperation({ latest, archive }: ArchiveUsage): Operation<null> {
  return {
    name: 'archive_usage',
    summary: 'Move the metering of past days into an archive',
    description:
      'Of every day (UTC) that ends at `before` or earlier: its sums are recorded in the log, its metering streams are ' +
      'written to a compressed file in the blob store, which is verified, and then removed from the log. `GET ' +
      '/v1/usage` answers the same as before. The answer lists the days of which anything was left. `before` is at ' +
      'most the end of the day before yesterday.',
    kind: 'command',
    plane: 'control',
    group: 'Usage',
    http: post('/v1/usage/archives'),
    scope: 'operations:write',
    input: ArchiveUsageInput,
    output: ArchivedUsage,
    failures: ['usage-too-recent', 'usage-not-archived'],
    paged: false,
    hasRevision: false,
    example: {
      input: { before: '2026-01-06T00:00:00.000Z' },
      output: { days: [{ day: '2026-01-05', streams: 2, events: 17_280, bytes: 4_211_067 }] },
    },
    loadSubject: async () => E.right(null),
    execute: async ({ input }: Decoded<unknown, null>) => {
      const before = new Date((input as t.TypeOf<typeof ArchiveUsageInput>).before);
      const archived = before > latest() ? E.left(tooRecent(latest())) : await archiveUntil(before, archive);
      return E.map((days: ReadonlyArray<ArchivedDay>) => {
        return { status: 200 as const, body: { days: days.map((day) => ({ ...day })) } };
      })(archived);
    },
  };
}

async function archiveUntil(
  before: Date,
  archive: ArchiveUsage['archive'],
): Promise<E.Either<Failure, ReadonlyArray<ArchivedDay>>> {
  try {
    return E.right(await archive(before));
  } catch (error) {
    if (
      error instanceof UsageArchiveError ||
      error instanceof UnreadableEventError ||
      error instanceof UnreadableStreamError
    )
      return E.left(failure('usage-not-archived', error.message));
    throw error;
  }
}

function tooRecent(latest: Date): Failure {
  return failure(
    'usage-too-recent',
    `A day is archived once another one has passed after it: before is at most ${latest.toISOString()}.`,
  );
}
