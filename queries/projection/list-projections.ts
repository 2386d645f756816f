import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { eventFailureCodec } from '#domain/event-failure.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { enumeration, nullable } from '#shared/codecs/choice.ts';
import { text } from '#shared/codecs/text.ts';

/** `stopped` means after a failure. */
export const projectionStateCodec = enumeration('ProjectionState', 'running', 'rebuilding', 'stopped');

const Input = t.type({});
const Rebuild = t.type({
  position: t.number,
  target: t.number,
  eventsPerSecond: t.number,
  secondsLeft: nullable(t.number),
});
/** Streams that lacked events when a read model was built from the log. An operator may have set a limit on them. */
export const IncompleteStreamList = t.type(
  {
    count: t.number,
    /** If not, there may be more. */
    isExact: t.boolean,
    /** The first of them: the event with `revision` came in place of the one with `expectedRevision`. */
    first: t.readonlyArray(t.type({ stream: text(), expectedRevision: t.number, revision: t.number })),
  },
  'IncompleteStreamList',
);
const Projection = t.type(
  {
    name: text(),
    version: t.number,
    state: projectionStateCodec,
    /** It has been filled once, so queries read complete data. */
    ready: t.boolean,
    /** The end of the log when the filling of its documents began. A rebuild changes it. */
    begunAt: t.number,
    position: t.number,
    failure: nullable(eventFailureCodec),
    rebuild: nullable(Rebuild),
    incompleteStreams: IncompleteStreamList,
  },
  'Projection',
);
const Output = t.type(
  {
    projections: t.readonlyArray(Projection),
    /** The end of the log; null if the event store does not answer in time. */
    logEnd: nullable(t.number),
    /** Events that are skipped because this release does not know their types. A newer release wrote them. */
    unknownEvents: t.readonlyArray(
      t.type({ type: text(), count: t.number, firstPosition: t.number, lastPosition: t.number }),
    ),
  },
  'ProjectionList',
);

export const listProjections = query<
  t.TypeOf<typeof Input>,
  Tenant,
  t.TypeOf<typeof Output>,
  never,
  'projectionStatus' | 'unknownEvents' | 'lastPosition'
>({
  about: {
    name: 'list_projections',
    summary: 'List the read models with their status',
    description: 'Position, failure and progress of a rebuild of each, and the events that this release does not know.',
    group: 'Operations',
    example: {
      output: {
        projections: [
          {
            name: 'flows',
            version: 1,
            state: 'running',
            ready: true,
            begunAt: 0,
            position: 5120,
            failure: null,
            rebuild: null,
            incompleteStreams: { count: 0, isExact: true, first: [] },
          },
        ],
        logEnd: 5120,
        unknownEvents: [],
      },
    },
  },
  http: get('/v1/projections'),
  access: { scope: 'operations:write', subject: null },
  input: Input,
  output: Output,
  failures: [],
  reads: {},
  services: ['projectionStatus', 'unknownEvents', 'lastPosition'],
  answer: async (_, { projectionStatus, unknownEvents, lastPosition }) => {
    const [logEnd, projections, unknown] = await Promise.all([lastPosition(), projectionStatus(), unknownEvents()]);
    return E.right({ body: { projections, logEnd, unknownEvents: unknown } });
  },
});
