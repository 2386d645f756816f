import type * as E from 'fp-ts/lib/Either.js';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { Catalogue, CatalogueRefusal, ModelRoute } from '#gateway/config/catalogue.ts';
import type { JsonRequest, ReadBody } from '#gateway/framing/json-request.ts';
import type { CallResult, GatewayCall } from '#gateway/gateway-call.ts';
import type { CallRecord } from '#gateway/relay/call-record.ts';

/** A checked request of an operation that is relayed whole. */
export interface WholeRequest extends JsonRequest {
  readonly model: string;
}

/**
 * An operation whose JSON request and answer pass as they come, but for the model: the gateway checks a few members of
 * the request, and reads the usage of the answer.
 */
export interface WholeOperation {
  readonly operation: CallRecord['operation'];
  /** Below the base URL of a provider. */
  readonly path: string;
  /** The member that every answer has. */
  readonly requiredMember: string;
  readonly read: (bytes: Buffer, maxValues: number) => ReadBody<WholeRequest>;
  /** Headers of the client's request that providers get too, in lower case. */
  readonly headers?: ReadonlyArray<string>;
  /** Answers a request if no target has the operation; missing: the call then has no provider. */
  readonly answerHere?: (request: WholeRequest, call: GatewayCall) => Promise<CallResult>;
  /** Whether a target's refusal says that it does not have the operation. Then the request is answered here too. */
  readonly isMissing?: (failure: AttemptFailure) => boolean;
  readonly route: (catalogue: Catalogue, model: string) => E.Either<CatalogueRefusal, ModelRoute>;
}
