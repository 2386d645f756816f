export interface ServerSentEvent {
  /** The id to resume after; null if the message has none. */
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

export interface EventsRead {
  readonly events: ReadonlyArray<ServerSentEvent>;
  /** The piece had any text. Comments count, because they show that the connection works. */
  readonly heard: boolean;
}

/** Reads server-sent events (WHATWG HTML, "event stream interpretation") from text that arrives in pieces. */
export class ServerSentEventReader {
  #rest = '';
  #id: string | null = null;
  #event = '';
  #data: string[] = [];

  /** @param text may end anywhere */
  read(text: string): EventsRead {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    const events: ServerSentEvent[] = [];
    for (const line of lines) {
      if (line === '') this.#finish(events);
      else this.#take(line);
    }
    return { events, heard: text !== '' };
  }

  #take(line: string): void {
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.#data.push(value);
    else if (name === 'event') this.#event = value;
    else if (name === 'id') this.#id = value;
  }

  #finish(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) {
      events.push({ id: this.#id, event: this.#event === '' ? 'message' : this.#event, data: this.#data.join('\n') });
    }
    this.#data = [];
    this.#event = '';
  }
}
