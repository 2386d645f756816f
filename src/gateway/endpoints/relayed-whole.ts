import * as E from 'fp-ts/lib/Either.js';
import { readJsonBytes } from '#exchange/json-body.ts';
import type { ModelRoute, ModelTarget } from '#gateway/config/catalogue.ts';
import type { JsonRequest, ReadBody } from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, type Edit, editsOf, inPlace } from '#gateway/framing/splice.ts';
import type { GatewayCall, RelayedCall } from '#gateway/gateway-call.ts';
import type { Provider } from '#gateway/providers/provider.ts';
import {
  forwardedHeaders,
  type OutgoingRequest,
  outgoingThrough,
  pickHeaders,
  type Requests,
} from '#gateway/relay/requests.ts';
import { PartlyHeldResponse } from '#gateway/response/partly-held-response.ts';

export interface WholeRequest extends JsonRequest {
  readonly isStreamed: false;
  readonly model: string;
  /** Changes for every target, in addition to the model. */
  readonly edits?: ReadonlyArray<Edit>;
}

interface WholeRelaying {
  /** The path below the base URL of a provider. */
  readonly path: string;
  /** The member that every answer has. */
  readonly requiredMember: string;
  /** Headers of the client's request that providers get too, in lower case. */
  readonly headers?: ReadonlyArray<string>;
  readonly read: (bytes: Buffer, maxValues: number) => ReadBody<WholeRequest>;
}

/**
 * Relays a request and its answer, which pass as they come, but for the model. The gateway checks a few members of the
 * request, and reads the usage of the answer.
 */
export function relayedWhole(relaying: WholeRelaying) {
  return {
    read: async (call: GatewayCall) => {
      const { maxJsonBytes: maxBytes, maxJsonValues, arrival } = call.limits;
      const bytes = await readJsonBytes(call, { maxBytes, arrival });
      return E.isLeft(bytes) ? bytes : await relaying.read(bytes.right, maxJsonValues);
    },
    requests: (call: RelayedCall<WholeRequest>, _route: ModelRoute) => E.right(new WholeRequests(call, relaying)),
    responder: ({ client: response, held }: GatewayCall) =>
      new PartlyHeldResponse({ response, answerHold: held.answer, requiredMember: relaying.requiredMember }),
  };
}

/** Makes one request at a time, because a body may be large. */
class WholeRequests implements Requests {
  readonly #call: RelayedCall<WholeRequest>;
  readonly #path: string;
  readonly #query: string;
  readonly #forwarded: ReadonlyArray<string>;
  /** The last request, so that a retry on the same target sends the same bytes. */
  #last: { readonly target: ModelTarget; readonly body: Buffer } | null = null;

  constructor(call: RelayedCall<WholeRequest>, { path, headers: alsoForwarded = [] }: WholeRelaying) {
    const { headers, caller, query } = call;
    this.#call = call;
    this.#path = path;
    this.#query = query === '' ? '' : `?${query}`;
    this.#forwarded = [...forwardedHeaders(headers, caller.projectId), ...pickHeaders(alsoForwarded, headers)];
  }

  canServe(target: ModelTarget): boolean {
    return this.#providerOf(target)?.wholePaths?.includes(this.#path) === true;
  }

  requestFor(target: ModelTarget): OutgoingRequest {
    const provider = this.#providerOf(target);
    if (provider?.whole === undefined) throw new Error(`${target.id} does not have ${this.#path}`);
    const [path, query, body, forwarded] = [this.#path, this.#query, this.#bodyFor(target), this.#forwarded];
    return outgoingThrough(provider, provider.whole({ path, query, body, forwarded }));
  }

  #bodyFor(target: ModelTarget): Buffer {
    const { bytes, members, edits = [] } = this.#call.input;
    if (this.#last?.target !== target) {
      const ofModel = editsOf(members, { replace: { model: asciiJson(target.model) } });
      this.#last = { target, body: applyEdits(bytes, inPlace([...ofModel, ...edits])) };
    }
    return this.#last.body;
  }

  #providerOf(target: ModelTarget): Provider | undefined {
    return this.#call.configuration.providers.get(target.provider);
  }
}
