import type { IncomingHttpHeaders } from 'node:http';
import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { get, type StreamingOperation } from '#application/operations/operation.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { sendProblem } from '#exchange/problem.ts';
import { eventStreamType } from './feed-reader.ts';
import type { LiveFeed } from './live-feed.ts';

export interface FeedOperationOptions {
  readonly feed: LiveFeed;
  /** @throws UnavailableError */
  readonly isKeyValid: (headers: IncomingHttpHeaders) => Promise<boolean>;
}

export function createFeedOperation({ feed, isKeyValid }: FeedOperationOptions): StreamingOperation {
  return {
    name: 'follow_events',
    summary: 'Follow what keys do, live',
    description:
      'Server-sent events: `id` is a position, `event` the type of the event, `data` an entry of the audit. It begins ' +
      'with what comes next or, with `Last-Event-ID`, after that position. A comment comes every 15 s. Read too ' +
      'slowly, it ends: open it again with the last id.',
    kind: 'streaming',
    plane: 'control',
    group: 'Audit',
    http: get('/v1/events'),
    scope: 'audit:read',
    input: t.type({}),
    output: null,
    failures: ['invalid-header', 'too-many-feeds', 'feeds-full'],
    paged: false,
    hasRevision: false,
    consumes: 'application/json',
    produces: [eventStreamType],
    example: {},
    relay: async (request) => {
      const { headers, caller, client: response } = request;
      const after = readLastEventId(headers['last-event-id']);
      const refusal = E.isLeft(after)
        ? after.left
        : await feed.serve({ caller, response, after: after.right, isKeyValid: () => isKeyValid(headers) });
      if (refusal !== null) sendProblem(request, refusal, '/v1/events');
      return { kind: 'relayed', status: null, code: refusal?.code ?? null, model: null, target: null, attempts: 0 };
    },
  };
}

/** The position after which the feed begins. Null without the header. */
function readLastEventId(value: string | string[] | undefined): E.Either<Failure, number | null> {
  if (value === undefined || value === '') return E.right(null);
  const position = typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(position)) return E.right(position);
  return E.left(failure('invalid-header', 'Last-Event-ID is not the id of an event of this feed: send one as given.'));
}
