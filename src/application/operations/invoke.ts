import * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { KeyUse } from '#application/access/key-resolver.ts';
import type { Caller } from '#domain/shared/access.ts';
import { type Failure, failure, type InputError } from '#domain/shared/failure.ts';
import type { Admission, TakePlace } from '#exchange/admission.ts';
import { ClientDisconnectedError } from '#exchange/held.ts';
import { inputErrors, invalidInput, maxInputErrors } from '#exchange/input-errors.ts';
import type { Authorised } from '#exchange/request.ts';
import { largeBodyBytes, turn } from '#exchange/turns.ts';
import { currentWorkOwner, runFor } from '#shared/async/fair-queue.ts';
import { clock } from '#shared/clock.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { Logger } from '#shared/logging/logger.ts';
import { checkScopes, notFound } from './access-refusals.ts';
import type { AnyOperation, Download, StreamingOperation, StreamReport, UploadOperation } from './operation.ts';
import type { OperationResult, RequestHeaders, RequestInput, ValidRequest } from './operation-request.ts';
import type { OperationRoute } from './registry.ts';
import { failureOfError } from './unexpected-error.ts';

/** The target of a request: an operation and its path parameters, or a path with no operation for its method. */
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
      /** The methods that the path accepts; empty for an unknown path. */
      readonly allowedMethods: ReadonlyArray<string>;
      /** A more exact refusal than an unknown path. */
      readonly failure: Failure | null;
    };

/** A request as an adapter (HTTP, the control socket) translates it. */
export interface OperationCall {
  readonly target: CallTarget;
  /** Null without a key. */
  readonly presentedKey: string | null;
  /** The token of the page's session, which counts if there is no key. Default: none. */
  readonly sessionToken?: string | null;
  /** What is wrong with the header that has the key, if it can be seen. */
  readonly keyFault?: Failure | null;
  /** Takes a place for a call that has none yet. Returns why it gets none. Default: it has one. */
  readonly takePlace?: TakePlace | null;
  readonly requestId: string;
  /** Method and path as requested: `POST /v1/flows/c…/versions`. */
  readonly requestTarget: string;
  /** Reads its headers. Not called for a streaming operation, which reads its own. */
  readonly readHeaders: () => RequestHeaders;
  /** The most bytes of a list's page, if the caller wants less than the usual limit. */
  readonly maxPageBytes?: number;
  /**
   * Loads the rest: media type, size, syntax. Called at most once, and only if the key can access the resource and has
   * the scope, so that a refusal costs no upload. @throws ClientDisconnectedError
   */
  readonly loadBody: (caller: Caller) => Promise<E.Either<Failure, RequestInput>>;
  /**
   * Opens the request of an upload or of a streaming operation, which reads its body and writes its answer itself. Called
   * at most once, like `loadBody`.
   */
  readonly open: (caller: Caller, limitHeaders: ReadonlyArray<string>) => Authorised;
}

/** The result, with the data that an adapter needs to answer and to log. */
export interface Invocation {
  /** A report if the operation wrote its answer itself; null if the client has left. */
  readonly outcome: E.Either<Failure, OperationResult | Download | StreamReport | null>;
  /** The id of the caller's key; null if the key is unknown. */
  readonly keyId: string | null;
  /** The project of the caller's key, which owns the work on the answer; null if the key is unknown. */
  readonly projectId: string | null;
  /** The rest of the rate limit as alternating header names and values; empty without a limit. */
  readonly limitHeaders: ReadonlyArray<string>;
}

export interface InvokeDependencies {
  /** Finds the caller of a presented key; null for an invalid key. @throws UnavailableError */
  readonly authenticate: (presentedKey: string, use: KeyUse) => Promise<Caller | null>;
  /** Finds the caller of a session; null if it is over. Default: there are no sessions. @throws UnavailableError */
  readonly authenticateSession?: (token: string, use: KeyUse) => Promise<Caller | null>;
  /** Admits requests of known callers; null if all are admitted. */
  readonly admission: Pick<Admission, 'enter'> | null;
  readonly metrics: { readonly command: (name: string, seconds: number) => void };
  readonly logger: Logger;
}

/** Answers one request of any caller. Never rejects: an unexpected error is logged, and becomes a failure. */
export type Invoke = (call: OperationCall) => Promise<Invocation>;

