import assert from 'node:assert/strict';
import { newEvent } from '#domain/shared/event.ts';
import { phoneNumbers } from '#projections/phone-numbers.ts';
import {
  phoneNumberCreated,
  phoneNumberDeleted,
  phoneNumberFlowSet,
} from '#test/support/events/phone-number-events.ts';
import { ids, tenants } from '#test/support/events/tenants.ts';
import { projectStreams } from '#test/support/harness/projection-harness.ts';
import { type ExampleEvent, timeOf } from '#test/support/harness/recorded-events.ts';

const id = ids.number;
const of = (...events: ReadonlyArray<ExampleEvent>) => projectStreams(phoneNumbers, { [`phoneNumber-${id}`]: events });
const document = (change: object, revision: number, flowId: string | null = null) => ({
  [id]: {
    claims: encodeURIComponent(phoneNumberCreated().data.number),
    ...tenants.project,
    revision,
    flowId,
    record: { ...phoneNumberCreated().data, flowId, createdAt: timeOf(0), updatedAt: timeOf(revision), ...change },
  },
});

describe('phone numbers projection', () => {
  it('shows a phone number from its creation on', () => {
    assert.deepEqual(of(phoneNumberCreated()), document({}, 0));
    assert.deepEqual(of(phoneNumberCreated({ flowId: ids.flow })), document({}, 0, ids.flow));
  });

  it('shows each change of a phone number', () => {
    const renamed = newEvent('PhoneNumberRenamed', { id, name: 'Night desk' });
    const enabled = newEvent('PhoneNumberStatusChanged', { id, status: 'enabled' });
    assert.deepEqual(of(phoneNumberCreated(), renamed), document({ name: 'Night desk' }, 1));
    assert.deepEqual(of(phoneNumberCreated(), enabled), document({ status: 'enabled' }, 1));
    assert.deepEqual(of(phoneNumberCreated(), phoneNumberFlowSet(ids.flow)), document({}, 1, ids.flow));
    const detached = phoneNumberFlowSet(null, 'flow-deleted');
    assert.deepEqual(of(phoneNumberCreated({ flowId: ids.flow }), detached), document({}, 1));
  });

  it('shows no deleted phone number, and none that was abandoned before its creation', () => {
    assert.deepEqual(of(phoneNumberCreated(), phoneNumberDeleted()), {});
    assert.deepEqual(of(newEvent('PhoneNumberAbandoned', { id })), {});
  });
});
