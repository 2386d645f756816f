import type {
  DocumentPage,
  DocumentValue,
  PageRequest,
  ProjectionStatus,
  ReadStore,
  Where,
} from '#read-store/read-store.ts';
import type { StoredDocument } from '#read-store/stored-document.ts';
import { UnavailableError } from '#shared/errors/unavailable-error.ts';
import type { ProjectionsProgress } from './projections-progress.ts';

/**
 * Refuses reads of a read model that has never contained the whole log. Otherwise a document that is not filled yet
 * would seem not to exist, and a valid API key would be refused. During a rebuild the old documents answer.
 */
export function readyOnly(documents: ReadStore, projections: ProjectionStatuses): ReadStore {
  return new ReadyReadStore(documents, projections);
}

type ProjectionStatuses = Pick<ProjectionsProgress, 'status' | 'onStatus'>;

class ReadyReadStore implements ReadStore {
  readonly #documents: ReadStore;
  readonly #unsubscribe: () => void;
  #filled: ReadonlySet<string>;

  constructor(documents: ReadStore, projections: ProjectionStatuses) {
    this.#documents = documents;
    this.#filled = filledIn(projections.status());
    this.#unsubscribe = projections.onStatus((statuses) => {
      this.#filled = filledIn(statuses);
    });
  }

  async get<Value extends DocumentValue>(
    collection: string,
    id: string,
    fresh?: 'fresh',
  ): Promise<StoredDocument<Value> | null> {
    this.#expectFilled(collection);
    return this.#documents.get(collection, id, fresh);
  }

  async list<Value extends DocumentValue>(
    collection: string,
    where: Where,
    page: PageRequest,
  ): Promise<DocumentPage<Value>> {
    this.#expectFilled(collection);
    return this.#documents.list(collection, where, page);
  }

  async count(collection: string, where: Where, limit: number): Promise<number> {
    this.#expectFilled(collection);
    return this.#documents.count(collection, where, limit);
  }

  status(): ReturnType<ReadStore['status']> {
    return this.#documents.status();
  }

  unknownEvents(): ReturnType<ReadStore['unknownEvents']> {
    return this.#documents.unknownEvents();
  }

  close(): Promise<void> {
    this.#unsubscribe();
    return this.#documents.close();
  }

  #expectFilled(collection: string): void {
    if (this.#filled.has(collection)) return;
    throw new UnavailableError(`The read model ${collection} is being filled from the log for the first time.`);
  }
}

function filledIn(statuses: ReadonlyArray<ProjectionStatus>): ReadonlySet<string> {
  return new Set(statuses.filter(({ ready }) => ready).map(({ name }) => name));
}
