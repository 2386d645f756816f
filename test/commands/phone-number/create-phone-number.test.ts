import assert from 'node:assert/strict';
import { createPhoneNumber } from '#commands/phone-number/create-phone-number.ts';
import { flow } from '#domain/flow/flow.ts';
import type { PhoneNumberEvents } from '#domain/phone-number/events.ts';
import { newEvent } from '#domain/shared/event.ts';
import { begunFlow, flowDeleted } from '#test/support/events/flow-events.ts';
import { phoneNumberCreated } from '#test/support/events/phone-number-events.ts';
import { fresh, ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';
import { stateOf } from '#test/support/harness/recorded-events.ts';

const input = { projectId: ids.project, name: 'Reception', number: '+44 20 7183 8750' };
const created = (change: Partial<PhoneNumberEvents['PhoneNumberCreated']> = {}) =>
  phoneNumberCreated({ id: fresh.id, ...change });
const ofProject = stateOf(flow, ...begunFlow());

describe('create_phone_number', () => {
  it('creates a disabled platform number, its text kept as given', () => {
    givenHistory().when(createPhoneNumber, input).then(created());
  });

  it('takes a status, a type and external fields', () => {
    const more = { status: 'enabled', type: 'external', externalPhoneFields: { trunk: 'a', lines: [1, 2] } } as const;
    givenHistory()
      .when(createPhoneNumber, { ...input, ...more })
      .then(created(more));
  });

  it('takes a flow of its project', () => {
    givenHistory()
      .when(createPhoneNumber, { ...input, flowId: ids.flow }, { also: ofProject })
      .then(created({ flowId: ids.flow }));
  });

  it('takes null for no flow and no external fields', () => {
    givenHistory()
      .when(createPhoneNumber, { ...input, flowId: null, externalPhoneFields: null })
      .then(created());
  });

  const strange = [
    ['unknown', null],
    ['deleted', stateOf(flow, ...begunFlow(), flowDeleted())],
    ["another project's", stateOf(flow, ...begunFlow({ projectId: ids.sibling }))],
  ] as const;
  for (const [what, also] of strange) {
    it(`refuses a flow that is ${what}`, () => {
      givenHistory()
        .when(createPhoneNumber, { ...input, flowId: ids.flow }, { also })
        .then('flow-not-found');
    });
  }

  it('comes too late when its claim was given up', () => {
    givenHistory(newEvent('PhoneNumberAbandoned', { id: fresh.id }))
      .when(createPhoneNumber, input)
      .then('phone-number-taken');
  });

  it('claims the number in the space of its type', () => {
    const claimed = (change: object) => createPhoneNumber.claims?.({ ...input, ...change })[0];
    assert.equal(claimed({}), claimed({ type: 'platform' }));
    assert.equal(claimed({}), claimed({ type: 'partner', projectId: ids.sibling, number: '+442071838750' }));
    assert.notEqual(claimed({}), claimed({ type: 'external' }));
    assert.notEqual(claimed({ type: 'external' }), claimed({ type: 'external', projectId: ids.sibling }));
  });

  describe('input', () => {
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
