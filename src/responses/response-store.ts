import type { ProviderCopies } from './provider-copies.ts';

export interface BackgroundTarget {
  /** The model of the catalogue. */
  readonly model: string;
  readonly target: string;
}

/** Maximum number of ancestors in one response, so that a chain of n responses takes n/64 reads. */
export const maxAncestors = 64;

/** A stored response without what may be long: its content, its names, and what it needs. */
export interface ResponseOutline {
  readonly projectId: string;
  /** The id, which is unique in its project. */
  readonly id: string;
  /** The id of the first response of its conversation. */
  readonly conversation: string;
  /** How many responses of the conversation are before it. */
  readonly depth: number;
  /** The response that it continues; null for the first one. */
  readonly previous: string | null;
  /** The time in ms since 1970. */
  readonly at: number;
  /** The size of its content as it is stored. */
  readonly bytes: number;
  /** Whether it was deleted, and is kept only because others need its items. */
  readonly isDeleted: boolean;
  /**
   * The ids of the nearest responses before it, the nearest first: up to 64. Null where they were not asked for, and for
   * a response of release 0.4.
   */
  readonly ancestors: ReadonlyArray<string> | null;
  /** The provider, if it answered in the client's protocol; null if the answer was translated. */
  readonly provider: string | null;
  /** What still makes it in the background; null if it is finished. */
  readonly background: BackgroundTarget | null;
}

export interface StoredResponse extends ResponseOutline {
  /** The ids of the responses whose items it needs, each once. */
  readonly needs: ReadonlyArray<string>;
  /**
   * The names of the items that it has made, each once. An id that names its response needs no other name. A response
   * that its items name by an alias has this one too.
   */
  readonly items: ReadonlyArray<string>;
  /** Its own input and the response, sealed. */
  readonly content: string;
}

/** A response that was made in the background. The items are added to those before. */
export type FinishedResponse = Pick<StoredResponse, 'projectId' | 'id' | 'bytes' | 'items' | 'content'>;

/** What is stored for a project. */
export interface StoredAmount {
  /** The number of responses without deleted ones. */
  readonly count: number;
  /** The size of all content, of deleted ones too. */
  readonly bytes: number;
  /** When the oldest response that was not deleted was stored, in ms since 1970; null without one. */
  readonly oldestAt: number | null;
}

export interface ResponseFile {
  readonly path: string;
  /** SQL for the contents. Its parameters are a project and a JSON list of ids. */
  readonly contentsSql: string;
}

export type ResponseName = Pick<ResponseOutline, 'projectId' | 'id'>;

/** What has become of a response that was to be stored: `erased` if its subject is not that of its project any more. */
export type AddOutcome = 'stored' | 'needs-missing' | 'erased';

export interface Erasure {
  readonly projectId: string;
  readonly subject: string;
  /** When it began, in ms since 1970. */
  readonly at: number;
}

/**
 * Stores responses and their items, by project. Every method throws `UnavailableError` if the store cannot be used.
 * What was answered is on the disk. Each method is a small piece of work, whatever a project has stored.
 */
export interface ResponseStore {
  /**
   * Adds a response. One of the same id and project stays as it is.
   * @param subject whose key has sealed it
   * @returns `needs-missing` if a response that it needs is not there. It is stored only if all is well
   */
  readonly add: (response: StoredResponse, subject: string) => Promise<AddOutcome>;
  /**
   * Finishes a response that is made in the background: replaces its content and adds to its items.
   * @param subject whose key has sealed the content
   * @returns `before` if it is not there, or was finished before
   */
  readonly finish: (finished: FinishedResponse, subject: string) => Promise<'stored' | 'before' | 'erased'>;
  /** Finds a response, deleted or not. */
  readonly find: (projectId: string, id: string) => Promise<StoredResponse | null>;
  /**
   * The outlines of responses, deleted or not, in any order. Those that are not there are missing. Only that of the
   * last id has its ancestors, because a chain is followed from there.
   */
  readonly outlines: (projectId: string, ids: ReadonlyArray<string>) => Promise<ReadonlyArray<ResponseOutline>>;
  /** The ids of the responses whose items these need. An id may occur twice. */
  readonly needsOf: (projectId: string, ids: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>;
  /** The file from which another thread can read contents; null if they come over the network. */
  readonly file: ResponseFile | null;
  /** The contents by id. Those that do not exist are missing. */
  readonly contents: (projectId: string, ids: ReadonlyArray<string>) => Promise<ReadonlyMap<string, string>>;
  /**
   * The outlines of the responses that were not deleted and have one of these ids, or have made some of these items. Of
   * those that have made the same item one is enough.
   */
  readonly ofItems: (
    projectId: string,
    items: ReadonlyArray<string>,
    ids: ReadonlyArray<string>,
  ) => Promise<ReadonlyArray<ResponseOutline>>;
  /** The providers by the names of the items. Items of deleted responses, and those without one, are missing. */
  readonly providersOf: (projectId: string, items: ReadonlyArray<string>) => Promise<ReadonlyMap<string, string>>;
  /**
   * Marks responses as deleted. Nobody finds them by their items any more. They are removed when nothing needs them.
   */
  readonly markDeleted: (projectId: string, ids: ReadonlyArray<string>) => Promise<void>;
  /**
   * Removes some deleted responses that no other one needs, the newest first. What becomes free by that is found by the
   * next call.
   * @returns those that were checked; empty when nothing is left to remove
   */
  readonly removeUnneeded: (projectId: string) => Promise<ReadonlyArray<string>>;
  /** Some of the projects with deleted responses to remove. */
  readonly projectsToClean: (limit: number) => Promise<ReadonlyArray<string>>;
  /** Responses of all projects, without deleted ones, the oldest first. */
  readonly storedBefore: (time: number, limit: number) => Promise<ReadonlyArray<ResponseName>>;
  /** Responses without deleted ones, the oldest first. */
  readonly oldest: (projectId: string, limit: number) => Promise<ReadonlyArray<ResponseOutline>>;
  /** The size of all content, of deleted responses too. */
  readonly bytesOf: (projectId: string) => Promise<number>;
  readonly amountOf: (projectId: string) => Promise<StoredAmount>;
  readonly hasRoomFor: (bytes: number) => Promise<boolean>;
  /** The subject whose key seals the contents of the project. Made if the project has none. */
  readonly subjectOf: (projectId: string) => Promise<string>;
  /** Lists an erasure, and takes the subject from its project: nothing more is stored under it. May be called again. */
  readonly beginErasure: (erasure: Erasure) => Promise<void>;
  /**
   * @param after the id after which it continues; empty at first
   * @returns the id after which the next call continues; null if nothing is left
   */
  readonly eraseSome: (erasure: Erasure, after: string) => Promise<string | null>;
  /** Erasures that did not end, the oldest first. */
  readonly erasuresBefore: (time: number, limit: number) => Promise<ReadonlyArray<Erasure>>;
  /** Takes an erasure from the list. */
  readonly endErasure: (erasure: Erasure) => Promise<void>;
  readonly copies: ProviderCopies;
  readonly close: () => Promise<void>;
}

export function newSubject(projectId: string, random: string): string {
  return `responses-${projectId}-${random}`;
}
