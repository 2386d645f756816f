import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { KeyUse } from '#application/access/key-resolver.ts';
import { type Caller, checkScopes, notFound } from '#domain/shared/access.ts';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import type { Admission, TakePlace } from '#exchange/admission.ts';
import type { RequestInput } from '#exchange/body.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import { inputErrors, invalidInput, maxInputErrors } from '#exchange/input-errors.ts';
import type { Authorised, Request } from '#exchange/request.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';
import { clock } from '#shared/clock.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { Logger } from '#shared/logging/logger.ts';
import type { AnyOperation, Download, StreamingOperation, StreamReport, UploadOperation } from './operation.ts';
import type { Decoded, OperationResult } from './operation-request.ts';
import type { OperationRoute } from './registry.ts';
import { isStrict, requestHeadersOf } from './request-headers.ts';
import { failureOfError } from './unexpected-error.ts';

/** Shows who makes a request, and the place on which the request waits for that. */
export interface Entrance {
  /** Null without a key. */
  readonly presentedKey: string | null;
  /** The token of the page's session, which counts if there is no key; null without one. */
  readonly sessionToken: string | null;
  /** The fault of the header that has the key, if it can be seen. */
  readonly keyFault: Failure | null;
  /** Takes a place for the connection of a request that has none yet. Null for a request that has one. */
  readonly takePlace: TakePlace | null;
}

/** A called operation, with the data that an adapter needs to answer and to log. */
export interface Invocation {
  /** The result; a report if the operation wrote its answer itself; null if the client has left. */
  readonly outcome: E.Either<Failure, OperationResult | Download | StreamReport | null>;
  /** Null if the key is unknown. */
  readonly keyId: string | null;
  /** The rest of the rate limit as alternating header names and values; empty without a limit. */
  readonly limitHeaders: ReadonlyArray<string>;
}

export interface InvokeDependencies {
  /** Null for an invalid key. @throws UnavailableError */
  readonly authenticate: (presentedKey: string, use: KeyUse) => Promise<Caller | null>;
  /** Null if the session is over. Default: there are no sessions. @throws UnavailableError */
  readonly authenticateSession?: (token: string, use: KeyUse) => Promise<Caller | null>;
  /** Admits requests of known callers; null if all are admitted. */
  readonly admission: Pick<Admission, 'enter'> | null;
  readonly metrics: { readonly command: (name: string, seconds: number) => void };
  readonly logger: Logger;
}

/**
 * Never rejects: an unexpected error is logged, and becomes a failure.
 * @param route of its operation, or why it has none
 */
export type Invoke = (
  route: E.Either<Failure, OperationRoute>,
  request: Request,
  entrance: Entrance,
) => Promise<Invocation>;

/**
 * Makes the pipeline through which every caller calls an operation. A request passes these stages in this order. The
 * first stage that refuses it gives the answer:
 *
 *  1. authentication   401
 *  2. limits           429: rate; 503: connections; 429, 503: bytes of answers in flight
 *  3. path             404, 405: an unknown path, a method that it does not take, an id that cannot be one
 *  4. reach            404: the subject does not exist, or the key cannot access it
 *  5. scope            403
 *     (a streaming operation gets its request here, and does the rest itself)
 *  6. input            400, 413, 415, 422: headers, then the body, then the codec
 *     (an upload is streamed to its destination here)
 *  7. idempotency      a remembered request is answered, or is 422
 *  8. decision         404 for a deleted resource, 412, 409, ... (a query: its answer)
 *  9. claim            409
 * 10. append           413, 503
 * 11. waiting          for the read models
 * 12. response
 *
 * Stages 7 to 12 are `Operation.execute`: `execute-command.ts` numbers them, because 7 to 10 repeat after a conflict.
 */
export function createInvoke(dependencies: InvokeDependencies): Invoke {
  const { authenticate, authenticateSession = noSessions, admission, logger } = dependencies;
  const invokeAs = createInvokeAs(dependencies);
  return async (route, request, entrance) => {
    let caller: Caller | null = null;
    let limitHeaders: ReadonlyArray<string> = [];
    try {
      // 1. Authentication
      caller = await findCaller(entrance, useOf(route), { authenticate, authenticateSession });
      if (caller === null) return refused(unknownCaller(entrance), null);
      request.held.belongTo(caller.projectId);

      // 2. Limits
      if (admission !== null) {
        const entered = await admission.enter(caller, entrance.takePlace);
        limitHeaders = entered.headers;
        if (entered.refusal !== null) return refused(entered.refusal, caller, limitHeaders);
      }
    } catch (error) {
      const unexpected = failureOfError(error, namesOf(request), logger);
      return refused(unexpected, caller, limitHeaders);
    }

    // 3 to 12. Path, reach, scope, input, and what the operation does
    return invocationOf(await invokeAs(route, { ...request, caller }, limitHeaders), caller, limitHeaders);
  };
}

