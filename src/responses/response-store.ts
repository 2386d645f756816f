import type { ProviderCopies } from './provider-copies.ts';

/** What makes a response in the background. */
export interface BackgroundTarget {
  /** The model of the catalogue. */
  readonly model: string;
  /** `provider/model`. */
  readonly target: string;
}

/** Maximum number of ancestors that a response names, so that a chain of n responses takes n/64 reads. */
export const maxAncestors = 64;

/** A response that is stored, without what may be long: its content, its names, and what it needs. */
export interface ResponseOutline {
  readonly projectId: string;
  /** Unique in its project. */
  readonly id: string;
  /** The id of the first response of its conversation. */
  readonly conversation: string;
  /** How many responses of the conversation are before it. */
  readonly depth: number;
  /** The response that it continues; null for the first one. */
  readonly previous: string | null;
  /** In ms since 1970. */
  readonly at: number;
  /** Of its content as it is stored. */
  readonly bytes: number;
  /** Whether it was deleted, and is kept only because others need its items. */
  readonly isDeleted: boolean;
  /**
   * The ids of the nearest responses before it, the nearest first: up to 64. Null where they were not asked for, and for
   * a response of release 0.4.
   */
  readonly ancestors: ReadonlyArray<string> | null;
  /** The provider that answered in the client's protocol; null if the answer was translated. */
  readonly provider: string | null;
  /** What still makes it in the background; null if it is finished. */
  readonly background: BackgroundTarget | null;
}

/** A stored response. */
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

/** What the end of a response that was made in the background changes. Its items are added to those before. */
export type FinishedResponse = Pick<StoredResponse, 'projectId' | 'id' | 'bytes' | 'items' | 'content'>;

/** What is stored for a project. */
export interface StoredAmount {
  /** Without deleted ones. */
  readonly count: number;
  /** Of all content, of deleted ones too. */
  readonly bytes: number;
  /** When the oldest response that was not deleted was stored, in ms since 1970; null without one. */
  readonly oldestAt: number | null;
}

/** A file of SQLite with responses. */
export interface ResponseFile {
  readonly path: string;
  /** Reads the ids and the contents of responses: of a project, and of a JSON list of ids. */
  readonly contentsSql: string;
}

/** A response of a project. */
export type ResponseName = Pick<ResponseOutline, 'projectId' | 'id'>;

/** What has become of a response that was to be stored: `erased` if its subject is not that of its project any more. */
export type AddOutcome = 'stored' | 'needs-missing' | 'erased';

/** The erasure of all that was stored under one subject of a project. */
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
   * Stores a response. One of the same id and project stays as it is.
   * @param subject whose key has sealed it
   * @returns `needs-missing` if a response that it needs is not there. It is stored only if all is well
   */
  readonly add: (response: StoredResponse, subject: string) => Promise<AddOutcome>;
  /**
   * Replaces the content of a response that is made in the background, and adds to its items: it is finished.
   * @param subject whose key has sealed the content
   * @returns `before` if it is not there, or was finished before
   */
  readonly finish: (finished: FinishedResponse, subject: string) => Promise<'stored' | 'before' | 'erased'>;
  /** Finds a response, deleted or not. */
  readonly find: (projectId: string, id: string) => Promise<StoredResponse | null>;
  /**
   * The outlines of responses, deleted or not, by their ids, in any order. Those that are not there are missing. Only
   * that of the last id has its ancestors, because a chain is followed from there.
   */
  readonly outlines: (projectId: string, ids: ReadonlyArray<string>) => Promise<ReadonlyArray<ResponseOutline>>;
  /** The ids of the responses whose items some responses need. An id may be there twice. */
  readonly needsOf: (projectId: string, ids: ReadonlyArray<string>) => Promise<ReadonlyArray<string>>;
  /** The file from which another thread can read contents itself; null if they come over the network. */
  readonly file: ResponseFile | null;
  /** The contents of responses, by id. Those that are not there are missing. */
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
  /** The providers of some items, by their names. Items of deleted responses, and those without one, are missing. */
  readonly providersOf: (projectId: string, items: ReadonlyArray<string>) => Promise<ReadonlyMap<string, string>>;
  /** Marks responses as deleted. Nobody finds them by their items any more, and they are removed when nothing needs them. */
  readonly markDeleted: (projectId: string, ids: ReadonlyArray<string>) => Promise<void>;
  /**
   * Removes some of the deleted responses of a project that no other one needs, the newest first. What becomes free by
   * that is found by the next call.
   * @returns those that were looked at; empty when nothing is left to remove
   */
  readonly removeUnneeded: (projectId: string) => Promise<ReadonlyArray<string>>;
  /** Some of the projects that have deleted responses to remove. */
  readonly projectsToClean: (limit: number) => Promise<ReadonlyArray<string>>;
  /** The oldest responses that were not deleted and were stored before a time, of all projects, the oldest first. */
  readonly storedBefore: (time: number, limit: number) => Promise<ReadonlyArray<ResponseName>>;
  /** The oldest responses of a project that were not deleted, oldest first. */
  readonly oldest: (projectId: string, limit: number) => Promise<ReadonlyArray<ResponseOutline>>;
  /** The bytes of all content of a project, of deleted responses too. */
  readonly bytesOf: (projectId: string) => Promise<number>;
  /** What is stored for one project. */
  readonly amountOf: (projectId: string) => Promise<StoredAmount>;
  /** Whether the disk has room for more bytes. */
  readonly hasRoomFor: (bytes: number) => Promise<boolean>;
  /** The subject whose key seals the contents of a project. Made if the project has none. */
  readonly subjectOf: (projectId: string) => Promise<string>;
  /** Lists an erasure, and takes the subject from its project: nothing more is stored under it. It may be called again. */
  readonly beginErasure: (erasure: Erasure) => Promise<void>;
  /**
   * Removes some responses of an erased subject.
   * @param after the id after which it continues; empty at first
   * @returns the id after which the next call continues; null if nothing is left
   */
  readonly eraseSome: (erasure: Erasure, after: string) => Promise<string | null>;
  /** The erasures that began before a time and did not end, the oldest first. */
  readonly erasuresBefore: (time: number, limit: number) => Promise<ReadonlyArray<Erasure>>;
  /** Takes an erasure from the list. */
  readonly endErasure: (erasure: Erasure) => Promise<void>;
  /** The copies of responses that providers have. */
  readonly copies: ProviderCopies;
  readonly close: () => Promise<void>;
}

/** Makes the name of a new subject of a project. */
export function newSubject(projectId: string, random: string): string {
  return `responses-${projectId}-${random}`;
}
