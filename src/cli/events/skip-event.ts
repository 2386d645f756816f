import { setTimeout as sleep } from 'node:timers/promises';
import { type LocalService, openLocalService } from '#cli/shared/local-service.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

interface Follower {
  readonly state: string;
  readonly position: number;
}

/** How long to wait for followers that have not come to the event yet. */
const maxWaitMs = 30_000;
const pollIntervalMs = 200;

/**
 * Skips the event for every read model and process.
 * @param position as on the command line
 * @returns the exit code
 * @throws StartupError if the service refuses
 */
export async function skipEventAt(position: string, reason: string): Promise<number> {
  if (!/^[1-9]\d*$/.test(position)) throw new StartupError(`${JSON.stringify(position)} is not a position of the log.`);
  const service = await openLocalService();
  try {
    const { eventId, eventType, stream } = await skipAt(service, Number(position), reason);
    const place = stream === null ? '' : ` of ${stream}`;
    process.stdout.write(`skipped event ${eventId} (${eventType}, position ${position}${place})\n`);
    return 0;
  } finally {
    await service.close();
  }
}

async function skipAt(service: LocalService, position: number, reason: string) {
  const deadline = performance.now() + maxWaitMs;
  for (;;) {
    const { status, body } = await service.call('POST', '/v1/skipped-events', { position, reason });
    if (status < 300) return body;
    const mayStop = body.code === 'event-not-stopped' && (await hasFollowersBefore(service, position));
    if (!mayStop || performance.now() > deadline) throw new StartupError(refusalOf(body));
    await sleep(pollIntervalMs);
  }
}

/** True if followers are before the event, as in a service that has just started. */
async function hasFollowersBefore(service: LocalService, position: number): Promise<boolean> {
  const [{ body: projections }, { body: processes }] = await Promise.all([
    service.call('GET', '/v1/projections'),
    service.call('GET', '/v1/processes'),
  ]);
  const { logEnd } = projections;
  if (logEnd === null || position > logEnd) return false;
  const followers: ReadonlyArray<Follower> = [...(projections.projections ?? []), ...(processes.processes ?? [])];
  return followers.some((follower) => follower.state !== 'stopped' && follower.position < position);
}

function refusalOf({ detail, errors = [] }: { detail: string; errors?: ReadonlyArray<FieldError> }): string {
  return errors.length === 0
    ? detail
    : errors.map(({ pointer, message }) => `${pointer.slice(1)} ${message}`).join('; ');
}

interface FieldError {
  readonly pointer: string;
  readonly message: string;
}
