import * as E from 'fp-ts/lib/Either.js';
import { type Failure, failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import type { ModelRoute, ModelTarget } from '#gateway/config/catalogue.ts';
import type { ConfigurationSnapshot } from '#gateway/config/configuration-snapshot.ts';
import {
  isUnsupportedRequest,
  type Provider,
  type ProviderRequest,
  type UnsupportedRequest,
} from '#gateway/providers/provider.ts';
import { type OutgoingRequest, outgoingThrough, type Requests } from '#gateway/relay/requests.ts';
import { pointerTo } from '#shared/json/json-pointer.ts';

/**
 * Prepares a request for every target that can serve the call, before the first attempt.
 * @param make undefined if its provider does not support the operation
 * @returns why no target can serve it, if each refuses a member of the request
 */
export function prepareRequests(
  { providers }: ConfigurationSnapshot,
  { targets, fallbacks }: ModelRoute,
  make: (provider: Provider, target: ModelTarget) => ProviderRequest | UnsupportedRequest | undefined,
): E.Either<Failure, Requests> {
  // The key is the target itself, because two targets of one model may differ in their voice.
  const prepared = new Map<ModelTarget, OutgoingRequest>();
  let refused: UnsupportedRequest | null = null;
  for (const target of [...targets, ...fallbacks]) {
    const provider = providers.get(target.provider);
    const made = provider === undefined ? undefined : make(provider, target);
    if (provider === undefined || made === undefined) continue;
    if (isUnsupportedRequest(made)) refused ??= made;
    else prepared.set(target, outgoingThrough(provider, made));
  }
  if (prepared.size === 0 && refused !== null) {
    const pointer = refused.member === '' ? '' : pointerTo([refused.member]);
    return E.left(invalidInput([{ pointer, message: refused.message }]));
  }
  if (prepared.size === 0)
    return E.left(failure('no-provider', 'No provider of this model can do this. Tell the operator.'));
  return E.right({
    canServe: (target) => prepared.has(target),
    requestFor: (target) => prepared.get(target) ?? throwNotPrepared(target.id),
  });
}

function throwNotPrepared(id: string): never {
  throw new Error(`Nothing was made for ${id}`);
}