function refused(refusal: Failure, caller: Caller | null, limitHeaders: ReadonlyArray<string> = []): Invocation {
  return invocationOf(E.left(refusal), caller, limitHeaders);
}

function invocationOf(
  outcome: Invocation['outcome'],
  caller: Caller | null,
  limitHeaders: ReadonlyArray<string>,
): Invocation {
  return { outcome, keyId: caller?.keyId ?? null, limitHeaders };
}

async function findCaller(
  { presentedKey, sessionToken }: Entrance,
  use: KeyUse,
  { authenticate, authenticateSession }: Pick<Required<InvokeDependencies>, 'authenticate' | 'authenticateSession'>,
): Promise<Caller | null> {
  if (presentedKey !== null) return authenticate(presentedKey, use);
  return sessionToken === null ? null : authenticateSession(sessionToken, use);
}

function unknownCaller({ presentedKey, sessionToken, keyFault }: Entrance): Failure {
  if (presentedKey !== null) return keyInvalid;
  return sessionToken === null ? (keyFault ?? keyRequired) : sessionOver;
}

/**
 * Stages 3 to 12, for a caller who has passed stages 1 and 2. Never rejects.
 * @param limitHeaders the rest of the rate limit, for a streaming operation
 */
export type InvokeAs = (
  route: E.Either<Failure, OperationRoute>,
  request: Authorised,
  limitHeaders?: ReadonlyArray<string>,
) => Promise<Invocation['outcome']>;

/**
 * The stages after authentication and rate limit. MCP uses them too, because its requests were already authenticated
 * and counted, and a message in them names the operation. The work belongs to the project of the caller's key, so that
 * queues which projects share serve it in its turn.
 */
export function createInvokeAs(dependencies: Pick<InvokeDependencies, 'metrics' | 'logger'>): InvokeAs {
  const answer = createAnswer(dependencies);
  return (route, request, limitHeaders = []) => request.held.run(() => answer(route, request, limitHeaders));
}

function createAnswer(dependencies: Pick<InvokeDependencies, 'metrics' | 'logger'>): InvokeAs {
  const relay = createRelay(dependencies);
  const execute = createExecute(dependencies);
  return async (found, request, limitHeaders = []) => {
    // 3. Path
    if (E.isLeft(found)) return found;
    const { operation, idParameters, isWriting, notFound: code } = found.right;
    const { parameters } = request;
    const badId = idParameters.find(({ name, pattern }) => !pattern.test(parameters[name] ?? ''));
    if (badId !== undefined) return E.left(notFound(code, quoted(parameters[badId.name] ?? '')));
    if (operation.kind === 'streaming') return relay(operation, request, limitHeaders);
    return execute(operation, request, isWriting);
  };
}

/** A streaming operation has no subject to reach, and no stages after the scope. */
function createRelay({ logger }: Pick<InvokeDependencies, 'logger'>) {
  return async (
    operation: StreamingOperation,
    request: Authorised,
    limitHeaders: ReadonlyArray<string>,
  ): Promise<Invocation['outcome']> => {
    try {
      // 5. Scope
      const refusal = checkScopes(request.caller, operation);
      if (refusal !== null) return E.left(refusal);
      request.client.addHeaders(limitHeaders);
      return E.right(await operation.relay(request));
    } catch (error) {
      if (error instanceof ClientDisconnectedError) return E.right(null);
      return E.left(failureOfError(error, namesOf(request), logger));
    }
  };
}

