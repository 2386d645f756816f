import { archiveTemplate } from '#commands/template/archive-template.ts';
import { givenHistory } from '#test/support/command-harness.ts';
import { inputOf } from '#test/support/input-of.ts';
import { ids } from '#test/support/story.ts';
import {
  templateArchived,
  templateCreated,
  templateVersionCreated,
  templateVersionPublished,
} from '#test/support/template-events.ts';

const input = { templateId: ids.template };

describe('archive_template', () => {
  it('archives a published one, and a draft', () => {
    givenHistory(templateCreated(), templateVersionCreated(1), templateVersionPublished(1))
      .when(archiveTemplate, input)
      .then(templateArchived());
    givenHistory(templateCreated()).when(archiveTemplate, input).then(templateArchived());
  });

  it('changes nothing of an archived one', () => {
    givenHistory(templateCreated(), templateArchived()).when(archiveTemplate, input).then();
  });

  describe('input', () => {
    const of = inputOf(archiveTemplate, input);
    of.id('templateId');
    of.ignoresUnknown();
  });
});
