import { activateFlowVersion } from '#commands/flow-version/activate-flow-version.ts';
import { begunFlow, versionActivated, versionCreated, versionOf } from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const versionId = versionOf(ids.flow, 2);

describe('activate_flow_version', () => {
  it('activates a version by one event that names the replaced version', () => {
    givenHistory(...begunFlow(), versionCreated(2))
      .when(activateFlowVersion, { versionId })
      .then(versionActivated(2, 1));
  });

  it('activates an older version again', () => {
    givenHistory(...begunFlow(), versionCreated(2), versionActivated(2, 1))
      .when(activateFlowVersion, { versionId: versionOf(ids.flow, 1) })
      .then(versionActivated(1, 2));
  });

  it('changes nothing when the version is active already', () => {
    givenHistory(...begunFlow(), versionCreated(2), versionActivated(2, 1))
      .when(activateFlowVersion, { versionId })
      .then();
  });

  describe('input of activate_flow_version', () => {
    inputOf(activateFlowVersion, { versionId }).id('versionId');
  });
});
