import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get } from '#application/operations/operation.ts';
import { encodeCursor, pageAnswer, pageInput } from '#application/operations/paging.ts';
import { query } from '#application/queries/query.ts';
import { cuid } from '#domain/codecs/id.ts';
import { instant } from '#domain/codecs/time.ts';
import type { Tenant } from '#domain/shared/access.ts';
import { CallOutcome, RecordedCall } from '#domain/usage/recorded-call.ts';
import { type ListOf, listOf } from '#queries/shared/list-of.ts';
import { text } from '#shared/codecs/text.ts';
import { encodeJson } from '#shared/json/json.ts';
import { exampleCall, projectOfCalls, readsOfCalls, shownTo } from './shown-calls.ts';

/** Small, because a client looks for one call. */
const defaultLimit = 100;

const Input = t.partial({
  ...pageInput,
  model: text({ min: 1, max: 200 }),
  outcome: CallOutcome,
  keyId: cuid,
  from: instant,
  until: instant,
  projectId: cuid,
});

type Input = t.TypeOf<typeof Input>;

export const listCalls = query<Input, Tenant, ListOf<'calls', RecordedCall>, keyof typeof readsOfCalls, 'calls'>({
  about: {
    name: 'list_calls',
    summary: 'List the calls of the gateway, newest first',
    description:
      `Of the project of the key, or of \`projectId\`; the default \`limit\` is ${defaultLimit}. Each with its attempts, ` +
      'times and amounts, and how it ended; nothing of what was said. `from` is included, `until` is not. A call appears ' +
      'about a second after its end and stays for seven days at most. A project keeps its newest 4 MiB, and ' +
      'the newest of about 250 calls a second. `callsRepresented` is deprecated and always 1. The targets that failed have ' +
      'only numbers, but for keys of type `admin`; `cost` is for keys with `usage:read`.',
    group: 'Gateway',
    example: { output: { calls: [exampleCall] } },
  },
  plane: 'gateway',
  http: get('/v1/gateway/calls'),
  access: { scope: 'gateway:read', subject: null },
  input: Input,
  output: listOf('calls', RecordedCall),
  failures: ['project-not-found'],
  reads: readsOfCalls,
  services: ['calls'],
  paged: true,
  answer: async ({ input, request: { caller, maxPageBytes: maxBytes } }, { read, calls: recorded }) => {
    const { limit = defaultLimit, cursor = null, projectId, ...filter } = input;
    const project = await projectOfCalls(caller, projectId, read);
    if (E.isLeft(project)) return project;
    const { calls, next } = await recorded.page(project.right, filter, { limit, maxBytes, after: cursor });
    const items = calls.map((call) => encodeJson(shownTo(caller, call)));
    return E.right(pageAnswer('calls', items, next === null ? null : encodeCursor(next)));
  },
});
