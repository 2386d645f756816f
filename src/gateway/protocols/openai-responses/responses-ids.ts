import type { PathPattern } from '#gateway/framing/path-tree.ts';
import { CompiledIdRules, fileNames, hostedNames } from '#gateway/protocols/provider-ids.ts';

/** The paths of tools that a client declares, also in a namespace. */
export const toolsAt = (path: PathPattern): ReadonlyArray<PathPattern> => [
  [...path, 'tools', '*'],
  [...path, 'tools', '*', 'tools', '*'],
];
const item = ['input', '*'];

/** The ids of a request, and the JSON in it that is the client's own. */
export const responsesIdRules = new CompiledIdRules({
  names: { ...fileNames, ...hostedNames, vector_store_id: 'vector store', vector_store_ids: 'vector store' },
  paths: [
    [[...item, 'content', '*', 'file_id'], 'own file'],
    [[...item, 'output', '*', 'file_id'], 'own file'],
    [[...item, 'output', 'file_id'], 'own file'],
    [[...item, 'content', '*', 'annotations', '*', 'file_id'], 'cited file'],
    [['conversation'], 'conversation'],
    [['conversation', 'id'], 'conversation'],
    [['prompt', 'id'], 'prompt'],
  ],
  freeJson: [
    ...[...toolsAt([]), ...toolsAt(item)].flatMap((tool) => [
      [...tool, 'parameters'],
      [...tool, 'format'],
      [...tool, 'input_schema'],
      [...tool, 'annotations'],
      [...tool, 'headers'],
    ]),
    [...item, 'arguments'],
    [...item, 'action', 'env'],
    [...item, 'results', '*', 'attributes'],
    ['text', 'format'],
    ['metadata'],
  ],
});
