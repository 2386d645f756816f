import * as E from 'fp-ts/lib/Either.js';
import type { Entity, EventOf } from '#domain/shared/entity.ts';
import type { RecordedEvent } from '#event-store/event-store.ts';
import { paginateAll } from '#read-store/paginate-all.ts';
import { type Process, type ProcessTools, when, withReactions } from './process.ts';

/** Where the dependents of a parent are listed. */
interface Listing {
  readonly collection: string;
  /** The field of the read model's index that has the parent's id. */
  readonly by: string;
  /** The member of the documents that has the dependent's id. Default: the document's own id. */
  readonly member?: string;
}

/** The data of every event that a cascade looks at: it names its resource. */
interface Identified {
  readonly id: string;
}

/** The rule "when a parent is removed, its dependents are detached". */
export interface Cascade<
  Parent,
  ParentEvents,
  Removed extends keyof ParentEvents & string,
  Dependent,
  DependentEvents,
> {
  readonly name: string;
  /** The entity of the parents. Each resource has a stream of its own. */
  readonly parent: Entity<Parent, ParentEvents>;
  readonly removed: Removed;
  /** Whether such an event detaches the dependents, as far as the event alone shows. Default: each does. */
  readonly detaches?: (data: ParentEvents[Removed]) => boolean;
  readonly isGone: (state: Parent) => boolean;
  /** The dependents that the removal itself names. They are detached first, because the read model may have stopped. */
  readonly known?: (data: ParentEvents[Removed]) => ReadonlyArray<string>;
  /** The entity of the dependents, each of which refers to a parent. */
  readonly dependent: Entity<Dependent, DependentEvents>;
  readonly listed: Listing;
  /** The id of the parent to which a dependent may refer after an event, by the event's type; null for none. */
  readonly attached: {
    readonly [Type in keyof DependentEvents & string]?: (data: DependentEvents[Type]) => string | null;
  };
  /** The events that detach the dependent; none if it is not attached any more. */
  readonly detach: (id: string, parentId: string, state: Dependent) => ReadonlyArray<EventOf<DependentEvents>>;
}

/**
 * Declares a process that detaches the dependents of removed parents.
 *
 * A dependent may be attached while its parent is being removed, because a command may decide on an older state of the
 * parent. None stays attached: of the two events, one is later in the log, and each has one place there.
 *
 * - If the removal is later, the reaction to it finds the dependent, because the read model is past the removal then. What
 *   is attached after the removal need not be shown, so the target does not move while others write.
 * - If the attachment is later, the reaction to the attachment finds that the parent is removed. A process handles events in
 *   order. From the beginning of the log on it remembers the removals before the attachment. In a later term it may not
 *   know them all. It then reads the parent's stream, which has every event before the attachment.
 *
 * No other term and no other node can break this: each event of the log gets its reaction until one has succeeded, and an
 * append that is under way gets its place, and its reaction, when it is stored.
 */
export function cascade<
  Parent,
  ParentEvents extends Readonly<Record<Removed, Identified>>,
  Removed extends keyof ParentEvents & string,
  Dependent,
  DependentEvents,
>(rule: Cascade<Parent, ParentEvents, Removed, Dependent, DependentEvents>): Process {
  const { name, parent, removed, isGone, dependent, listed, detach } = rule;
  const { detaches = () => true, known = () => [] } = rule;

  const detachOne = (id: string, parentId: string, { write }: ProcessTools) =>
    write({
      entity: dependent,
      id,
      decide: ({ state }) => E.right({ events: detach(id, parentId, state), tenant: null }),
    });

  const detachAll = async (data: ParentEvents[Removed], tools: ProcessTools) => {
    for (const id of known(data)) await detachOne(id, data.id, tools);
    const documents = await tools.documentsUpToDate(listed.collection);
    for await (const page of paginateAll<Record<string, unknown>>(documents, listed.collection, {
      [listed.by]: data.id,
    })) {
      for (const document of page) await detachOne(dependentOf(document, listed), data.id, tools);
    }
  };

  const isRemoved = async (parentId: string, { hasSeen, load }: ProcessTools) =>
    hasSeen(parent, parentId) ?? isGone((await load(parent, parentId)).state);

  const attachments = new Map<string, (data: Identified) => string | null>(Object.entries(rule.attached));
  const reactionTo = (parentOf: (data: Identified) => string | null) =>
    when<{ readonly data: Identified }>(
      ({ data }) => parentOf(data) !== null,
      async ({ data }, tools) => {
        const parentId = parentOf(data);
        if (parentId !== null && (await isRemoved(parentId, tools))) await detachOne(data.id, parentId, tools);
      },
    );

  const reactionToRemoval = when<{ readonly data: ParentEvents[Removed] }>(
    ({ data }) => detaches(data),
    ({ data }, tools) => detachAll(data, tools),
  );
  return withReactions(
    { name, remembers: [removed] },
    {
      ...Object.fromEntries([...attachments].map(([type, parentOf]) => [type, reactionTo(parentOf)])),
      [removed]: reactionToRemoval,
    },
  );
}

function dependentOf(
  document: { readonly id: string; readonly value: Record<string, unknown> },
  { member }: Listing,
): string {
  return member === undefined ? document.id : String(document.value[member]);
}

/** About 2.5 MB of names. */
const maxStreams = 25_000;

/**
 * The streams of which a process has seen an event of the types that it remembers. It knows all of them only while it
 * follows the log from its beginning, because nothing of it is stored.
 */
export class SeenStreams {
  readonly #types: ReadonlySet<string>;
  /** Null when some may be missing. */
  #streams: Set<string> | null;

  /** @param isFromBeginning whether the process sees every event of the log from now on */
  constructor({ remembers = [] }: Pick<Process, 'remembers'>, isFromBeginning: boolean) {
    this.#types = new Set(remembers);
    this.#streams = isFromBeginning ? new Set() : null;
  }

  /** Call it with each event, in order, after the process has handled it. */
  add({ type, stream }: Pick<RecordedEvent, 'type' | 'stream'>): void {
    if (this.#streams === null || !this.#types.has(type)) return;
    this.#streams.add(stream);
    if (this.#streams.size > maxStreams) this.#streams = null;
  }

  /** True if the process has seen the stream; null when it cannot say. */
  has(stream: string): boolean | null {
    return this.#streams?.has(stream) ?? null;
  }
}
