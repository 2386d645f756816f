import { eraseProjectResponses } from '#commands/project/erase-project-responses.ts';
import { newEvent } from '#domain/shared/event.ts';
import { projectCreated } from '#test/support/events/tenant-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projectId: ids.project };
const erased = newEvent('ProjectResponsesErased', { id: ids.project });

describe('erase_project_responses', () => {
  it('erases the responses of a project, and may do so again', () => {
    givenHistory(projectCreated()).when(eraseProjectResponses, input).then(erased);
    givenHistory(projectCreated(), erased).when(eraseProjectResponses, input).then(erased);
  });

  describe('input of erase_project_responses', () => {
    inputOf(eraseProjectResponses, input).id('projectId');
  });
});
