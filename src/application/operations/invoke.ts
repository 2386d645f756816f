import * as E from 'fp-ts/lib/Either.js';
import type { Logger } from 'pino';
import type { KeyUse } from '#application/access/key-resolver.ts';
import type { RateLimit } from '#application/access/rate-limit.ts';
import { isCuid } from '#domain/codecs/codecs.ts';
import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Caller } from '#domain/shared/tenancy.ts';
import { heavyTurns, largeBodyBytes } from '#shared/async/heavy-turns.ts';
import { checkScope } from './check-scope.ts';
import { ClientDisconnectedError } from './client-disconnected-error.ts';
import { decodeInput } from './decode-input.ts';
import { notFound } from './not-found.ts';
import type { AnyOperation, OperationResult, RelayConnection, RequestHeaders, RequestInput } from './operation.ts';
import type { OperationRoute } from './registry.ts';
import { failureOfError } from './unexpected-error.ts';

/** What a caller asks for: an operation and its path parameters, or a path with no operation for its method. */
export type CallTarget =
  | {
      readonly kind: 'operation';
      readonly route: OperationRoute;
      /** By name, decoded. */
      readonly parameters: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'none';
      readonly method: string;
      /** The methods that the path takes; none for an unknown path. */
      readonly allowedMethods: ReadonlyArray<string>;
    };

/** A request as an adapter (HTTP, the control socket) translates it. */
export interface OperationCall {
  readonly target: CallTarget;
  /** Null without a key. */
  readonly presentedKey: string | null;
  readonly requestId: string;
  /** Method and path as requested: `POST /v1/flows/c…/versions`. */
  readonly requestTarget: string;
  readonly headers: RequestHeaders;
  /**
   * Loads the rest: media type, size, syntax. Called at most once, and only when the key can access the resource and has
   * the scope, so that a refusal costs no upload. @throws ClientDisconnectedError
   */
  readonly loadBody: (caller: Caller) => Promise<E.Either<Failure, RequestInput>>;
  /** Opens what a streaming operation reads its body from and writes its answer to. */
  readonly openConnection: (caller: Caller, limitHeaders: ReadonlyArray<string>) => RelayConnection;
}

/** What an adapter needs to answer and to log. */
export interface Invocation {
  /** Null when there is nothing left to answer: the operation wrote its answer itself, or the client has gone. */
  readonly outcome: E.Either<Failure, OperationResult | null>;
  /** The caller's key; null when it is not known. */
  readonly keyId: string | null;
  /** What is left under the rate limit: header names and values in turn; none without a limit. */
  readonly limitHeaders: ReadonlyArray<string>;
}

