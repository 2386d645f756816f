import { placeOf } from '#domain/event-failure.ts';
import type { LogVerification } from '#domain/history/verification.ts';
import type { EventStore } from '#event-store/event-store.ts';
import type { Readiness, ReadinessCheck } from '#http/routes/health.ts';
import type { ProcessStatuses } from '#process-engine/process-statuses.ts';
import type { ProjectionsProgress } from '#projection-engine/progress/projections-progress.ts';
import type { ProjectionStatus, ReadStore } from '#read-store/read-store.ts';
import { withTimeout } from '#shared/async/timed-waits.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';

/** Shorter than the whole wait of `/readyz`, so that `/readyz` can name the store that does not answer. */
const timeoutMs = 1_500;

/** Maximum number of streams that the detail of a check names. */
const maxNamedStreams = 3;

const noBatches =
  'no node runs batches: it takes one with the role projections that serves the gateway, or has a GATEWAY_CONFIG';

export interface ReadinessDependencies {
  readonly events: Pick<EventStore, 'lastPosition'>;
  /** Throws if this node may not append to the log. @throws UnavailableError */
  readonly ensureWritable: () => Promise<void>;
  readonly documents: Pick<ReadStore, 'status'>;
  readonly projections: Pick<ProjectionsProgress, 'status' | 'following'>;
  readonly processes: Pick<ProcessStatuses, 'read'>;
  /** True if a live node runs batches. */
  readonly batchesRun: () => Promise<boolean>;
  /** The last verification; null before the first, `off` if there is none. */
  readonly verification: () => Promise<LogVerification | null | 'off'>;
}

/** Checks that each store answers, and that the read models follow the log. Names stopped processes. */
export function createReadiness({
  events,
  ensureWritable,
  documents,
  projections,
  processes,
  batchesRun,
  verification,
}: ReadinessDependencies): Readiness {
  return () =>
    Promise.all([
      answers('event-store', async () => {
        const position = await events.lastPosition();
        await ensureWritable();
        return `at position ${position}`;
      }),
      answers('read-store', async () => `${(await documents.status()).length} read models`),
      following(projections),
      running(processes),
      runningBatches(batchesRun),
      verified(verification),
    ]);
}

function following(projections: ReadinessDependencies['projections']): ReadinessCheck {
  const statuses = projections.status();
  const stopped = statuses.filter(({ state }) => state === 'stopped');
  const { live, detail } = projections.following();
  const causes = stopped.length > 0 ? `stopped: ${stopped.map(causeOf).join(', ')}; ` : '';
  return {
    name: 'projections',
    ready: live && stopped.length === 0,
    detail: `${causes}${detail}${fillingOf(statuses)}${incompleteOf(statuses)}`,
  };
}

/** Describes the first fill, as after an upgrade that makes the read models from the log again. */
function fillingOf(statuses: ReadonlyArray<ProjectionStatus>): string {
  const fills = statuses.flatMap(({ ready, rebuild }) => (ready || !rebuild ? [] : [rebuild]));
  if (fills.length === 0) return '';
  const share = Math.min(...fills.map(({ position, target }) => (target === 0 ? 1 : position / target)));
  return `; ${fills.length} read models are filled for the first time: ${Math.floor(share * 100)}% of the log`;
}

/**
 * Read models that lack events are an alarm. They do not make the node unready, because another node shows the same.
 */
function incompleteOf(statuses: ReadonlyArray<ProjectionStatus>): string {
  const found = statuses.flatMap(({ incompleteStreams: { first } }) => first.map(({ stream }) => stream));
  if (found.length === 0) return '';
  const streams = [...new Set(found)];
  const others = streams.length > maxNamedStreams ? ', …' : '';
  return (
    `; ALARM: read models were built from streams that lack events: ${streams.slice(0, maxNamedStreams).join(', ')}${others}: ` +
    'see projections list'
  );
}

/**
 * A stopped process is an alarm. It does not make the node unready, because everything else works, and another node
 * would find the same.
 */
function running(processes: ReadinessDependencies['processes']): Promise<ReadinessCheck> {
  return checked('processes', async () => {
    const all = await processes.read();
    const stopped = all.filter(({ state }) => state === 'stopped').map(causeOf);
    const waiting = all.flatMap(({ name, state, waitingFor }) =>
      state === 'waiting' ? [`${name} for ${waitingFor}`] : [],
    );
    const parts = [
      ...(stopped.length === 0 ? [] : [`stopped: ${stopped.join(', ')}`]),
      ...(waiting.length === 0 ? [] : [`waiting: ${waiting.join(', ')}`]),
    ];
    return { ready: true, detail: parts.length === 0 ? `${all.length} processes` : parts.join('; ') };
  });
}

/** Without a node that runs batches, everything else works. So this check explains the reason and never fails. */
function runningBatches(batchesRun: ReadinessDependencies['batchesRun']): Promise<ReadinessCheck> {
  return checked('batches', async () => {
    // A node that has just started does not know this yet, but it is ready.
    const run = await withTimeout(0, batchesRun(), null);
    if (run === null) return { ready: true, detail: 'not known yet' };
    return { ready: true, detail: run ? 'a node runs batches' : noBatches };
  });
}

/** An altered log is an alarm. It does not make the node unready, because the node answers what the log says. */
async function verified(verification: ReadinessDependencies['verification']): Promise<ReadinessCheck> {
  const name = 'history';
  // The read store, which has it, is checked by itself.
  const last = await withTimeout(timeoutMs, verification(), 'unknown' as const).catch(() => 'unknown' as const);
  return { name, ready: true, detail: typeof last === 'string' ? verifiedWords[last] : detailOf(last) };
}

const verifiedWords = {
  off: 'not verified: no digests are signed',
  unknown: 'not known: the read store does not answer',
} as const;

function detailOf(last: LogVerification | null): string {
  if (last === null) return 'not verified yet';
  const { time, findings, findingCount } = last;
  if (findingCount === 0) return `verified at ${time}`;
  const others = findingCount === 1 ? '' : ` (and ${findingCount - 1} more)`;
  return `ALARM: the verification at ${time} found that ${findings[0]}${others}: run events verify --digests`;
}

function causeOf({ name, failure }: Pick<ProjectionStatus, 'name' | 'failure'>): string {
  return failure === null ? name : `${name} at ${placeOf(failure)}`;
}

/** Checks that a store answers in time. @param ask returns the detail for an operator */
function answers(name: string, ask: () => Promise<string>): Promise<ReadinessCheck> {
  return checked(name, async () => ({ ready: true, detail: await ask() }));
}

/** A check that fails or takes too long counts as not ready. */
async function checked(name: string, check: () => Promise<Omit<ReadinessCheck, 'name'>>): Promise<ReadinessCheck> {
  const asked = check().then(
    (found) => ({ name, ...found }),
    (error: unknown) => ({
      name,
      ready: false,
      detail: error instanceof UnavailableError ? error.message : 'it failed',
    }),
  );
  return withTimeout(timeoutMs, asked, { name, ready: false, detail: 'no answer in time' });
}
