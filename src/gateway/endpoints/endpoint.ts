import type { IncomingHttpHeaders } from 'node:http';
import * as E from 'fp-ts/lib/Either.js';
import {
  describeOperation,
  type OperationAbout,
  type OperationAccess,
  type StreamingOperation,
} from '#application/operations/operation.ts';
import type { Failure } from '#domain/shared/failure.ts';
import type { ErrorForm } from '#exchange/error-form.ts';
import type { AttemptFailure } from '#gateway/attempt/attempt-failure.ts';
import type { Catalogue, CatalogueRefusal, ModelRoute } from '#gateway/config/catalogue.ts';
import {
  type CallResult,
  catalogueFailure,
  type GatewayCall,
  type RelayedCall,
  type RelayedInput,
} from '#gateway/gateway-call.ts';
import type { Keeper } from '#gateway/relay/keeper.ts';
import { relay } from '#gateway/relay/relay.ts';
import type { Requests } from '#gateway/relay/requests.ts';
import type { ResponseHandler } from '#gateway/response/response-handler.ts';
import { runFor } from '#shared/async/fair-queue.ts';

/** An operation, and how its calls are answered. */
export interface Endpoint extends Omit<StreamingOperation, 'relay'> {
  readonly errorForm: (headers: IncomingHttpHeaders) => ErrorForm;
  /** Answers a call that has passed the limits of its project. */
  readonly answer: (call: GatewayCall) => Promise<CallResult>;
  /** Makes the call of a batch's line from a call with the line's JSON. Missing if that JSON is its body. */
  readonly fromLine?: (call: GatewayCall, line: LineOfBatch) => Promise<E.Either<Failure, GatewayCall>>;
}

export interface LineOfBatch {
  readonly body: Buffer;
  /** The id of the file; null if the line names none. */
  readonly fileId: string | null;
}

/** What every endpoint says of itself. */
interface EndpointDefinition
  extends Pick<StreamingOperation, 'http' | 'input' | 'output' | 'failures'>,
    Partial<Pick<StreamingOperation, 'consumes' | 'produces'>>,
    Pick<Endpoint, 'fromLine'> {
  readonly about: OperationAbout;
  readonly access: Pick<OperationAccess<unknown>, 'scope'>;
  /** The form of errors, or a function where it depends on the headers of a request. */
  readonly errors: ErrorForm | Endpoint['errorForm'];
}

interface LocalDefinition extends EndpointDefinition, Pick<Endpoint, 'answer'> {}

interface RelayedDefinition<Input extends RelayedInput> extends EndpointDefinition {
  readonly recordedAs: RelayedCall['recordedAs'];
  /** See `RelayedCall.isMadeInSilence`; streams are not. Default: false. */
  readonly isMadeInSilence?: boolean;
  readonly read: (call: GatewayCall) => Promise<E.Either<Failure, Input>>;
  readonly route: (catalogue: Catalogue, input: Input) => E.Either<CatalogueRefusal, ModelRoute>;
  readonly requests: (
    call: RelayedCall<Input>,
    route: ModelRoute,
  ) => E.Either<Failure, Requests> | Promise<E.Either<Failure, Requests>>;
  readonly responder: (call: RelayedCall<Input>, route: ModelRoute) => ResponseHandler;
  /** Keeps answers; missing if they are only passed on. */
  readonly keeper?: (call: RelayedCall<Input>) => Keeper | undefined;
  /** The gateway's own answer; missing if only targets answer. */
  readonly ownAnswer?: OwnAnswer<Input>;
}

/** How the gateway answers itself if no target has the endpoint. */
interface OwnAnswer<Input extends RelayedInput> {
  /** Whether the failure says that the target does not have the endpoint. */
  readonly replaces: (failure: AttemptFailure) => boolean;
  readonly send: (call: RelayedCall<Input>) => Promise<CallResult>;
}

export function localEndpoint({ answer, ...definition }: LocalDefinition): Endpoint {
  return { ...described(definition), answer };
}

export function endpoint<Input extends RelayedInput>(definition: RelayedDefinition<Input>): Endpoint {
  const { recordedAs, isMadeInSilence = false } = definition;
  return {
    ...described(definition),
    answer: async (call) => {
      const read = await definition.read(call);
      if (E.isLeft(read)) return read;
      const input = read.right;
      try {
        const isSilent = isMadeInSilence && !input.isStreamed;
        // From now on the call ends with its record: no wait for a turn ends it.
        const work = () => relayed(definition, { ...call, recordedAs, isMadeInSilence: isSilent, input });
        return await runFor(call.caller.projectId, work);
      } finally {
        await input.close?.();
      }
    },
  };
}

function described(definition: EndpointDefinition): Omit<Endpoint, 'answer'> {
  const { errors, consumes = 'application/json', produces = [], fromLine } = definition;
  return {
    ...describeOperation({ ...definition, plane: 'gateway' }),
    kind: 'streaming',
    paged: false,
    hasRevision: false,
    consumes,
    produces,
    errorForm: typeof errors === 'function' ? errors : () => errors,
    ...(fromLine === undefined ? {} : { fromLine }),
  };
}

async function relayed<Input extends RelayedInput>(
  definition: RelayedDefinition<Input>,
  call: RelayedCall<Input>,
): Promise<CallResult> {
  const found = definition.route(call.configuration.catalogue, call.input);
  if (E.isLeft(found)) return E.left(catalogueFailure(found.left));
  const route = found.right;
  const making = definition.requests(call, route);
  const made = making instanceof Promise ? await making : making;
  if (E.isLeft(made)) return made;
  const requests = made.right;
  const { ownAnswer } = definition;
  if (ownAnswer !== undefined && !canAnyServe(route, requests)) return ownAnswer.send(call);
  const responder = definition.responder(call, route);
  const keeper = definition.keeper?.(call);
  const takeOver = ownAnswer === undefined ? {} : { takeOver: takingOver(ownAnswer, call) };
  const kept = keeper === undefined ? {} : { keeper };
  return E.right(await relay(call, { route, requests, responder, ...kept, ...takeOver }));
}

function canAnyServe({ targets, fallbacks }: ModelRoute, requests: Requests): boolean {
  return [...targets, ...fallbacks].some((target) => requests.canServe(target));
}

function takingOver<Input extends RelayedInput>({ replaces, send }: OwnAnswer<Input>, call: RelayedCall<Input>) {
  return async (failure: AttemptFailure): Promise<boolean> => {
    if (!replaces(failure)) return false;
    await send(call);
    return true;
  };
}
