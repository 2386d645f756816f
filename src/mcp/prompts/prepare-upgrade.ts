import { isObject } from '#shared/json/json-value.ts';
import type { PromptDefinition } from './prompt.ts';

/** A prompt that shows what an upgrade of an instance would change. */
export const prepareUpgrade: PromptDefinition = {
  name: 'prepare_upgrade',
  title: 'Prepare an upgrade of an instance',
  description: 'Shows what an upgrade of an instance to another template version would change, and what it needs.',
  arguments: [
    {
      name: 'instanceId',
      description: 'The id of the instance',
      required: true,
      completedBy: { path: '/v1/instances/:instanceId', parameter: 'instanceId' },
    },
    {
      name: 'targetTemplateVersionId',
      description: 'The id of the template version to upgrade to; without it the newest published one is proposed',
      required: false,
      completedBy: { path: '/v1/template-versions/:versionId', parameter: 'versionId' },
    },
  ],
  needs: ['get_instance', 'preview_instance_upgrade'],
  read: async (reader, { instanceId = '', targetTemplateVersionId }) => {
    const instance = await reader.include('get_instance', { instanceId });
    if (targetTemplateVersionId !== undefined) {
      await reader.include('preview_instance_upgrade', { instanceId, targetTemplateVersionId });
    } else if (isObject(instance) && reader.canAsk('list_template_versions')) {
      await reader.include('list_template_versions', { templateId: String(instance.templateId) });
    }
  },
  text: ({ instanceId, targetTemplateVersionId }) =>
    `Prepare an upgrade of the instance ${instanceId} to ${targetOf(targetTemplateVersionId)}. Say which flows are ` +
    'added, changed and removed (preview_instance_upgrade shows it), which were changed by hand and would be replaced, ' +
    'and which field values are missing: ask for those. Then name the exact call of upgrade_instance. Upgrade nothing ' +
    'yet.',
};

function targetOf(versionId: string | undefined): string {
  return versionId === undefined ? 'the newest published version of its template' : `the template version ${versionId}`;
}
