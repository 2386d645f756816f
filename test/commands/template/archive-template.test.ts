import { archiveTemplate } from '#commands/template/archive-template.ts';
import {
  templateArchived,
  templateCreated,
  templateVersionCreated,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { templateId: ids.template };

describe('archive_template', () => {
  it('archives a template with or without a published version', () => {
    givenHistory(templateCreated(), templateVersionCreated(1), templateVersionPublished(1))
      .when(archiveTemplate, input)
      .then(templateArchived());
    givenHistory(templateCreated()).when(archiveTemplate, input).then(templateArchived());
  });

  it('changes nothing when the template is archived already', () => {
    givenHistory(templateCreated(), templateArchived()).when(archiveTemplate, input).then();
  });

  describe('input of archive_template', () => {
    const of = inputOf(archiveTemplate, input);
    of.id('templateId');
    of.ignoresUnknown();
  });
});
