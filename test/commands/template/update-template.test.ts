import { updateTemplate } from '#commands/template/update-template.ts';
import { newEvent } from '#domain/shared/event.ts';
import { templateArchived, templateCreated } from '#test/support/events/template-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const id = ids.template;
const renamed = newEvent('TemplateRenamed', { id, name: 'Clinic' });
const described = (description: string | null) => newEvent('TemplateDescribed', { id, description });

describe('update_template', () => {
  it('renames a template', () => {
    givenHistory(templateCreated()).when(updateTemplate, { templateId: id, name: 'Clinic' }).then(renamed);
  });

  it('changes a template’s description, and clears it with null or an empty text', () => {
    for (const description of ['Of a clinic', null, '']) {
      givenHistory(templateCreated())
        .when(updateTemplate, { templateId: id, description })
        .then(described(description));
    }
  });

  it('changes name and description of a template with one command', () => {
    givenHistory(templateCreated())
      .when(updateTemplate, { templateId: id, name: 'Clinic', description: null })
      .then(renamed, described(null));
  });

  it('changes nothing for an empty body or for equal values', () => {
    givenHistory(templateCreated()).when(updateTemplate, { templateId: id }).then();
    const same = { templateId: id, name: 'Dental practice', description: 'Front desk of a practice' };
    givenHistory(templateCreated()).when(updateTemplate, same).then();
  });

  it('compares an update of a template with the values of earlier updates', () => {
    givenHistory(templateCreated(), renamed).when(updateTemplate, { templateId: id, name: 'Clinic' }).then();
    givenHistory(templateCreated(), described(null)).when(updateTemplate, { templateId: id, description: null }).then();
  });

  it('updates an archived template', () => {
    givenHistory(templateCreated(), templateArchived())
      .when(updateTemplate, { templateId: id, name: 'Clinic' })
      .then(renamed);
  });

  describe('input of update_template', () => {
    const of = inputOf(updateTemplate, { templateId: id });
    of.id('templateId');
    of.optional('name', undefined);
    of.text('name', { min: 1, max: 200 });
    of.optional('description', undefined);
    of.text('description', { min: 0, max: 2000, orNull: true });
    of.ignoresUnknown();
  });
});
