import type { EventStore } from '#event-store/event-store.ts';
import type { Readiness, ReadinessCheck } from '#http/health.ts';
import type { ProjectionsProgress } from '#read-store/projections-progress.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';
import { inTime } from '#src/in-time.ts';
import { Unavailable } from '#src/unavailable.ts';

/** Below what `/readyz` waits in all: so it names the store that does not answer. */
const limitMilliseconds = 1_500;

/** What a node must have to answer requests. */
export interface Needs {
  readonly events: Pick<EventStore, 'lastPosition'>;
  readonly documents: Pick<ReadStore, 'status'>;
  readonly projections: Pick<ProjectionsProgress, 'status' | 'following'>;
}

/** Asks each store whether it answers, and whether the read models follow the log. */
export function readinessOf({ events, documents, projections }: Needs): Readiness {
  return () =>
    Promise.all([
      answers('event-store', async () => `at position ${await events.lastPosition()}`),
      answers('read-store', async () => `${(await documents.status()).length} read models`),
      following(projections),
    ]);
}

function following(projections: Needs['projections']): ReadinessCheck {
  const stopped = projections.status().filter(({ state }) => state === 'stopped');
  const { live, detail } = projections.following();
  return {
    name: 'projections',
    ready: live && stopped.length === 0,
    detail: stopped.length > 0 ? `stopped: ${stopped.map(causeOf).join(', ')}; ${detail}` : detail,
  };
}

/** Where a projection stopped. What it said there may quote the event: only operators with a key see that. */
function causeOf({ name, failure }: ProjectionStatus): string {
  if (failure === null) return name;
  return `${name} at position ${failure.position} (event ${failure.eventId}, ${failure.eventType})`;
}

/** Whether something answers in time. @param ask gives what to tell an operator */
async function answers(name: string, ask: () => Promise<string>): Promise<ReadinessCheck> {
  const asked = ask().then(
    (detail) => ({ name, ready: true, detail }),
    (error: unknown) => ({ name, ready: false, detail: error instanceof Unavailable ? error.message : 'it failed' }),
  );
  return inTime(limitMilliseconds, asked, { name, ready: false, detail: 'no answer in time' });
}
