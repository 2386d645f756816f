import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { HttpRoute, OperationAbout, OperationAccess } from '#application/operations/operation.ts';
import type { StreamWrite } from '#application/streams/stream-writer.ts';
import type { EventFailure } from '#domain/event-failure.ts';
import type { Caller, Scope, Tenant } from '#domain/shared/access.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Failure, FailureCode, InputError } from '#domain/shared/failure.ts';
import type { SealedText } from '#domain/shared/personal-data.ts';
import type { EndpointTries } from '#domain/webhook-endpoint/running-tries.ts';
import type { Plane } from '#exchange/problem.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { AnyClaim } from './claims.ts';
import type { NewIds, NewSecrets } from './new-values.ts';

export interface LoadedStream<State> {
  readonly state: State;
  /** Null if the stream has no event. */
  readonly tenant: Tenant | null;
}

/** Reads for `loadRelated`. Their results may be stale: `decide` must be correct even if they have changed since. */
export interface RelatedStateLoader {
  /**
   * Encrypts personal texts of the resource's subject, under the names of their fields. Null if the resource exists and
   * its key was lost or destroyed: a subject never gets a second key.
   */
  readonly seal: <Field extends string>(
    texts: Readonly<Record<Field, string>>,
  ) => Promise<Readonly<Record<Field, SealedText>> | null>;
  /** Secrets that the command may seal and return. */
  readonly newSecrets: NewSecrets;
  readonly load: <State, Events>(entity: Entity<State, Events>, id: string) => Promise<LoadedStream<State>>;
  /** Reads the data of an event, for contents that the state does not hold. */
  readonly dataAt: <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => Promise<JsonObject>;
  readonly lookup: Lookup;
}

/** Reads that may lag, so no rule may depend on them. */
export interface Lookup {
  readonly exists: (collection: string, where: Readonly<Record<string, string>>) => Promise<boolean>;
  /** Finds valid keys that the key or a descendant created or rotated: the nearest first, up to `limit`. */
  readonly descendantKeys: (keyId: string, limit: number) => Promise<ReadonlyArray<string>>;
  /** Null if the key was never used. */
  readonly keyLastUsed: (keyId: string) => Promise<string | null>;
  /** Null for an unknown name. */
  readonly projection: (name: string) => Promise<ProjectionSummary | null>;
  /**
   * The fault of the URL, by its present addresses; null if webhooks may be delivered to it.
   * @throws UnavailableError if the host cannot be looked up now
   */
  readonly webhookUrlFault: (url: string) => Promise<string | null>;
  /** The tries that run now; null if this node does not deliver to the endpoint. */
  readonly webhookTries: (endpointId: string) => EndpointTries | null;
  /** True if a live node runs batches. */
  readonly batchesRun: () => Promise<boolean>;
  /** Null for an unknown name. */
  readonly process: (name: string) => Promise<StoppableStatus | null>;
  /** The failure at a position, among those that the statuses show: the first of each follower. Null without one. */
  readonly failureAt: (position: number) => Promise<EventFailure | null>;
}

/** What a command may do outside its stream, after its decision. */
export interface CommandEffects {
  readonly load: RelatedStateLoader['load'];
  /** Appends events with the caller as actor. @throws UnavailableError */
  readonly append: <State, Events>(
    write: Pick<StreamWrite<State, Events>, 'entity' | 'id' | 'decide'>,
  ) => Promise<void>;
  /** Makes the texts of the subject permanently unreadable. */
  readonly erasePersonalData: (subject: string) => Promise<void>;
}

/** The members of a status that decisions need. */
export interface StoppableStatus {
  readonly failure: { readonly eventId: string } | null;
}

/** The members of a projection's status that decisions need. */
export interface ProjectionSummary extends StoppableStatus {
  readonly rebuild: object | null;
}

/** What a decision gets in addition to the input and the state. */
export interface DecisionContext<SubjectState, Also> {
  readonly caller: Caller;
  readonly newIds: NewIds;
  readonly newSecrets: NewSecrets;
  readonly subject: LoadedStream<SubjectState>;
  readonly related: Also;
  /** The time of the decision, RFC 3339. */
  readonly time: string;
  /** Maximum size of the JSON of all filled schemas in one operation of an instance. */
  readonly maxFilledBytes: number;
}

