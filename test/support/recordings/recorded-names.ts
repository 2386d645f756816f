/** Those of the gateway and of the doubles of providers, which count. */
const ids = /[0-9a-f]{32}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|fake\d+/g;
const names = /\{id-(\d+)\}/g;
const times = /("(?:created|created_at|completed_at)": ?)\d+(?:\.\d+)?/g;
/** Comments of a stream, which depend on how long an answer takes. */
const comments = /^:.*\n\n/gm;

/** Names ids by the order in which a conversation shows them, because each run makes others. */
export class RecordedNames {
  readonly #ids: string[] = [];

  /** Puts names in place of what differs in each run. */
  shorten(text: string): string {
    return text
      .replace(ids, (id) => this.#nameOf(id))
      .replace(times, '$10')
      .replace(comments, '');
  }

  /** Puts the ids of this run in place of their names. */
  restore(text: string): string {
    return text.replace(names, (name, place) => this.#ids[Number(place)] ?? name);
  }

  #nameOf(id: string): string {
    if (!this.#ids.includes(id)) this.#ids.push(id);
    return `{id-${this.#ids.indexOf(id)}}`;
  }
}
