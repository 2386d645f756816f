import type { StreamState } from '#application/streams/stream-state.ts';
import type { StreamWrite } from '#application/streams/stream-writer.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import type { ReadStore } from '#read-store/read-store.ts';
import type { JsonObject } from '#shared/json/json.ts';
import type { PauseUntil } from './reactions.ts';

export interface ProcessTools {
  /** The state of the event's own stream includes the event. */
  readonly load: <State, Events>(entity: Entity<State, Events>, id: string) => Promise<StreamState<State>>;
  /**
   * Whether the process has seen, before this event, an event of a type that it `remembers` in a stream; null when it
   * cannot say, because it does not follow the log from its beginning. A catch-up need not load each stream then.
   */
  readonly hasSeen: <State, Events>(entity: Entity<State, Events>, id: string) => boolean | null;
  /** Reads the data of one event of a stream, for what its state does not contain. */
  readonly dataAt: <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => Promise<JsonObject>;
  /**
   * Decides and appends in the name of the actor who caused the event. It rejects if it cannot, with
   * `CommandRejectedError` after a refusal; then the event is retried.
   */
  readonly write: <State, Events>(write: Omit<StreamWrite<State, Events>, 'origin' | 'idempotency'>) => Promise<void>;
  /**
   * Returns the read store when one of its read models shows everything up to the event, and everything that this
   * process has written. What others store later may be missing. It waits as long as that takes, and lets other
   * reactions of a process with `concurrency` run meanwhile.
   */
  readonly documentsUpToDate: (collection: string) => Promise<ReadStore>;
  /** Pauses until a time in RFC 3339. Other reactions run meanwhile. Only for a process with `concurrency`. */
  readonly pauseUntil: PauseUntil;
  /** The time on the clock of `pauseUntil`. */
  readonly now: () => Date;
  readonly log: { error(details: object, message: string): void };
}

/** Handles an event. After a crash it may see the same event again. */
type Handler<Event> = (event: Event, tools: ProcessTools) => Promise<void>;

interface ConditionalHandler<Event> {
  readonly applies: (event: Event) => boolean;
  readonly handle: Handler<Event>;
}

export type Reaction<Event> = Handler<Event> | ConditionalHandler<Event>;

/** The reactions by event type. The process ignores types that have none. */
export type ReactionsByType<Events> = {
  readonly [Type in keyof Events & string]?: Reaction<RecordedEvent<Type, Events[Type]>>;
};

/** Limits a reaction to events for which the predicate holds, as far as the event alone shows. */
export function when<Event>(applies: (event: Event) => boolean, handle: Handler<Event>): ConditionalHandler<Event> {
  return { applies, handle };
}

/**
 * Reacts to events with commands. After a crash it may see an event again, so a decision must append nothing if its
 * work is already done.
 */
export interface ProcessDefinition<Events> {
  readonly name: string;
  readonly on: ReactionsByType<Events>;
  /**
   * Maximum events that it handles at the same time, in any order. By default it handles one after the other, each
   * until it succeeds. A process with more works in the background: no answer waits for it.
   */
  readonly concurrency?: number;
}

export interface Process {
  readonly name: string;
  readonly types: ReadonlyArray<string>;
  readonly concurrency?: number;
  /** The types whose streams `hasSeen` knows. Only for a process without `concurrency`. */
  readonly remembers?: ReadonlyArray<string>;
  /** True if the process handles the event, as far as the event alone shows. @throws what the predicate throws */
  readonly handles: (event: RecordedEvent) => boolean;
  /** Does nothing for an event that it does not handle. */
  readonly handle: Handler<RecordedEvent>;
}

/** `Events` maps event types to their data. */
export function process<Events>({ on, ...definition }: ProcessDefinition<Events>): Process {
  return withReactions(definition, on);
}

/** Calls a port for each event of some types, and appends nothing. */
interface SideEffect<Events, Type extends keyof Events & string> extends Pick<Process, 'name' | 'concurrency'> {
  readonly on: ReadonlyArray<Type>;
  /** A second call for the same event must change nothing. */
  readonly run: (data: Events[Type], tools: ProcessTools) => Promise<void>;
}

export function sideEffect<Events, Type extends keyof Events & string = keyof Events & string>({
  on,
  run,
  ...definition
}: SideEffect<Events, Type>): Process {
  const react: Handler<RecordedEvent<Type, Events[Type]>> = ({ data }, tools) => run(data, tools);
  return withReactions(definition, Object.fromEntries(on.map((type) => [type, react])));
}

/**
 * Adds reactions to event types that are known only when the process is declared.
 * @param on the reactions by event type, each to events of its type
 */
export function withReactions(definition: Omit<Process, 'types' | 'handles' | 'handle'>, on: object): Process {
  const reactions = new Map<string, Reaction<RecordedEvent>>(Object.entries(on));
  return {
    ...definition,
    types: [...reactions.keys()],
    handles: (event) => {
      const reaction = reactions.get(event.type);
      return typeof reaction === 'object' ? reaction.applies(event) : reaction !== undefined;
    },
    handle: async (event, tools) => {
      const reaction = reactions.get(event.type);
      if (typeof reaction === 'function') await reaction(event, tools);
      else if (reaction?.applies(event)) await reaction.handle(event, tools);
    },
  };
}

/** True if answers wait for the process. One with `concurrency` works in the background. */
export function isAwaited({ concurrency }: Pick<Process, 'concurrency'>): boolean {
  return concurrency === undefined;
}

/** True also if the predicate fails: it fails again in the reaction, where it is dealt with. */
export function mayHandle({ handles }: Process, event: RecordedEvent): boolean {
  try {
    return handles(event);
  } catch {
    return true;
  }
}

/** The processes for whose effects answers wait. */
export function reactingProcesses(processes: ReadonlyArray<Process>) {
  return processes
    .filter(isAwaited)
    .map((process) => ({ ...process, handles: (event: RecordedEvent) => mayHandle(process, event) }));
}
