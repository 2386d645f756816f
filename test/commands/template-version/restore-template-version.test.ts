import { restoreTemplateVersion } from '#commands/template-version/restore-template-version.ts';
import { newEvent } from '#domain/shared/event.ts';
import {
  templateArchived,
  templateCreated,
  templateVersionCreated,
  templateVersionOf,
} from '#test/support/events/template-events.ts';
import { ids, newIds } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const versionId = templateVersionOf(ids.template, 1);
const { payload, fieldsSchema } = templateVersionCreated(1).data;

describe('restore_template_version', () => {
  it('adds an unpublished version with the contents of the earlier one, the next number and no tag', () => {
    givenHistory(templateCreated(), templateVersionCreated(1), templateVersionCreated(2))
      .when(restoreTemplateVersion, { versionId }, { related: { payload, fieldsSchema } })
      .then(
        newEvent('TemplateVersionCreated', {
          id: ids.template + newIds.suffix,
          templateId: ids.template,
          version: 3,
          tag: null,
          payload,
          fieldsSchema,
          restoredFrom: versionId,
        }),
      );
  });

  it('refuses to add a version to an archived template', () => {
    givenHistory(templateCreated(), templateVersionCreated(1), templateArchived())
      .when(restoreTemplateVersion, { versionId }, { related: { payload, fieldsSchema } })
      .then('template-archived');
  });

  describe('input of restore_template_version', () => {
    inputOf(restoreTemplateVersion, { versionId }).id('versionId');
  });
});
