import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { HttpRoute, Plane } from '#application/operations/operation.ts';
import type { OperationEffect } from '#application/operations/operation-effect.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import type { SealedText } from '#domain/shared/personal-data.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Caller, Tenant } from '#domain/shared/tenancy.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import type { NewIds } from './new-ids.ts';
import type { StreamWrite } from './streams/stream-write.ts';

/** Another stream as a decision sees it. */
export interface LoadedStream<State> {
  readonly state: State;
  /** Null when the stream has no event. */
  readonly tenant: Tenant | null;
}

/** What `loadRelated` may load. It may be stale: `decide` must be correct even if it has changed since. */
export interface RelatedStateLoader {
  /** Encrypts texts of the person whom the resource is about, under the names of their fields. */
  readonly seal: <Field extends string>(
    texts: Readonly<Record<Field, string>>,
  ) => Promise<Readonly<Record<Field, SealedText>>>;
  /** What the command may seal and give out. */
  readonly newSecrets: NewSecrets;
  /** The current state of another stream. */
  readonly load: <State, Events>(entity: Entity<State, Events>, id: string) => Promise<LoadedStream<State>>;
  /** The data of one event of another stream: what its state does not hold. */
  readonly dataAt: <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => Promise<JsonObject>;
  /** Whether the read model has a document that fits; it may lag. */
  readonly lookup: Lookup;
}

/** What a command may read from the read models. They may lag, so no rule may depend on them. */
export interface Lookup {
  readonly exists: (collection: string, where: Readonly<Record<string, string>>) => Promise<boolean>;
  /**
   * The valid keys that descend from a key, which it or a descendant created or rotated: the nearest first, up to
   * `limit`.
   */
  readonly descendantKeys: (keyId: string, limit: number) => Promise<ReadonlyArray<string>>;
  /** When an API key was last used; null when it never was. */
  readonly keyLastUsed: (keyId: string) => Promise<string | null>;
  /** The status of a projection; null when there is none of that name. */
  readonly projection: (name: string) => Promise<ProjectionSummary | null>;
  /**
   * Why nothing may be delivered to a URL, as it resolves now; null when it may.
   * @throws UnavailableError when the host cannot be looked up just now
   */
  readonly webhookUrlFault: (url: string) => Promise<string | null>;
  /** Whether a node that is alive runs batches. */
  readonly batchesRun: () => Promise<boolean>;
  /** The status of a process; null when there is none of that name. */
  readonly process: (name: string) => Promise<StoppableStatus | null>;
}

/** What a command may do outside its stream after its decision. */
export interface CommandEffects {
  /** The current state of another stream. */
  readonly load: RelatedStateLoader['load'];
  /** Decides and appends to another stream, with the caller as actor. @throws UnavailableError */
  readonly append: <State, Events>(
    handling: Pick<StreamWrite<State, Events>, 'entity' | 'id' | 'decide'>,
  ) => Promise<void>;
  /** Makes every text of a person unreadable for good. */
  readonly erasePersonalData: (subject: string) => Promise<void>;
}

/** As much of a process's status as decisions need. */
export interface StoppableStatus {
  readonly failure: { readonly eventId: string } | null;
}

/** As much of a projection's status as decisions need. */
export interface ProjectionSummary extends StoppableStatus {
  readonly rebuild: object | null;
}

/** What a decision gets besides its input and its own state. */
export interface DecisionContext<SubjectState, Also> {
  readonly caller: Caller;
  readonly newIds: NewIds;
  readonly newSecrets: NewSecrets;
  readonly subject: LoadedStream<SubjectState>;
  readonly related: Also;
  /** The time of the decision, RFC 3339. */
  readonly time: string;
  /** Bytes of JSON that the filled schemas of one operation of an instance may have. */
  readonly maxFilledBytes: number;
}

/** Secrets that a command may give out, each made when first asked for. */
export interface NewSecrets {
  /** A new API key's text. */
  readonly apiKey: string;
  /** A new signing secret of a webhook endpoint. */
  readonly webhookSecret: string;
}

