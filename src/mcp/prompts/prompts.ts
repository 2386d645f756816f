import { isObject, type Json } from '#shared/json/json.ts';
import type { PromptDefinition, PromptReader } from './prompt.ts';

/** Maximum pages of versions in which the active one is searched. */
const maxPages = 20;

const reviewFlowChange: PromptDefinition = {
  name: 'review_flow_change',
  title: 'Review a flow change before activation',
  description: 'Compares a version of a flow with the active one, and says what activating it would change.',
  arguments: [
    {
      name: 'versionId',
      description: 'The id of the version that is to be activated',
      required: true,
      completedBy: { path: '/v1/flow-versions/:versionId', parameter: 'versionId' },
    },
  ],
  needs: ['get_flow_version', 'get_flow', 'list_flow_versions'],
  read: async (reader, { versionId = '' }) => {
    const version = await reader.include('get_flow_version', { versionId });
    const flowId = isObject(version) ? String(version.flowId) : '';
    await reader.include('get_flow', { flowId });
    const activeId = await activeVersionId(reader, flowId);
    if (activeId === null || activeId === versionId) return;
    await reader.include('get_flow_version', { versionId: activeId });
    if (!reader.canAsk('diff_flow_versions')) return;
    await reader.include('diff_flow_versions', { versionId: activeId, otherVersionId: versionId });
  },
  text: ({ versionId }) =>
    `Review the flow version ${versionId} before it is activated. Compare it with the version that is active now. ` +
    'List what callers of the flow will notice, what could fail (nodes that nothing leads to, edges to nodes that are ' +
    'not there, texts left empty) and what should be tried first. End with a recommendation: activate, or correct ' +
    'first, and what. Activate nothing.',
};

async function activeVersionId(reader: PromptReader, flowId: string): Promise<string | null> {
  let cursor: Json | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const from = typeof cursor === 'string' ? { cursor } : {};
    const list = await reader.ask('list_flow_versions', { flowId, ...from });
    if (!isObject(list) || !Array.isArray(list.versions)) return null;
    const active = list.versions.find((version) => isObject(version) && version.isActive === true);
    if (isObject(active)) return String(active.id);
    cursor = list.nextCursor;
    if (cursor === undefined) return null;
  }
  return null;
}

const explainChanges: PromptDefinition = {
  name: 'explain_changes',
  title: 'Explain what changed since a time',
  description: 'Reads the history of a flow and its versions from a time on, and explains it.',
  arguments: [
    {
      name: 'flowId',
      description: 'The id of the flow; a deleted one has its history still',
      required: true,
      completedBy: { path: '/v1/flows/:flowId', parameter: 'flowId' },
    },
    {
      name: 'since',
      description: 'The time to begin at, RFC 3339: 2026-11-01T00:00:00Z',
      required: true,
      completedBy: null,
    },
  ],
  needs: ['get_flow_history'],
  read: async (reader, { flowId = '', since = '' }) => {
    await reader.include('get_flow_history', { flowId, since });
  },
  text: ({ flowId, since }) =>
    `Explain what changed in the flow ${flowId} since ${since}, for somebody who was absent: what it did before, what it ` +
    'does now, who changed it and when. Put what callers notice first. Where the history ends with nextCursor, read on ' +
    'with get_flow_history before you answer.',
};

const prepareUpgrade: PromptDefinition = {
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

export const prompts: ReadonlyArray<PromptDefinition> = [reviewFlowChange, explainChanges, prepareUpgrade];
