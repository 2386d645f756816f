import assert from 'node:assert/strict';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { flow } from '#domain/flow/flow.ts';
import type { PhoneNumberEvents } from '#domain/phone-number/events.ts';
import { newEvent } from '#domain/shared/event.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { phoneNumberCreated } from '#test/support/events/phone-number-events.ts';
import { ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { projectId: ids.project, name: 'Reception', number: '+44 20 7183 8750' };
const created = (change: Partial<PhoneNumberEvents['PhoneNumberCreated']> = {}) =>
  phoneNumberCreated({ id: newIds.id, ...change });
const ofProject = stateOf(flow, ...begunFlow());

describe('create_phone_number', () => {
  it('creates a disabled platform number and keeps its text as given', () => {
    givenHistory().when(createPhoneNumber, input).then(created());
  });

  it('creates a phone number with the given status, type and external fields', () => {
    const more = { status: 'enabled', type: 'external', externalPhoneFields: { trunk: 'a', lines: [1, 2] } } as const;
    givenHistory()
      .when(createPhoneNumber, { ...input, ...more })
      .then(created(more));
  });

  it('assigns a flow of the same project to a new phone number', () => {
    givenHistory()
      .when(createPhoneNumber, { ...input, flowId: ids.flow }, { related: ofProject })
      .then(created({ flowId: ids.flow }));
  });

  it('treats a null flow and null external fields as none', () => {
    givenHistory()
      .when(createPhoneNumber, { ...input, flowId: null, externalPhoneFields: null })
      .then(created());
  });

  const invalid = [
    ['unknown', null],
    ['deleted', stateOf(flow, ...begunFlow(), flowDeleted())],
    ["another project's", stateOf(flow, ...begunFlow({ projectId: ids.sibling }))],
  ] as const;
  for (const [what, related] of invalid) {
    it(`refuses a phone number with a flow that is ${what}`, () => {
      givenHistory()
        .when(createPhoneNumber, { ...input, flowId: ids.flow }, { related })
        .then('flow-not-found');
    });
  }

  it('refuses a phone number whose claim was given up', () => {
    givenHistory(newEvent('PhoneNumberAbandoned', { id: newIds.id }))
      .when(createPhoneNumber, input)
      .then('phone-number-taken');
  });

  it('claims a number in the number space of its type', () => {
    const claimed = (change: object) => createPhoneNumber.creates?.claims?.values({ ...input, ...change })[0];
    assert.equal(claimed({}), claimed({ type: 'platform' }));
    assert.equal(claimed({}), claimed({ type: 'partner', projectId: ids.sibling, number: '+442071838750' }));
    assert.notEqual(claimed({}), claimed({ type: 'external' }));
    assert.notEqual(claimed({ type: 'external' }), claimed({ type: 'external', projectId: ids.sibling }));
  });

  describe('input of create_phone_number', () => {
    const of = inputOf(createPhoneNumber, input);
    of.id('projectId');
    of.text('name', { min: 1, max: 200 });
    of.required('name');
    of.text('number', { min: 1, max: 64 });
    of.required('number');
    of.choice('status', ['enabled', 'disabled']);
    of.optional('status', 'disabled');
    of.choice('type', ['platform', 'partner', 'external']);
    of.optional('type', 'platform');
    of.id('flowId', { orNull: true });
    of.optional('flowId', undefined);
    for (const value of [null, {}, { a: 1, b: null, c: { d: [] } }]) of.accepts('externalPhoneFields', value);
    for (const value of [[], 'a', 1, true]) of.refuses('externalPhoneFields', value);
    of.optional('externalPhoneFields', undefined);
    of.ignoresUnknown();
  });
});
