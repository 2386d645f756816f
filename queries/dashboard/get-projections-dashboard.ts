import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { timestamp } from '#domain/codecs/time.ts';
import { eventFailureCodec } from '#domain/event-failure.ts';
import { LogVerification } from '#domain/history/verification.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { LagMonitor } from '#projection-engine/progress/lag-monitor.ts';
import { ProcessState } from '#queries/process/list-processes.ts';
import { IncompleteStreamList, projectionStateCodec } from '#queries/projection/list-projections.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** How far a read model or process is behind the log. */
const lag = {
  position: t.number,
  /** The number of positions to the end of the log; null if the end is not known. */
  lag: nullable(t.number),
  /** How long it has been behind the log, to the second; 0 if it is not behind, null if that is not known. */
  lagMs: nullable(t.number),
};

/** Only operators may read it. */
export const ProjectionsAnswer = t.type(
  {
    /** The end of the log; null if the event store does not answer in time. */
    logEnd: nullable(t.number),
    projections: t.readonlyArray(
      t.type({
        name: text(),
        version: t.number,
        state: projectionStateCodec,
        ready: t.boolean,
        ...lag,
        failure: nullable(eventFailureCodec),
        rebuild: nullable(
          t.type({
            position: t.number,
            target: t.number,
            /** The completed part, from 0 to 1. */
            part: t.number,
            eventsPerSecond: t.number,
            secondsLeft: nullable(t.number),
          }),
        ),
        incompleteStreams: IncompleteStreamList,
      }),
    ),
    processes: t.readonlyArray(
      t.type({
        name: text(),
        state: ProcessState,
        ...lag,
        failure: nullable(eventFailureCodec),
        /** The read model for which it waits, or what is unavailable; null if it does not wait. */
        waitingFor: nullable(text()),
      }),
    ),
    unknownEvents: t.readonlyArray(
      t.type({ type: text(), count: t.number, firstPosition: t.number, lastPosition: t.number }),
    ),
    /** The last verification of the log; null before the first, and if no digests are signed. */
    verification: nullable(LogVerification),
    /** What the answering node saw by the minute, at most 24 hours, oldest first. A restart clears it. */
    past: t.type({
      times: t.readonlyArray(timestamp),
      /** The highest lag of any running projection, in positions and in ms. */
      worstLag: t.readonlyArray(t.number),
      worstLagMs: t.readonlyArray(t.number),
      /** How many positions the log grew. */
      growth: t.readonlyArray(t.number),
    }),
  },
  'DashboardProjections',
);

export type ProjectionsAnswer = t.TypeOf<typeof ProjectionsAnswer>;

const Input = t.type({});

const services = ['projectionStatus', 'processStatus', 'unknownEvents', 'lastPosition', 'lag', 'verification'] as const;

export const getProjectionsDashboard = query<
  t.TypeOf<typeof Input>,
  Tenant,
  ProjectionsAnswer,
  never,
  (typeof services)[number]
>({
  about: {
    name: 'get_projections_dashboard',
    summary: 'Read the state and the lag of read models and processes',
    description:
      'State, lag, failure and progress of each, the lag of the last 24 hours that the answering node has seen since its ' +
      'start, and the last verification of the log. Only for operators.',
    group: 'Dashboard',
    example: {
      output: {
        logEnd: 5120,
        projections: [
          {
            name: 'flows',
            version: 2,
            state: 'running',
            ready: true,
            position: 5120,
            lag: 0,
            lagMs: 0,
            failure: null,
            rebuild: null,
            incompleteStreams: { count: 0, isExact: true, first: [] },
          },
        ],
        processes: [
          {
            name: 'detach-phone-numbers',
            state: 'running',
            position: 5120,
            lag: 0,
            lagMs: 0,
            failure: null,
            waitingFor: null,
          },
        ],
        unknownEvents: [],
        verification: {
          time: '2026-01-05T03:12:40.000Z',
          wholeTime: '2026-01-04T03:12:52.000Z',
          events: 318,
          digest: { chain: 1, number: 96 },
          findings: [],
          findingCount: 0,
        },
        past: { times: ['2026-01-05T09:30:00.000Z'], worstLag: [3], worstLagMs: [0], growth: [41] },
      },
    },
  },
  http: get('/v1/dashboard/projections'),
  access: { scope: 'operations:write', subject: null },
  input: Input,
  output: ProjectionsAnswer,
  failures: [],
  reads: {},
  services,
  answer: async (_, { projectionStatus, processStatus, unknownEvents, lastPosition, lag, verification: verified }) => {
    const [logEnd, projections, processes, unknown, verification] = await Promise.all([
      lastPosition(),
      projectionStatus(),
      processStatus(),
      unknownEvents(),
      verified(),
    ]);
    const body: ProjectionsAnswer = {
      logEnd,
      projections: projections.map(
        ({ name, version, state, ready, position, failure, rebuild, incompleteStreams }) => ({
          ...{ name, version, state, ready },
          ...lagOf(position, logEnd, lag),
          failure,
          incompleteStreams,
          rebuild: rebuild && {
            ...rebuild,
            part: rebuild.target === 0 ? 1 : Math.min(1, rebuild.position / rebuild.target),
          },
        }),
      ),
      processes: processes.map(({ name, state, position, failure, waitingFor }) => ({
        ...{ name, state, failure, waitingFor },
        ...lagOf(position, logEnd, lag),
      })),
      unknownEvents: unknown,
      verification: verification === 'off' ? null : verification,
      past: lag.past(),
    };
    return E.right({ body });
  },
});

function lagOf(position: number, logEnd: number | null, monitor: Pick<LagMonitor, 'lagMs'>) {
  if (logEnd === null) return { position, lag: null, lagMs: monitor.lagMs(position) };
  const lag = Math.max(0, logEnd - position);
  return { position, lag, lagMs: lag === 0 ? 0 : monitor.lagMs(position) };
}
