import type { EventStore } from '#event-store/event-store.ts';
import { identityOfLog } from '#event-store/log-identity.ts';
import type { PositionSource } from '#positions/position-poll.ts';
import type { ProcessesRecord } from '#positions/processes-record.ts';
import type { CheckpointStore } from '#process-engine/checkpoints/checkpoint-store.ts';
import { processTable } from '#processes/table.ts';
import type { PositionsReader } from '#read-store/published-positions.ts';

/** How long one attempt to read the identity of the log lasts. */
const identityTimeoutMs = 5_000;

const nothing = async () => undefined;
const names = processTable({ erase: nothing }, { delete: nothing }).flatMap(({ name, concurrency }) =>
  concurrency === undefined ? [name] : [],
);

/** Reads the published positions of the projections and the checkpoints of the processes that go in order. */
export function polledPositions(
  store: PositionsReader,
  checkpoints: Pick<CheckpointStore, 'peek'>,
  events: Pick<EventStore, 'subscribe'>,
): PositionSource {
  let log: string | null = null;
  let isAsking = false;
  const askIdentity = async () => {
    isAsking = true;
    log = await identityOfLog(events, AbortSignal.timeout(identityTimeoutMs)).catch(() => null);
    isAsking = false;
  };
  return {
    poll: async () => {
      // The log may be empty for long, and the poll must not wait.
      if (log === null && !isAsking) void askIdentity();
      const [published, processes] = await Promise.all([
        store.positions(),
        log === null ? null : recordFrom(checkpoints, log),
      ]);
      return { published, processes };
    },
  };
}

/** A checkpoint is stored right after an append, so its position is that of the event that caused the append. */
async function recordFrom(checkpoints: Pick<CheckpointStore, 'peek'>, log: string): Promise<ProcessesRecord> {
  const each = await Promise.all(names.map(async (name) => ({ name, ...(await checkpoints.peek(name, log)) })));
  const entries = each.map(({ name, ...checkpoint }) => [name, { ...checkpoint, waitingFor: null }] as const);
  const effects = each
    .filter(({ position, lastAppended }) => lastAppended > position)
    .map(({ name, position, lastAppended }) => ({ process: name, cause: position, appended: lastAppended }));
  return { log, token: 0, checkpoints: Object.fromEntries(entries), effects };
}
