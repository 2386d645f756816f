/** The assumed bytes of a document of a list that was not read before: 512 of them are a page of 2 MiB. */
const usualBytes = 4 * 1024;
/** The most lists that are remembered. */
const maxLists = 1_000;

/** Remembers how large the documents of lists were, so that a page reads about as many as fit. */
export class ListSizes {
  readonly #bytesByList = new Map<string, number>();

  /** Returns the expected bytes of a document. @param list names the list */
  bytesOf(list: string): number {
    return this.#bytesByList.get(list) ?? usualBytes;
  }

  /** Remembers the mean bytes of a list's documents, as its last page has them. */
  remember(list: string, bytes: number): void {
    this.#bytesByList.delete(list);
    this.#bytesByList.set(list, bytes);
    if (this.#bytesByList.size > maxLists) this.#bytesByList.delete(this.#bytesByList.keys().next().value ?? '');
  }
}
