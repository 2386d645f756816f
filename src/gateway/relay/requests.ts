import type { Target } from '#gateway/config/catalogue.ts';
import type { Provider, ProviderRequest } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import type { Transport } from '#gateway/transport/transport.ts';

/** The requests of one call for its targets. */
export interface Requests {
  /** Whether a target's provider supports the call. */
  canServe(target: Target): boolean;
  /**
   * Makes the request for a target.
   * @param continueFrom the answer's text so far, which the target continues; null for a new answer
   * @returns null if the target cannot express what the call demands
   */
  requestFor(target: Target, continueFrom: string | null): OutgoingRequest | null | Promise<OutgoingRequest | null>;
}

/** A request to a provider, with the means to send it. */
export interface OutgoingRequest extends ProviderRequest {
  readonly transport: Transport;
  /** Removes the operator's secrets from a refusal. */
  readonly redactor: SecretRedactor | null;
  /** The value of the header that names what the target does not get; missing if it gets everything. */
  readonly ignored?: string;
}

/** Adds to a request the means of its provider to send it. */
export function outgoingThrough(
  { transport, redactor }: Provider,
  { request, translator }: ProviderRequest,
): OutgoingRequest {
  return { transport, redactor: redactor ?? null, request, translator };
}
