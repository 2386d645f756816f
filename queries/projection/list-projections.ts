import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { nullable, oneOf, text } from '#domain/codecs.ts';
import type { Tenant } from '#domain/tenancy.ts';
import { get } from '#operations/operation.ts';
import { query } from '#operations/query.ts';

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
      failure: nullable(t.type({ eventId: text(), eventType: text(), position: t.number, message: text() })),
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
});

export const listProjections = query<t.TypeOf<typeof Input>, Tenant, t.TypeOf<typeof Output>>({
  name: 'list_projections',
  summary: 'Tell how each read model stands',
  description: 'How far it is, what stopped it, and how a rebuild gets on.',
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
    },
  },
  reads: [],
  subject: null,
  answer: async ({ projectionStatus }) => E.right({ body: { projections: await projectionStatus() } }),
});