/** What an answer is made from. */
export interface AnswerContext<Input, State> {
  readonly input: Input;
  /** The state that the command produced. */
  readonly state: State;
  /** Whether the command changed anything. */
  readonly changed: boolean;
  readonly newIds: NewIds;
  /** The new secrets; null in a repeated answer, which must not contain one again. */
  readonly newSecrets: NewSecrets | null;
  readonly lookup: Lookup;
  /** The data of one event of the stream: a schema or payload that state does not hold. */
  readonly dataAt: (revision: number) => Promise<JsonObject>;
}

// biome-ignore lint/suspicious/noExplicitAny: a command reads its subject's state, whatever events made it.
type SubjectEntity<State> = Entity<State, any>;

/**
 * A command, described by one object. `decide` is pure; `command-handler.ts` runs it.
 */
export interface Command<Input extends object, State, Events, SubjectState, Also, Output> {
  readonly name: string;
  readonly summary: string;
  readonly description?: string;
  readonly group: string;
  /** The shape of its errors. Default `control`. */
  readonly plane?: Plane;
  readonly http: HttpRoute;
  readonly scope: Scope;
  /** A scope that the key needs besides. */
  readonly alsoScope?: Scope;
  readonly input: t.Type<Input, unknown, unknown>;
  /**
   * The input holds personal data of the new resource's subject: what is remembered of it is unreadable after erasure.
   */
  readonly personal?: boolean;
  /** It seals a text under the resource's key: where it is only tried, with a key that passes. */
  readonly seals?: boolean;
  /** Null for no content. */
  readonly output: t.Type<Output, unknown, unknown> | null;
  readonly failures: ReadonlyArray<FailureCode>;
  /** What it does besides its answer, where its HTTP method does not say it. */
  readonly effect?: OperationEffect;
  readonly example: { readonly input?: JsonObject; readonly output?: Json };
  /** The entity whose stream it appends to. */
  readonly entity: Entity<State, Events>;
  /**
   * What the path names; access to it is checked before anything else. It is the command's own entity when the command
   * changes a resource, the parent when it creates one, and null when only the key decides.
   */
  readonly subject: { readonly entity: SubjectEntity<SubjectState>; readonly parameter: string } | null;
  /** For a command that creates: the id of the new resource. Absent: the path names the resource. */
  readonly newId?: (input: Input, newIds: NewIds) => string;
  /**
   * For a command that creates: whether these ids were used before. They derive from the `Idempotency-Key`, which a
   * client may use again after its record has expired; the command then takes the next ids that derive from it.
   */
  readonly isIdUsed?: (state: State, input: Input, newIds: NewIds) => boolean;
  /** The tenant of a new stream; absent, the subject's. */
  readonly tenant?: (input: Input, context: DecisionContext<SubjectState, Also>) => Tenant;
  /** Whether the command has an answer, where that is not only while the resource is live. */
  readonly isAnswerable?: (state: State, input: Input) => boolean;
  readonly loadRelated?: (input: Input, loads: RelatedStateLoader, caller: Caller, state: State) => Promise<Also>;
  /** What must be claimed, in order, for the new resource before it is appended: see `claims.ts`. */
  readonly claims?: (input: Input) => ReadonlyArray<string>;
  readonly decide: (
    input: Input,
    state: State,
    context: DecisionContext<SubjectState, Also>,
  ) => E.Either<Failure, ReadonlyArray<EventOf<Events>>>;
  /**
   * Runs after the decision and the append, before the response, also when nothing changed. The node may end before it,
   * so it must be repeatable, and a process must do what may not be left undone.
   * @returns a failure to answer instead of the result; null to answer with the result
   */
  readonly afterAppend?: (id: string, effects: CommandEffects, caller: Caller) => Promise<Failure | null>;
  readonly answer: (context: AnswerContext<Input, State>) => Output | Promise<Output>;
  /** The answer carries no ETag: it is not one resource. */
  readonly withoutRevision?: boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: the table holds commands of every entity; each stays typed where it is made.
export type AnyCommand = Command<any, any, any, any, any, any>;

/** Declares a command. */
export function command<Input extends object, State, Events, SubjectState, Also, Output>(
  definition: Command<Input, State, Events, SubjectState, Also, Output>,
): Command<Input, State, Events, SubjectState, Also, Output> {
  return definition;
}
