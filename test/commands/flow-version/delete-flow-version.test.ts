import { deleteFlowVersion } from '#commands/flow-version/delete-flow-version.ts';
import {
  begunFlow,
  flowDeleted,
  versionActivated,
  versionCreated,
  versionDeleted,
  versionOf,
} from '#test/support/events/flow-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const versionId = versionOf(ids.flow, 2);

describe('delete_flow_version', () => {
  it('deletes a version that was never active', () => {
    givenHistory(...begunFlow(), versionCreated(2))
      .when(deleteFlowVersion, { versionId })
      .then(versionDeleted(2));
  });

  it('deletes a version that is no longer active', () => {
    givenHistory(...begunFlow(), versionCreated(2), versionActivated(2, 1), versionActivated(1, 2))
      .when(deleteFlowVersion, { versionId })
      .then(versionDeleted(2));
  });

  it('refuses to delete the active version', () => {
    givenHistory(...begunFlow(), versionCreated(2), versionActivated(2, 1))
      .when(deleteFlowVersion, { versionId })
      .then('flow-version-active');
  });

  it('changes nothing when the version was deleted before', () => {
    givenHistory(...begunFlow(), versionCreated(2), versionDeleted(2))
      .when(deleteFlowVersion, { versionId })
      .then();
  });

  it('refuses a version of a deleted flow with 404, deleted before or not', () => {
    givenHistory(...begunFlow(), versionCreated(2), flowDeleted())
      .when(deleteFlowVersion, { versionId })
      .then('flow-version-not-found');
    givenHistory(...begunFlow(), versionCreated(2), versionDeleted(2), flowDeleted())
      .when(deleteFlowVersion, { versionId })
      .then('flow-version-not-found');
  });

  describe('input of delete_flow_version', () => {
    inputOf(deleteFlowVersion, { versionId }).id('versionId');
  });
});
