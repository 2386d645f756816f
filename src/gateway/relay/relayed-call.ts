import type { Caller } from '#domain/shared/access.ts';
import type { ResponseSink } from '#exchange/response-sink.ts';
import type { CallRecord } from '#gateway/call-record.ts';
import type { ModelRoute, Target } from '#gateway/config/catalogue.ts';
import type { ProviderRequest } from '#gateway/providers/provider.ts';
import type { SecretRedactor } from '#gateway/providers/secret-redactor.ts';
import type { ResponseHandler } from '#gateway/response/response-handler.ts';
import type { Transport } from '#gateway/transport/transport.ts';

/** A call whose request is read and checked. */
export interface RelayedCall {
  readonly operation: CallRecord['operation'];
  readonly caller: Caller;
  readonly requestId: string;
  readonly isStreamed: boolean;
  /** The length of the text to speak; null in other calls. */
  readonly characters: number | null;
  /** When the complete request arrived, by the monotonic clock in ms. */
  readonly startedAt: number;
  readonly route: ModelRoute;
  readonly response: ResponseSink;
  readonly responseHandler: ResponseHandler;
  /** Whether a target's provider supports this operation. */
  readonly canServe: (target: Target) => boolean;
  /**
   * Makes the request for a target.
   * @param continueFrom the answer's text so far, which the target continues
   */
  readonly requestFor: (target: Target, continueFrom: string | null) => OutgoingRequest;
}

/** A request to a provider, with the means to send it. */
export interface OutgoingRequest extends ProviderRequest {
  readonly transport: Transport;
  /** Removes the operator's secrets from a refusal; null if there are none. */
  readonly redactor: SecretRedactor | null;
}