/**
 * Makes the pipeline through which every caller calls an operation. A request passes these stages in this order. The
 * first stage that refuses it gives the answer:
 *
 *  1. authentication   401
 *  2. limits           429: rate; 503: connections; 429, 503: bytes of answers in flight
 *  3. path             404, 405: an unknown path, a method that it does not take, an id that cannot be one
 *  4. reach            404: the subject does not exist, or the key cannot access it
 *  5. scope            403
 *     (a streaming operation gets its connection here, and does the rest itself)
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
  return async (call) => {
    let caller: Caller | null = null;
    let limitHeaders: ReadonlyArray<string> = [];
    try {
      // 1. Authentication
      caller = await findCaller(call, authenticate, authenticateSession);
      if (caller === null) return refused(unknownCaller(call), null);

      // 2. Limits
      if (admission !== null) {
        const entered = await admission.enter(caller, call.takePlace);
        limitHeaders = entered.headers;
        if (entered.refusal !== null) return refused(entered.refusal, caller, limitHeaders);
      }
    } catch (error) {
      const unexpected = failureOfError(error, { requestId: call.requestId, operation: nameOf(call.target) }, logger);
      return refused(unexpected, caller, limitHeaders);
    }

    // 3 to 12. Path, reach, scope, input, and what the operation does
    return invocationOf(await invokeAs(caller, call, limitHeaders), caller, limitHeaders);
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
  return { outcome, keyId: caller?.keyId ?? null, projectId: caller?.projectId ?? null, limitHeaders };
}

async function findCaller(
  { presentedKey, sessionToken = null, target }: OperationCall,
  authenticate: InvokeDependencies['authenticate'],
  authenticateSession: Required<InvokeDependencies>['authenticateSession'],
): Promise<Caller | null> {
  if (presentedKey !== null) return authenticate(presentedKey, useOf(target));
  return sessionToken === null ? null : authenticateSession(sessionToken, useOf(target));
}

function unknownCaller({ presentedKey, sessionToken = null, keyFault }: OperationCall): Failure {
  if (presentedKey !== null) return keyInvalid;
  return sessionToken === null ? (keyFault ?? keyRequired) : sessionOver;
}

/** A call of a caller who is known. */
export type AuthenticatedCall = Omit<OperationCall, 'presentedKey' | 'sessionToken' | 'keyFault' | 'takePlace'>;

/**
 * Answers one request of a caller who has passed stages 1 and 2: stages 3 to 12. Never rejects.
 * @param limitHeaders the rest of the rate limit, for a streaming operation
 */
export type InvokeAs = (
  caller: Caller,
  call: AuthenticatedCall,
  limitHeaders?: ReadonlyArray<string>,
) => Promise<Invocation['outcome']>;

/**
 * Makes the stages after authentication and rate limit. `createInvoke` uses it. MCP uses it too, because its requests
 * were already authenticated and counted, and a message in them names the operation. The work belongs to the project of
 * the caller's key, so that queues which projects share serve it in its turn.
 */
export function createInvokeAs(dependencies: Pick<InvokeDependencies, 'metrics' | 'logger'>): InvokeAs {
  const answer = createAnswer(dependencies);
  return (caller, call, limitHeaders = []) => runFor(caller.projectId, () => answer(caller, call, limitHeaders));
}

/** A call of an operation, and who calls. */
interface CallOfOperation {
  readonly caller: Caller;
  readonly call: AuthenticatedCall;
  readonly parameters: Readonly<Record<string, string>>;
}

function createAnswer(dependencies: Pick<InvokeDependencies, 'metrics' | 'logger'>): InvokeAs {
  const relay = createRelay(dependencies);
  const execute = createExecute(dependencies);
  return (caller, call, limitHeaders = []) => {
    const { target } = call;
    // 3. Path
    if (target.kind === 'none') return Promise.resolve(E.left(noOperation(target)));
    const { route, parameters } = target;
    const badId = route.idParameters.find(({ name, pattern }) => !pattern.test(parameters[name] ?? ''));
    if (badId !== undefined)
      return Promise.resolve(E.left(notFound(route.notFound, quoted(parameters[badId.name] ?? ''))));
    const { operation } = route;
    return operation.kind === 'streaming'
      ? relay(operation, { caller, call, parameters }, limitHeaders)
      : execute(operation, { caller, call, parameters });
  };
}

