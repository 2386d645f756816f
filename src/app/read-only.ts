import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import type { AnyOperation } from '#application/operations/operation.ts';
import { failure } from '#domain/shared/failure.ts';
import type { Admission } from '#exchange/admission.ts';
import { Positions } from '#positions/positions.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import { noIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { replaceFile } from '#shared/files/replace-file.ts';

const AsOf = t.type({
  /** The position up to which the log was replayed. */
  position: t.number,
  /** The time of the last event up to that position; null without one. */
  time: t.union([t.string, t.null]),
  /** The identity of the replayed log (`identityOfLog`). */
  log: t.string,
  projections: t.readonlyArray(t.type({ name: t.string, version: t.number })),
});

/** The moment that the read models in a folder show. */
export type AsOf = t.TypeOf<typeof AsOf>;

const fileName = 'as-of.json';

/** Writes the moment durably, as the last step of a replay. */
export async function writeAsOf(folder: string, asOf: AsOf): Promise<void> {
  await replaceFile(join(folder, fileName), `${JSON.stringify(asOf)}\n`);
}

/** @throws StartupError if a replay has made none there */
export function readAsOf(folder: string): AsOf {
  try {
    const read: unknown = JSON.parse(readFileSync(join(folder, fileName), 'utf8'));
    if (AsOf.is(read)) return read;
  } catch {
    // The error below says the same.
  }
  throw new StartupError(
    `READ_ONLY=true needs a folder that was made by npm run replay -- --until <time|position> --into <folder>; DATA_DIR=${folder} is none, or is not whole.`,
  );
}

/**
 * Refuses a replayed folder, because a normal service would bring its read models to the end of the log.
 * @throws StartupError
 */
export function refuseAsOf(folder: string): void {
  if (!existsSync(join(folder, fileName))) return;
  throw new StartupError(
    `DATA_DIR=${folder} shows a past moment (npm run replay): start it with READ_ONLY=true, or name another folder.`,
  );
}

/** "2026-01-05T09:30:00.000Z (position 42)" */
export function describeAsOf({ position, time }: AsOf): string {
  return `${time ?? 'the beginning'} (position ${position})`;
}

/** Positions of read models that do not change any more. */
export function asOfProjections(asOf: AsOf): ProjectionsProgress {
  const { position } = asOf;
  const statuses = asOf.projections.map(
    ({ name, version }): ProjectionStatus => ({
      ...{ name, version, state: 'running', ready: true, begunAt: position, position, failure: null, rebuild: null },
      incompleteStreams: noIncompleteStreams,
    }),
  );
  return {
    status: () => statuses,
    onStatus: () => () => undefined,
    following: () => ({ live: true, detail: `read only as of ${describeAsOf(asOf)}` }),
  };
}

/** Positions of read models that do not change any more, so no caller waits for them. */
export function asOfPositions({ position, projections }: AsOf, admission: Pick<Admission, 'rooms'>): Positions {
  const positions = new Positions(admission);
  positions.update('projection', new Map(projections.map(({ name }) => [name, { position, live: false }])));
  positions.close();
  return positions;
}

/** A service of a past moment stays read-only, so clients need not retry soon. */
const retryAfterSeconds = 3_600;

/**
 * Reads stay unchanged. Everything else (commands, uploads, calls of models, the live feed) is refused after its key is
 * checked.
 */
export function refuseWrites(operations: ReadonlyArray<AnyOperation>, asOf: AsOf): ReadonlyArray<AnyOperation> {
  const detail = `This service only answers reads, as of ${describeAsOf(asOf)}. Ask the service in operation.`;
  const refusal = E.left(failure('read-only', detail, { retryAfterSeconds }));
  const refuse = async () => refusal;
  return operations.map((operation): AnyOperation => {
    if (operation.kind === 'query' || operation.kind === 'download') return operation;
    return { ...operation, kind: 'command', loadSubject: refuse, execute: refuse };
  });
}
