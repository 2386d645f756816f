import type { Json } from '#shared/json/json.ts';
import { isObject } from '#shared/json/json-value.ts';
import type { PromptDefinition, PromptReader } from './prompt.ts';

/** The most pages of versions in which the active one is searched. */
const maxPages = 20;

/** A prompt that compares a version of a flow with the active one. */
export const reviewFlowChange: PromptDefinition = {
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