/** The stages from reach on, of every other operation. */
function createExecute({ metrics, logger }: Pick<InvokeDependencies, 'metrics' | 'logger'>) {
  return async (
    operation: Exclude<AnyOperation, StreamingOperation>,
    authorised: Authorised,
    isWriting: boolean,
  ): Promise<Invocation['outcome']> => {
    const commandStart = isWriting ? clock.now() : null;
    try {
      // 4. Reach
      const { fault, ...asked } = requestHeadersOf(authorised, isWriting);
      const request = { ...authorised, ...asked };
      const subject = await operation.loadSubject(request);
      if (E.isLeft(subject)) return subject;

      // 5. Scope
      const scopeFailure = checkScopes(request.caller, operation);
      if (scopeFailure !== null) return E.left(scopeFailure);

      // 6. Input
      if (fault !== null) return E.left(fault);
      if (operation.kind === 'upload') return await executeUpload(operation, { request, subject: subject.right });
      const body = await request.body.readInput();
      if (E.isLeft(body)) return body;
      const input = await decodeBody(operation, body.right, request.headers);
      if (E.isLeft(input)) return input;

      // 7 to 12. Idempotency, decision, claim, append, waiting for read models, response
      const { bodyHash } = body.right;
      return await operation.execute({ request, subject: subject.right, input: input.right, bodyHash });
    } catch (error) {
      if (error instanceof ClientDisconnectedError) return E.right(null);
      return E.left(failureOfError(error, namesOf(authorised), logger));
    } finally {
      if (commandStart !== null) metrics.command(operation.name, (clock.now() - commandStart) / 1_000);
    }
  };
}

/** Stages 6 to 12. */
async function executeUpload(
  operation: UploadOperation,
  valid: Pick<Decoded<unknown, unknown>, 'request' | 'subject'>,
): Promise<E.Either<Failure, OperationResult>> {
  const received = await operation.receive(valid.request);
  if (E.isLeft(received)) return received;
  const { input, settle, release } = received.right;
  try {
    const decoded = decodeInput(operation.input, input.fields);
    const outcome = E.isLeft(decoded)
      ? decoded
      : await operation.execute({ ...valid, input: decoded.right, bodyHash: input.bodyHash });
    // A dry run stores nothing.
    await settle(valid.request.dryRun === true && E.isRight(outcome) ? E.left(onlyTried) : outcome);
    return outcome;
  } finally {
    release();
  }
}

/** A large body waits for its turn, so that other requests are served between two of them. */
async function decodeBody(
  { input, strictFaults }: AnyOperation,
  { fields, unknown, bytes }: RequestInput,
  headers: Request['headers'],
): Promise<E.Either<Failure, unknown>> {
  const isLarge = bytes > largeBodyBytes;
  if (isLarge) await turn(currentWorkOwner(), 'body', bytes);
  const decoded = decodeInput(input, fields, unknown);
  const faults = isStrict(headers) && E.isRight(decoded) ? (strictFaults?.(decoded.right) ?? []) : [];
  if (faults.length > 0) return E.left(invalidInput(faults));
  if (isLarge && E.isRight(decoded)) await turn(currentWorkOwner(), 'body', bytes);
  return decoded;
}

function useOf(route: E.Either<Failure, OperationRoute>): KeyUse {
  if (E.isLeft(route)) return 'query';
  const { kind } = route.right.operation;
  if (kind === 'upload') return 'command';
  return kind === 'download' ? 'query' : kind;
}

function namesOf({ id: requestId, operation }: Request) {
  return { requestId, operation };
}

/** The failure at a path that accepts other methods. */
export function unservedRoute(method: string, allowedMethods: ReadonlyArray<string>): Failure {
  if (allowedMethods.length === 0) return failure('path-not-found', 'There is nothing at this path.');
  return failure('method-not-allowed', `This path takes ${allowedMethods.join(', ')}, not ${method}.`);
}

const quoted = (id: string) => JSON.stringify(id.slice(0, 100));

const onlyTried = failure('invalid-input', 'The upload was only tried.');

const keyRequired = failure(
  'key-required',
  'Send an API key: Authorization: Bearer <key>, or x-api-key: <key> (not two different ones, and each field once).',
);
const keyInvalid = failure('key-invalid', 'The API key is unknown, revoked or replaced. Use a current one.');
const sessionOver = failure('key-required', 'The session of the page is over: sign in again.');
const noSessions = async () => null;

/**
 * Fails with every error and its place.
 * @param unknown the faults of members that the codec ignores and the request wants refused
 */
export function decodeInput<A>(
  codec: t.Type<A, unknown, unknown>,
  fields: JsonObject,
  unknown: ReadonlyArray<InputError> = [],
): E.Either<Failure, A> {
  const decoded = codec.decode(fields);
  if (E.isRight(decoded) && unknown.length === 0) return decoded;
  const errors = E.isLeft(decoded) ? inputErrors(decoded.left) : [];
  return E.left(invalidInput([...errors, ...unknown].slice(0, maxInputErrors)));
}
