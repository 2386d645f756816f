import type * as E from 'fp-ts/lib/Either.js';
import type * as t from 'io-ts';
import type { HttpRoute, Plane } from '#application/operations/operation.ts';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { Failure, FailureCode } from '#domain/shared/failure.ts';
import type { SealedText } from '#domain/shared/personal-data.ts';
import type { Scope } from '#domain/shared/scope.ts';
import type { Caller, Tenant } from '#domain/shared/tenancy.ts';
import type { Json, JsonObject } from '#shared/json/json.ts';
import type { NewIds } from './new-ids.ts';
import type { StreamWrite } from './stream-writer.ts';

/** Another stream as a decision sees it. */
export interface LoadedStream<State> {
  readonly state: State;
  /** Null when the stream has no event. */
  readonly tenant: Tenant | null;
}

/** What `also` may ask. Whatever it finds, the decision must bear that it has changed meanwhile. */
export interface RelatedStateLoader {
  /** Encrypts texts of the person whom the resource is about, under the names of their fields. */
  readonly seal: <Field extends string>(
    texts: Readonly<Record<Field, string>>,
  ) => Promise<Readonly<Record<Field, SealedText>>>;
  /** The current state of another stream. */
  readonly load: <State, Events>(entity: Entity<State, Events>, id: string) => Promise<LoadedStream<State>>;
  /** The data of one event of another stream: what its state does not hold. */
  readonly dataAt: <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => Promise<JsonObject>;
  /** Whether the read model has a document that fits; it may lag. */
  readonly lookup: Lookup;
}

/** What a command may ask of the read models: never the truth, good enough for a courtesy. */
export interface Lookup {
  readonly exists: (collection: string, where: Readonly<Record<string, string>>) => Promise<boolean>;
  /**
   * The keys in force that descend from a key: that it or a descendant made or rotated; so many at most, the nearest
   * first.
   */
  readonly descendantKeys: (keyId: string, limit: number) => Promise<ReadonlyArray<string>>;
  /** When an API key was last used; null when it never was. */
  readonly keyLastUsed: (keyId: string) => Promise<string | null>;
  /** How a projection stands; null when there is none of that name. */
  readonly projection: (name: string) => Promise<ProjectionSummary | null>;
  /** The status of a process; null when there is none of that name. */
  readonly process: (name: string) => Promise<StoppableStatus | null>;
}

/** What a command may do once it is decided, outside its stream. */
export interface CommandEffects {
  /** The current state of another stream. */
  readonly load: RelatedStateLoader['load'];
  /** Decides and appends to another stream, in the name of the caller. @throws UnavailableError */
  readonly append: <State, Events>(
    handling: Pick<StreamWrite<State, Events>, 'entity' | 'id' | 'decide'>,
  ) => Promise<void>;
  /** Makes every text of a person's unreadable, for good. */
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

/** What a decision has besides its input and its own state. */
export interface DecisionContext<SubjectState, Also> {
  readonly caller: Caller;
  readonly fresh: NewIds;
  readonly secret: NewApiKey;
  readonly subject: LoadedStream<SubjectState>;
  readonly also: Also;
  /** When it is decided, RFC 3339. */
  readonly time: string;
  /** Bytes of JSON that the filled schemas of one operation of an instance may have. */
  readonly maxFilledBytes: number;
}

/** A new API key's text; made when first asked for. */
export interface NewApiKey {
  readonly key: string;
}

/** What an answer is made from. */
export interface AnswerContext<Input, State> {
  readonly input: Input;
  /** The state that the command produced. */
  readonly state: State;
  /** Whether the command changed anything. */
  readonly changed: boolean;
  readonly fresh: NewIds;
  /** The new API key's text; null in a repeated answer, which must not tell it again. */
  readonly secret: NewApiKey | null;
  readonly lookup: Lookup;
  /** The data of one event of the stream: a schema or payload that state does not hold. */
  readonly dataAt: (revision: number) => Promise<JsonObject>;
}

// biome-ignore lint/suspicious/noExplicitAny: a command reads its subject's state, whatever events made it.
type SubjectEntity<State> = Entity<State, any>;

/**
 * A command: one object that says all about it. `decide` is pure; the rest of the machinery is in
 * `execute-command.ts`.
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
  readonly input: t.Type<Input, unknown, unknown>;
  /** The input tells of a person, the new resource: what is remembered of it is unreadable once that is erased. */
  readonly personal?: boolean;
  /** Null for no content. */
  readonly output: t.Type<Output, unknown, unknown> | null;
  readonly failures: ReadonlyArray<FailureCode>;
  readonly example: { readonly input?: JsonObject; readonly output?: Json };
  /** The entity whose stream it appends to. */
  readonly entity: Entity<State, Events>;
  /**
   * What the path names: judged for reach before anything else is looked at. The same entity for what changes a
   * resource, its parent for what creates one, null where only the key decides.
   */
  readonly subject: { readonly entity: SubjectEntity<SubjectState>; readonly parameter: string } | null;
  /** For what creates: the id of the new resource. Absent, the path names the resource. */
  readonly newId?: (input: Input, fresh: NewIds) => string;
  /**
   * For what creates: whether these ids were given out before. They follow from the `Idempotency-Key`, which may be
   * used anew when it is not remembered any more; the next ids that follow from it are then taken.
   */
  readonly isIdUsed?: (state: State, input: Input, fresh: NewIds) => boolean;
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
   * What is to be done outside the command's stream once it is decided, before it is answered; also when nothing had to
   * change. This node may end first, so it must bear being done again, and whatever must not be left undone is done by a
   * process too. @returns why the answer is withheld; null to answer
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
