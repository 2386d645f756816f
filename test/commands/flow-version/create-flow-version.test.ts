import { createFlowVersion } from '#commands/flow-version/create-flow-version.ts';
import { newEvent } from '#domain/shared/event.ts';
import { begunFlow, versionActivated, versionCreated, versionDeleted } from '#test/support/events/flow-events.ts';
import { ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const flowSchema = { say: 'good evening' };
const input = { flowId: ids.flow, flowSchema };
const numbered = (version: number) =>
  newEvent('FlowVersionCreated', {
    id: ids.flow + newIds.suffix,
    flowId: ids.flow,
    version,
    tag: `v${version}`,
    flowSchema,
  });

describe('create_flow_version', () => {
  it('adds an inactive version with the next number and its tag', () => {
    givenHistory(...begunFlow())
      .when(createFlowVersion, input)
      .then(numbered(2));
    givenHistory(...begunFlow(), versionCreated(2), versionCreated(3))
      .when(createFlowVersion, input)
      .then(numbered(4));
  });

  it('never reuses a version number, even of the highest deleted version', () => {
    givenHistory(...begunFlow(), versionCreated(2), versionDeleted(2))
      .when(createFlowVersion, input)
      .then(numbered(3));
    givenHistory(...begunFlow(), versionCreated(2), versionActivated(2, 1), versionDeleted(1))
      .when(createFlowVersion, input)
      .then(numbered(3));
  });

  it('gives a version the requested tag', () => {
    const event = numbered(2);
    givenHistory(...begunFlow())
      .when(createFlowVersion, { ...input, tag: 'spring' })
      .then({ ...event, data: { ...event.data, tag: 'spring' } });
  });

  it('accepts null as a flow schema', () => {
    const event = numbered(2);
    givenHistory(...begunFlow())
      .when(createFlowVersion, { ...input, flowSchema: null })
      .then({ ...event, data: { ...event.data, flowSchema: null } });
  });

  describe('input of create_flow_version', () => {
    const of = inputOf(createFlowVersion, input);
    of.id('flowId');
    of.required('flowSchema');
    of.text('tag', { min: 1, max: 100 });
    of.anyJson('flowSchema');
    of.ignoresUnknown();
  });
});
