import { updateProject } from '#commands/project/update-project.ts';
import { newEvent } from '#domain/shared/event.ts';
import { projectCreated } from '#test/support/events/tenant-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { projectId: ids.project, name: 'Nights' };
const renamed = newEvent('ProjectRenamed', { name: 'Nights' });

describe('update_project', () => {
  it('renames a project', () => {
    givenHistory(projectCreated()).when(updateProject, input).then(renamed);
  });

  it('changes nothing for an empty body or the same name', () => {
    givenHistory(projectCreated()).when(updateProject, { projectId: ids.project }).then();
    givenHistory(projectCreated(), renamed).when(updateProject, input).then();
  });

  describe('input of update_project', () => {
    const of = inputOf(updateProject, input);
    of.id('projectId');
    of.optional('name', undefined);
    of.text('name', { min: 1, max: 200 });
  });
});
