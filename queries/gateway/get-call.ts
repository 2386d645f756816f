import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { notFound, type Tenant } from '#domain/shared/access.ts';
import { RecordedCall } from '#domain/usage/recorded-call.ts';
import { text } from '#shared/codecs/text.ts';
import { exampleCall, projectOfCalls, readsOfCalls, shownTo } from './shown-calls.ts';

/** Maximum number of calls with one request id, newest first. */
const maxCalls = 100;

const Input = t.intersection([t.type({ requestId: text({ min: 1, max: 128 }) }), t.partial({ projectId: cuid })]);
const Output = t.type({ calls: t.readonlyArray(RecordedCall) }, 'CallsOfRequest');

export const getCall = query<
  t.TypeOf<typeof Input>,
  Tenant,
  t.TypeOf<typeof Output>,
  keyof typeof readsOfCalls,
  'calls'
>({
  about: {
    name: 'get_call',
    summary: 'Read what became of a call of the gateway, by its request id',
    description:
      'The `X-Request-Id` of the answer. A client that sends its own may use it again, so there may be several calls, ' +
      `newest first, ${maxCalls} at most. A call appears about a second after its end and stays for seven days at most. ` +
      'Of the project of the key, or of `projectId`. The targets that failed have only numbers, but for keys of type ' +
      '`admin`; `cost` is for keys with `usage:read`.',
    group: 'Gateway',
    example: { output: { calls: [exampleCall] } },
  },
  plane: 'gateway',
  http: get('/v1/gateway/calls/:requestId'),
  access: { scope: 'gateway:read', subject: null },
  input: Input,
  output: Output,
  failures: ['call-not-found', 'project-not-found'],
  reads: readsOfCalls,
  services: ['calls'],
  answer: async ({ input: { requestId, projectId }, request: { caller } }, { read, calls: recorded }) => {
    const project = await projectOfCalls(caller, projectId, read);
    if (E.isLeft(project)) return project;
    const calls = await recorded.ofRequest(project.right, requestId, maxCalls);
    if (calls.length === 0) return E.left(notFound('call-not-found', JSON.stringify(requestId)));
    return E.right({ body: { calls: calls.map((call) => shownTo(caller, call)) } });
  },
});
