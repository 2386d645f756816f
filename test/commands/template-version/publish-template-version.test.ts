import { publishTemplateVersion } from '#commands/template-version/publish-template-version.ts';
import {
  templateArchived,
  templateCreated,
  templateVersionCreated,
  templateVersionOf,
  templateVersionPublished,
} from '#test/support/events/template-events.ts';
import { ids } from '#test/support/events/tenants.ts';
import { inputOf } from '#test/support/harness/arbitrary-input.ts';
import { givenHistory } from '#test/support/harness/command-harness.ts';

const input = { versionId: templateVersionOf(ids.template, 1) };
const begun = [templateCreated(), templateVersionCreated(1), templateVersionCreated(2)];

describe('publish_template_version', () => {
  it('publishes a template version, whether or not others are published', () => {
    givenHistory(...begun)
      .when(publishTemplateVersion, input)
      .then(templateVersionPublished(1));
    givenHistory(...begun, templateVersionPublished(2))
      .when(publishTemplateVersion, input)
      .then(templateVersionPublished(1));
  });

  it('changes nothing when the template version is published already', () => {
    givenHistory(...begun, templateVersionPublished(1))
      .when(publishTemplateVersion, input)
      .then();
  });

  it('refuses to publish a version of an archived template, even a published one', () => {
    givenHistory(...begun, templateArchived())
      .when(publishTemplateVersion, input)
      .then('template-archived');
    givenHistory(...begun, templateVersionPublished(1), templateArchived())
      .when(publishTemplateVersion, input)
      .then('template-archived');
  });

  describe('input of publish_template_version', () => {
    const of = inputOf(publishTemplateVersion, input);
    of.id('versionId');
    of.ignoresUnknown();
  });
});
