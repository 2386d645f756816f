import { tagFlowVersion } from '#commands/flow-version/tag-flow-version.ts';
import { newEvent } from '#domain/shared/event.ts';
import { begunFlow, versionCreated, versionOf } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const versionId = versionOf(ids.flow, 1);
const tagged = (tag: string) => newEvent('FlowVersionTagged', { id: versionId, flowId: ids.flow, tag });

describe('tag_flow_version', () => {
  it('changes the tag of a version', () => {
    givenHistory(...begunFlow())
      .when(tagFlowVersion, { versionId, tag: 'winter' })
      .then(tagged('winter'));
  });

  it('changes nothing when the version has the tag already', () => {
    givenHistory(...begunFlow())
      .when(tagFlowVersion, { versionId, tag: 'v1' })
      .then();
    givenHistory(...begunFlow(), tagged('winter'))
      .when(tagFlowVersion, { versionId, tag: 'winter' })
      .then();
  });

  it('accepts the tag of another version, because tags need not be unique', () => {
    givenHistory(...begunFlow(), versionCreated(2))
      .when(tagFlowVersion, { versionId, tag: 'v2' })
      .then(tagged('v2'));
  });

  describe('input of tag_flow_version', () => {
    const of = inputOf(tagFlowVersion, { versionId, tag: 'winter' });
    of.id('versionId');
    of.required('tag');
    of.text('tag', { min: 1, max: 100 });
  });
});
