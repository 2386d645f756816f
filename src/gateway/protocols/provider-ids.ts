import { type Failure, failure } from '#domain/shared/failure.ts';
import { CompiledIdRules, type FoundId, type FoundIds, type IdRules, IdSuspicion } from '#gateway/framing/id-finder.ts';

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

/** Members that name what lives at a provider, in every protocol. */
export const fileNames = { file_id: 'file', file_ids: 'file' } as const;
/** Members that name what a provider's own tools have. */
export const hostedNames = { container: 'container', container_id: 'container', skill_id: 'skill' } as const;

/** Prepares the rules of a protocol: which ids its requests may have, and which JSON in them is the client's own. */
export function compileIdRules(rules: IdRules<IdKind>): CompiledIdRules<IdKind> {
  return new CompiledIdRules(rules);
}

/** Looks for ids in a request while it is read. */
export function suspectIds(bytes: Buffer, rules: CompiledIdRules<IdKind>): IdSuspicion<IdKind> {
  return new IdSuspicion(bytes, rules);
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