export interface AnswerContext<Input, State> {
  readonly input: Input;
  /** The state that the command has produced. */
  readonly state: State;
  readonly changed: boolean;
  readonly newIds: NewIds;
  /** The new secrets; null in a repeated answer, which must not contain one again. */
  readonly newSecrets: NewSecrets | null;
  readonly lookup: Lookup;
  /** Reads the data of an event, for contents that the state does not hold. */
  readonly dataAt: (revision: number) => Promise<JsonObject>;
}

// biome-ignore lint/suspicious/noExplicitAny: a command reads its subject's state and not its events.
type SubjectEntity<State> = Entity<State, any>;

/** How a command creates a resource, in a stream of its own or in that of the resource in the path. */
export interface Creation<Input, State, Context> {
  /** The id of a resource with a stream of its own. If it is absent, the path names the stream. */
  readonly id?: (input: Input, newIds: NewIds) => string;
  /**
   * True if the new ids are used already. They derive from the `Idempotency-Key`, which a client may use again after
   * its record has expired; the command then takes the next ids that derive from it.
   */
  readonly isIdUsed?: (state: State, input: Input, newIds: NewIds) => boolean;
  /** The tenant of the stream; if it is absent, the subject's tenant. */
  readonly tenant?: (input: Input, context: Context) => Tenant;
  /** The resource is unique by these values. Their claims are taken in order before the append. */
  readonly claims?: { readonly claim: AnyClaim; readonly values: (input: Input) => ReadonlyArray<string> };
}

/** `decide` is pure; `execute-command.ts` runs it. */
export interface Command<Input extends object, State, Events, SubjectState, Also, Output> {
  readonly about: OperationAbout;
  readonly http: HttpRoute;
  /**
   * `subject` is the entity of the resource in the path. Access to it is checked first. It is the command's own entity
   * if the command changes a resource, the parent if it creates one, and null if only the key decides.
   */
  readonly access: OperationAccess<
    { readonly entity: SubjectEntity<SubjectState>; readonly parameter: string } | null,
    Scope
  >;
  /** The plane whose form of errors the command uses. Default `control`. */
  readonly plane?: Plane;
  readonly input: t.Type<Input, unknown, unknown>;
  /** Faults of a request that prefers strict handling, although the contract accepts it. */
  readonly strictFaults?: (input: Input) => ReadonlyArray<InputError>;
  /**
   * The input has personal data of the new resource's subject. The remembered hash of the request is then keyed, so
   * that an erasure makes it useless.
   */
  readonly personal?: boolean;
  /** The codec of the answer; null for no content. */
  readonly output: t.Type<Output, unknown, unknown> | null;
  readonly failures: ReadonlyArray<FailureCode>;
  /** The entity to whose stream the command appends. */
  readonly entity: Entity<State, Events>;
  readonly creates?: Creation<Input, State, DecisionContext<SubjectState, Also>>;
  /** Set if whether the command can be answered does not depend only on the resource being live. */
  readonly isAnswerable?: (state: State, input: Input) => boolean;
  readonly loadRelated?: (input: Input, loads: RelatedStateLoader, caller: Caller, state: State) => Promise<Also>;
  /** Only for webhook endpoints, whose number is limited: see `endpoint-places.ts`. */
  readonly endpointPlace?: 'taken' | 'freed';
  readonly decide: (
    input: Input,
    state: State,
    context: DecisionContext<SubjectState, Also>,
  ) => E.Either<Failure, ReadonlyArray<EventOf<Events>>>;
  /**
   * Runs after the decision and the append, before the response, even if nothing changed. It must be repeatable. The
   * node may crash before it, so a process must do any required work too.
   * @returns a failure that replaces the result; null to answer with the result
   */
  readonly afterAppend?: (id: string, effects: CommandEffects, caller: Caller) => Promise<Failure | null>;
  readonly answer: (context: AnswerContext<Input, State>) => Output | Promise<Output>;
  /** The answer carries no ETag: it is not one resource. */
  readonly withoutRevision?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds commands of every entity; each stays typed where it is made.
export type AnyCommand = Command<any, any, any, any, any, any>;

export function command<Input extends object, State, Events, SubjectState, Also, Output>(
  definition: Command<Input, State, Events, SubjectState, Also, Output>,
): Command<Input, State, Events, SubjectState, Also, Output> {
  return definition;
}
