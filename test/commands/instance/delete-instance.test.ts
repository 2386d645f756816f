import { deleteInstance } from '#commands/instance/delete-instance.ts';
import { given } from '#test/support/given.ts';
import { inputOf } from '#test/support/input-of.ts';
import { activeInstance, instanceCreated, instanceDeleted } from '#test/support/instance-events.ts';
import { ids } from '#test/support/story.ts';

const input = { instanceId: ids.instance };

describe('delete_instance', () => {
  it('deletes, whatever is being done', () => {
    given(...activeInstance())
      .when(deleteInstance, input)
      .then(instanceDeleted(2));
    given(instanceCreated()).when(deleteInstance, input).then(instanceDeleted(2));
  });

  it('leaves what the instance made when asked to', () => {
    given(...activeInstance())
      .when(deleteInstance, { ...input, keepResources: 'true' })
      .then(instanceDeleted(2, true));
  });

  describe('input', () => {
    const of = inputOf(deleteInstance, input);
    of.optional('keepResources', false);
    of.refuses('keepResources', 'yes');
  });
});
