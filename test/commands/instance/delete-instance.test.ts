import { deleteInstance } from '#commands/instance/delete-instance.ts';
import { activeInstance, instanceCreated, instanceDeleted } from '#test/support/events/instance-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { instanceId: ids.instance };

describe('delete_instance', () => {
  it('deletes an instance, even while an operation runs', () => {
    givenHistory(...activeInstance())
      .when(deleteInstance, input)
      .then(instanceDeleted(2));
    givenHistory(instanceCreated()).when(deleteInstance, input).then(instanceDeleted(2));
  });

  it('keeps the resources of a deleted instance when keepResources is set', () => {
    givenHistory(...activeInstance())
      .when(deleteInstance, { ...input, keepResources: 'true' })
      .then(instanceDeleted(2, true));
  });

  describe('input of delete_instance', () => {
    const of = inputOf(deleteInstance, input);
    of.optional('keepResources', false);
    of.refuses('keepResources', 'yes');
  });
});
