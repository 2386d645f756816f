import type { PromptDefinition } from './prompt.ts';

/** A prompt that explains the history of a flow since a time. */
export const explainChanges: PromptDefinition = {
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
    `Explain what changed in the flow ${flowId} since ${since}, for somebody who was away: what it did before, what it ` +
    'does now, who changed it and when. Put what callers notice first. Where the history ends with nextCursor, read on ' +
    'with get_flow_history before you answer.',
};
