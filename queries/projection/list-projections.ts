import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { nullable, oneOf, text } from '#domain/codecs/codecs.ts';
import { eventFailureCodec } from '#domain/shared/event-failure.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';

const Input = t.type({});
const Output = t.type({
  projections: t.readonlyArray(
    t.type({
      name: text(),
      version: t.number,
      state: oneOf('running', 'rebuilding', 'stopped'),
      /** It was filled once: what queries read is whole. */
      ready: t.boolean,
      /** Where the log ended when its documents were begun to be made: a rebuild moves it. */
      begunAt: t.number,
      position: t.number,
      failure: nullable(eventFailureCodec),
      rebuild: nullable(
        t.type({
          position: t.number,
          target: t.number,
          eventsPerSecond: t.number,
          secondsLeft: nullable(t.number),
        }),
      ),
    }),
  ),
  /** Events that are passed because this release does not know their types: a newer one wrote them. */
  unknownEvents: t.readonlyArray(
    t.type({ type: text(), count: t.number, firstPosition: t.number, lastPosition: t.number }),
  ),
});

export const listProjections = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>>({
  name: 'list_projections',
  summary: 'Tell how each read model stands',
  description: 'How far it is, what stopped it, how a rebuild gets on, and which events this release does not know.',
  group: 'Operations',
  http: get('/v1/projections'),
  scope: 'operations:write',
  input: Input,
  output: Output,
  failures: [],
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
        },
      ],
      unknownEvents: [],
    },
  },
  reads: {},
  subject: null,
  answer: async ({ projectionStatus, unknownEvents }) => {
    const [projections, unknown] = await Promise.all([projectionStatus(), unknownEvents()]);
    return E.right({ body: { projections, unknownEvents: unknown } });
  },
});
