import { type Failure, failure } from '#domain/shared/failure.ts';
import { CompiledIdRules, type FoundId, type FoundIds, IdSuspicion } from '#gateway/framing/id-finder.ts';
import type { PathPattern } from '#gateway/framing/path-tree.ts';

/**
 * What an id names. All but `own file` lives in the account at a provider, which all tenants share. A `cited file` is
 * in the container that its citation names, a `made file` in the result of a provider's own tool.
 */
export type IdKind =
  | 'own file'
  | 'cited file'
  | 'made file'
  | 'file'
  | 'container'
  | 'vector store'
  | 'skill'
  | 'conversation'
  | 'prompt'
  | 'audio'
  | 'voice'
  | 'cache';

/** An id in a request. */
export type NamedId = FoundId<IdKind>;

/** The ids in a request. */
export type NamedIds = FoundIds<IdKind>;

const files = { file_id: 'file', file_ids: 'file' } as const;
const hosted = { container: 'container', container_id: 'container', skill_id: 'skill' } as const;

/** The paths of the tools that a client declares, and of those in a namespace. */
const toolsAt = (path: PathPattern): ReadonlyArray<PathPattern> => [
  [...path, 'tools', '*'],
  [...path, 'tools', '*', 'tools', '*'],
];
const item = ['input', '*'];

/**
 * The ids that each protocol's requests may have, and the JSON in them that is the client's own. Other operations have no
 * such ids.
 */
export const idRules = {
  'openai-chat': new CompiledIdRules<IdKind>({
    names: { ...files, cached_content: 'cache' },
    paths: [
      [['messages', '*', 'content', '*', 'file', 'file_id'], 'own file'],
      [['messages', '*', 'audio', 'id'], 'audio'],
      [['audio', 'voice', 'id'], 'voice'],
    ],
    freeJson: [
      ['tools', '*', 'function', 'parameters'],
      ['tools', '*', 'custom', 'format'],
      ['messages', '*', 'tool_calls', '*', 'function', 'arguments'],
      ['functions', '*', 'parameters'],
      ['response_format'],
      ['metadata'],
    ],
  }),
  'openai-responses': new CompiledIdRules<IdKind>({
    names: { ...files, ...hosted, vector_store_id: 'vector store', vector_store_ids: 'vector store' },
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
  }),
  'anthropic-messages': new CompiledIdRules<IdKind>({
    names: { ...files, ...hosted },
    paths: [
      [['container', 'id'], 'container'],
      [['messages', '*', 'content', '*', 'content', 'content', '*', 'file_id'], 'made file'],
    ],
    freeJson: [
      ['tools', '*', 'input_schema'],
      ['tools', '*', 'input_examples'],
      ['messages', '*', 'content', '*', 'input'],
      ['output_config', 'format'],
      ['output_format'],
      ['metadata'],
    ],
  }),
};

/** Looks for ids in a request while it is read. */
export function suspectIds(bytes: Buffer, protocol: keyof typeof idRules): IdSuspicion<IdKind> {
  return new IdSuspicion(bytes, idRules[protocol]);
}

/** Maximum number of ids in a client's request that are looked at. */
export const maxIdsOfClient = 10_000;

/** Maximum number of ids in a request with the turns before it. */
export const maxIdsOfConversation = 100_000;

/** Maximum number of files that a client's request names, each as often as it names it. */
const maxFiles = 1_000;

/**
 * Refuses the ids of a client's request: too many files, before one is looked up; and what lives at a provider.
 * @param instead what the client can do without the id of a file
 */
export function refuseIds({ found, isOverflown }: NamedIds, instead = leaveOut): Failure | null {
  const beyond = found.filter(({ kind }) => kind === 'own file' || kind === 'file')[maxFiles];
  if (beyond !== undefined) return tooManyFiles(beyond.pointer);
  // What was not looked at might name what lives at a provider.
  if (isOverflown) return tooManyIds;
  const elsewhere = found.find(({ kind }) => kind !== 'own file');
  return elsewhere === undefined ? null : notHere(elsewhere, elsewhere.kind === 'file' ? instead : leaveOut);
}

const leaveOut = 'Leave it out.';

/** The refusal of a request in which more ids are than are looked at. */
export const tooManyIds = failure('too-many-files', 'The request names too many files and other resources.');

function tooManyFiles(pointer: string): Failure {
  const detail = `${pointer} is beyond the limit: a request may name ${maxFiles} files, each as often as it names it.`;
  return failure('too-many-files', detail, {
    errors: [{ pointer, message: `is beyond the limit of ${maxFiles} files` }],
  });
}

/** The refusal of an id of what lives at a provider: nothing says that it belongs to this project. */
export function notHere({ pointer, kind }: Pick<NamedId, 'pointer' | 'kind'>, instead = leaveOut): Failure {
  const named = kind === 'cited file' || kind === 'made file' ? 'file' : kind;
  const detail = `${pointer} names a ${named} at the provider, which this key cannot access. ${instead}`;
  return failure('provider-resource-not-found', detail, { errors: [{ pointer, message: 'must be left out' }] });
}
