import * as E from 'fp-ts/lib/Either.js';
import * as t from 'io-ts';
import { command } from '#application/commands/command.ts';
import { post } from '#application/operations/operation.ts';
import { eventControl, skippedEventsId } from '#domain/operator/event-control.ts';
import { operatorTenant } from '#domain/operator/operator-requests.ts';
import { newEvent } from '#domain/shared/event.ts';
import { failure as refused } from '#domain/shared/failure.ts';
import { nullable } from '#shared/codecs/choice.ts';
import { integer } from '#shared/codecs/number.ts';
import { text } from '#shared/codecs/text.ts';

const SkippedEvent = t.type(
  { position: t.number, eventId: text(), eventType: text(), stream: nullable(text()) },
  'SkippedEvent',
);

export const skipEvent = command({
  about: {
    name: 'skip_event',
    summary: 'Let everything skip a broken event',
    description:
      'Every read model and process that cannot handle the event at this position passes it, now and in every rebuild. ' +
      'Something must have stopped at it: see GET /v1/projections and GET /v1/processes. The audit shows the reason.',
    group: 'Operations',
    effect: { isDestructive: true },
    example: {
      input: { position: 5120, reason: 'A tool wrote it without the name' },
      output: {
        position: 5120,
        eventId: '0b9c1c34-6f0e-4a55-9f3e-2d1f5a8c7e61',
        eventType: 'FlowRenamed',
        stream: 'flow-cz7t3m1kx0q4v8d2w6b9n5p0',
      },
    },
  },
  http: post('/v1/skipped-events'),
  access: { scope: 'operations:write', subject: null },
  input: t.type({ position: integer(1, Number.MAX_SAFE_INTEGER), reason: text({ min: 1, max: 500 }) }),
  output: SkippedEvent,
  failures: ['event-not-stopped'],
  entity: eventControl,
  loadRelated: ({ position }, { lookup }) => lookup.failureAt(position),
  creates: { id: () => skippedEventsId, tenant: (_, { caller }) => operatorTenant(caller) },
  decide: ({ position, reason }, _, { related: failure }) => {
    if (failure === null)
      return E.left(
        refused(
          'event-not-stopped',
          `GET /v1/projections and GET /v1/processes show no failure at position ${position}: no event of this service is ` +
            'there, everything can handle it, or what has stopped there has also stopped at an earlier event, which is shown.',
        ),
      );
    const { eventId, eventType, stream = null } = failure;
    return E.right([newEvent('EventSkipped', { position, eventId, eventType, stream, reason })]);
  },
  answer: ({ state: { skipped } }) => {
    if (skipped === null) throw new Error('The request to skip an event is not in its stream.');
    return skipped;
  },
  withoutRevision: true,
});