/** Makes the stages of a streaming operation. It has no subject to reach, and no stages after the scope. */
function createRelay({ logger }: Pick<InvokeDependencies, 'logger'>) {
  return async (
    operation: StreamingOperation,
    { caller, call }: CallOfOperation,
    limitHeaders: ReadonlyArray<string>,
  ): Promise<Invocation['outcome']> => {
    const { requestId } = call;
    try {
      // 5. Scope
      const refusal = checkScopes(caller, operation);
      if (refusal !== null) return E.left(refusal);
      return E.right(await operation.relay(call.open(caller, limitHeaders)));
    } catch (error) {
      if (error instanceof ClientDisconnectedError) return E.right(null);
      return E.left(failureOfError(error, { requestId, operation: operation.name }, logger));
    }
  };
}

/** Makes the stages from reach on, of every other operation. */
function createExecute({ metrics, logger }: Pick<InvokeDependencies, 'metrics' | 'logger'>) {
  return async (
    operation: Exclude<AnyOperation, StreamingOperation>,
    { caller, call, parameters }: CallOfOperation,
  ): Promise<Invocation['outcome']> => {
    const { requestId, requestTarget, readHeaders, maxPageBytes, loadBody, open } = call;
    const { kind, name } = operation;
    const commandStart = kind === 'command' || kind === 'upload' ? clock.now() : null;
    try {
      // 4. Reach
      const { fault, ...asked } = readHeaders();
      const limits = maxPageBytes === undefined ? {} : { maxPageBytes };
      const request = { caller, requestId, parameters, requestTarget, ...asked, ...limits };
      const subject = await operation.loadSubject(request);
      if (E.isLeft(subject)) return subject;

      // 5. Scope
      const scopeFailure = checkScopes(caller, operation);
      if (scopeFailure !== null) return E.left(scopeFailure);

      // 6. Input
      if (fault !== null) return E.left(fault);
      if (operation.kind === 'upload')
        return await executeUpload(operation, { request, subject: subject.right }, open(caller, []));
      const body = await loadBody(caller);
      if (E.isLeft(body)) return body;
      const input = await decodeBody(operation, body.right);
      if (E.isLeft(input)) return input;

      // 7 to 12. Idempotency, decision, claim, append, waiting for read models, response
      const { bodyHash } = body.right;
      return await operation.execute({ request, subject: subject.right, input: input.right, bodyHash });
    } catch (error) {
      if (error instanceof ClientDisconnectedError) return E.right(null);
      return E.left(failureOfError(error, { requestId, operation: name }, logger));
    } finally {
      if (commandStart !== null) metrics.command(name, (clock.now() - commandStart) / 1_000);
    }
  };
}

/** Stages 6 to 12 of an upload. */
async function executeUpload(
  operation: UploadOperation,
  valid: Pick<ValidRequest<unknown>, 'request' | 'subject'>,
  opened: Authorised,
): Promise<E.Either<Failure, OperationResult>> {
  const received = await operation.receive(opened);
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

/** Decodes the loaded input. A large body waits for its turn, so that other requests are served between two of them. */
async function decodeBody(
  { input, strictFaults }: AnyOperation,
  { fields, unknown, isStrict, bytes = 0 }: RequestInput,
): Promise<E.Either<Failure, unknown>> {
  const isLarge = bytes > largeBodyBytes;
  if (isLarge) await turn(currentWorkOwner(), 'body', bytes);
  const decoded = decodeInput(input, fields, unknown);
  const faults = isStrict === true && E.isRight(decoded) ? (strictFaults?.(decoded.right) ?? []) : [];
  if (faults.length > 0) return E.left(invalidInput(faults));
  if (isLarge && E.isRight(decoded)) await turn(currentWorkOwner(), 'body', bytes);
  return decoded;
}

function useOf(target: CallTarget): KeyUse {
  if (target.kind === 'none') return 'query';
  const { kind } = target.route.operation;
  if (kind === 'upload') return 'command';
  return kind === 'download' ? 'query' : kind;
}

function nameOf(target: CallTarget): string {
  return target.kind === 'operation' ? target.route.operation.name : 'unknown';
}

function noOperation({ method, allowedMethods, failure: known }: Extract<CallTarget, { kind: 'none' }>): Failure {
  if (known !== null) return known;
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
 * Decodes an operation's input, or fails with every error and its place.
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