export interface InvokeDependencies {
  /** Who holds a presented key; null for a key that is not valid. @throws UnavailableError */
  readonly authenticate: (presentedKey: string, use: KeyUse) => Promise<Caller | null>;
  /** Counts a request of a caller; null where there is no limit. */
  readonly rateLimit: Pick<RateLimit, 'take'> | null;
  readonly metrics: { readonly command: (name: string, seconds: number) => void };
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

/** Answers one request of any caller. Never rejects: an unexpected error is logged, and becomes a failure. */
export type Invoke = (call: OperationCall) => Promise<Invocation>;

/**
 * Makes the one way by which every caller reaches an operation. A request passes these stages in this order, and the
 * first one that refuses it gives the answer:
 *
 *  1. authentication   401
 *  2. rate limit       429
 *  3. path             404, 405: an unknown path, a method that it does not take, an id that cannot be one
 *  4. reach            404: the subject does not exist, or the key cannot access it
 *  5. scope            403
 *     (a streaming operation gets its connection here, and decides the rest itself)
 *  6. input            400, 413, 415, 422: headers, then the body, then the codec
 *  7. idempotency      a remembered request is answered, or is 422
 *  8. decision         404 of what was deleted, 412, 409, ... (a query: its answer)
 *  9. claim            409
 * 10. append           413, 503
 * 11. waiting          for the read models
 * 12. response
 *
 * Stages 7 to 12 are `Operation.execute`: `CommandHandler` numbers them, because 7 to 10 repeat after a conflict.
 */
export function createInvoke({ authenticate, rateLimit, metrics, logger }: InvokeDependencies): Invoke {
  return async ({ target, presentedKey, requestId, requestTarget, headers, loadBody, openConnection }) => {
    let caller: Caller | null = null;
    let limitHeaders: ReadonlyArray<string> = [];
    let commandStart: number | null = null;
    const answer = (outcome: Invocation['outcome']): Invocation => ({
      outcome,
      keyId: caller?.keyId ?? null,
      limitHeaders,
    });
    const refuse = (refusal: Failure) => answer(E.left(refusal));
    try {
      // 1. Authentication
      if (presentedKey === null) return refuse(keyRequired);
      caller = await authenticate(presentedKey, useOf(target));
      if (caller === null) return refuse(keyInvalid);

      // 2. Rate limit
      if (rateLimit !== null) {
        const limited = await rateLimit.take(caller);
        limitHeaders = limited.headers;
        if (limited.refusal !== null) return refuse(limited.refusal);
      }

      // 3. Path
      if (target.kind === 'none') return refuse(noOperation(target));
      const { route, parameters } = target;
      const { operation } = route;
      const badId = route.idParameters.find((name) => !isCuid(parameters[name] ?? ''));
      if (badId !== undefined) return refuse(notFound(route.notFound, quoted(parameters[badId] ?? '')));
      if (operation.kind === 'command') commandStart = performance.now();

      // 4. Reach
      const { ifMatch, idempotencyKey, minPosition } = headers;
      const request = { caller, requestId, parameters, requestTarget, ifMatch, idempotencyKey, minPosition };
      const subject = operation.kind === 'relay' ? noSubject : await operation.loadSubject(request);
      if (E.isLeft(subject)) return refuse(subject.left);

      // 5. Scope
      const scopeFailure = checkScope(caller, operation.scope);
      if (scopeFailure !== null) return refuse(scopeFailure);
      if (operation.kind === 'relay') {
        await operation.relay({ ...openConnection(caller, limitHeaders), caller, parameters });
        return answer(E.right(null));
      }

      // 6. Input
      if (headers.fault !== null) return refuse(headers.fault);
      const body = await loadBody(caller);
      if (E.isLeft(body)) return refuse(body.left);
      const input = await decodeBody(operation, body.right);
      if (E.isLeft(input)) return refuse(input.left);

      // 7 to 12. Idempotency, decision, claim, append, waiting for read models, response
      const { bodyHash } = body.right;
      return answer(await operation.execute({ request, subject: subject.right, input: input.right, bodyHash }));
    } catch (error) {
      if (error instanceof ClientDisconnectedError) return answer(E.right(null));
      return refuse(failureOfError(error, { requestId, operation: nameOf(target) }, logger));
    } finally {
      if (commandStart !== null) metrics.command(nameOf(target), (performance.now() - commandStart) / 1_000);
    }
  };
}

/** Decodes what was loaded. A large body waits for its turn, so that others are served between two of them. */
async function decodeBody({ input }: AnyOperation, { fields, bytes = 0 }: RequestInput) {
  const isLarge = bytes > largeBodyBytes;
  if (isLarge) await heavyTurns.take(1);
  const decoded = decodeInput(input, fields);
  if (isLarge && E.isRight(decoded)) await heavyTurns.take(1);
  return decoded;
}

function useOf(target: CallTarget): KeyUse {
  return target.kind === 'operation' ? target.route.operation.kind : 'query';
}

function nameOf(target: CallTarget): string {
  return target.kind === 'operation' ? target.route.operation.name : 'unknown';
}

function noOperation({ method, allowedMethods }: Extract<CallTarget, { kind: 'none' }>): Failure {
  if (allowedMethods.length === 0) return failure('path-not-found', 'There is nothing at this path.');
  return failure('method-not-allowed', `This path takes ${allowedMethods.join(', ')}, not ${method}.`);
}

const quoted = (id: string) => JSON.stringify(id.slice(0, 100));

const noSubject = E.right(null);

const keyRequired = failure(
  'key-required',
  'Send an API key: Authorization: Bearer <key>, or x-api-key: <key> (not two different ones).',
);
const keyInvalid = failure('key-invalid', 'The API key is unknown, revoked or replaced. Use a current one.');
