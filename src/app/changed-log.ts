import type Koa from 'koa';
import { failure } from '#domain/shared/failure.ts';
import type { LogChange } from '#event-store/log-doubts.ts';
import { healthRoutes } from '#http/routes/health.ts';
import { createStartingApp } from '#http/server/starting-app.ts';
import type { AuditDocument } from '#projections/audit.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import type { Logger } from '#shared/logging/logger.ts';

/** Counting ends at this number of the audit's entries. */
const maxCounted = 10_000;
const countWithinMs = 2_000;
const pageLimits = { limit: 500, maxBytes: 1024 * 1024 };

/** While the log is not the one that was read, every request is 503, and `/readyz` says why. */
export function createChangedLogApp({ lost, common }: LogChange, version: string): Koa {
  const where = `the event store no longer has the event at position ${lost.position}`;
  const next = common === null ? 'it has another log: start the service again' : 'the service opens it again';
  const refusal = failure('log-changed', `The log has changed: ${where}, and ${next}.`, { retryAfterSeconds: 5 });
  const readiness = async () => [{ name: 'event-store', ready: false, detail: `log-changed: ${where}; ${next}` }];
  return createStartingApp(refusal, healthRoutes(version, readiness));
}

/** Logs once what has changed, and what is done and must be done. @param documents the read models of the old log */
export async function logChange(
  { lost, common }: LogChange,
  documents: ReadStore,
  log: Pick<Logger, 'error'>,
): Promise<void> {
  const commonPosition = common?.position ?? 0;
  const entries = await countEntries(documents, commonPosition);
  const fields = { position: lost.position, commonPosition, auditEntriesGone: entries ?? 'not known' };
  if (common === null)
    log.error(
      fields,
      'The event store has another log than before (an empty volume, another server): nothing is answered until the right one is back and the service is started again',
    );
  else
    log.error(
      fields,
      'The event store no longer has events that were read (a restored backup, a leader that lost its tail): the service continues from the common position by itself. If that is a mistake, stop it and bring the newer log back',
    );
}

/** Counts entries up to a limit. @returns null if the entries cannot be read */
async function countEntries(documents: ReadStore, after: number): Promise<number | null> {
  const counting = count(documents, after).catch(() => null);
  return withTimeout(countWithinMs, counting, null);
}

async function count(documents: ReadStore, after: number): Promise<number> {
  let counted = 0;
  for (let place = {}; counted < maxCounted; ) {
    const request = { ...pageLimits, newestFirst: true, ...place };
    const page = await documents.list<AuditDocument & Record<string, unknown>>('audit', {}, request);
    const gone = page.documents.filter(({ order }) => order > after);
    counted += gone.length;
    if (page.next === null || gone.length < page.documents.length) break;
    place = { after: page.next };
  }
  return counted;
}
